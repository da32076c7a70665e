"""Agents, skills and commands: markdown files of the project, the user and plugins, and built-in agents."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence

import msgspec

from hookwright.config import ComponentFile, Loaded, component_groups, read_frontmatter
from hookwright.config.files import is_inside
from hookwright.config.frontmatter import MAX_COMPONENTS, agent_request
from hookwright.config.jsonfile import Tree
from hookwright.config.parse import parse_hooks
from hookwright.config.reserved import reserved_mode
from hookwright.config.trust import TrustGate
from hookwright.errors import ConfigError
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import MatcherGroup
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.sources import Component, Scope, Source


class AgentType(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of subagent."""

    name: str
    description: str
    prompt: str
    #: None for every tool of the session.
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    #: None for the model of the agent that starts it.
    model: str | None = None
    permission_mode: str | None = None
    background: bool = False
    isolation: str | None = None
    max_turns: int | None = None
    hooks: tuple[MatcherGroup, ...] = ()


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill or a command file, which expands to a prompt."""

    name: str
    description: str
    body: str
    path: str
    #: projectSettings, userSettings or plugin.
    source: str
    #: True for `.claude/skills`, which the model may also call.
    for_model: bool = True
    hooks: tuple[MatcherGroup, ...] = ()

    def expand(self, arguments: str) -> str:
        """Insert the arguments at `$ARGUMENTS`, and each at `$0`, `$1` …; append them if nothing was inserted.

        A number that no argument has stays as it is.
        """
        words = _words(arguments)
        marks = re.compile(r"\$ARGUMENTS(?:\[(\d+)\])?|\$(\d+)")

        def fill(found: re.Match[str]) -> str:
            number = found[1] or found[2]
            if number is None:
                return arguments
            return words[int(number)] if int(number) < len(words) else found[0]

        text = marks.sub(fill, self.body)
        return text if text != self.body or not arguments else f"{text}\n\nARGUMENTS: {arguments}"

    def instruct(self, arguments: str) -> str:
        """Return the text for the model: a skill's begins with its folder, a command's has no folder."""
        folder, name = os.path.split(self.path)
        text = self.expand(arguments)
        return f"Base directory for this skill: {folder}\n\n{text}" if name == "SKILL.md" else text


class Components(msgspec.Struct, frozen=True):
    """Agents and skills by name; of several with one name the first wins: user, then built in, then project."""

    agents: Mapping[str, AgentType]
    skills: Mapping[str, Skill]
    diagnostics: tuple[Diagnostic, ...] = ()

    def only(self, skills: Sequence[str] | None) -> Components:
        """Keep these skills of those the model may call, by name or `plugin:name`; None keeps all."""
        if skills is None:
            return self
        kept = {name: skill for name, skill in self.skills.items() if not skill.for_model or name in skills}
        return Components(self.agents, kept, self.diagnostics)


BUILT_IN = (
    AgentType(
        name="general-purpose",
        description="For research, searching code and work in several steps. Has all tools.",
        prompt="You are a capable agent that completes one task independently. Do what is asked, no more and no less, "
        "and end with a short report of what you did and found. Name files by absolute paths.",
    ),
    AgentType(
        name="Explore",
        description="Searches and reads code quickly. Changes nothing.",
        prompt="You find things in a code base. You only read; you change nothing. Answer with what you found and "
        "where, by absolute paths and lines.",
        tools=("Read", "Glob", "Grep", "Bash"),
        disallowed_tools=("Write", "Edit", "Agent"),
    ),
    AgentType(
        name="Plan",
        description="Plans how to make a change. Changes nothing.",
        prompt="You plan how to make a change. You only read; you change nothing. Answer with the steps, the "
        "files they touch and the risks.",
        tools=("Read", "Glob", "Grep", "Bash"),
        disallowed_tools=("Write", "Edit", "Agent"),
    ),
)


def load_components(loaded: Loaded, given: Mapping[str, AgentType]) -> Components:
    """Read the agents, skills and commands of a project; `given` agents take precedence over files.

    Law: a name means what the command line says, else the user's own file, else what is built in, else the project's.
    A project never replaces another's agent, skill or command; a name that it wanted is reported.
    """
    agents = dict(given)
    skills: dict[str, Skill] = {}
    notes: list[Diagnostic] = []
    files = loaded.components()
    for file in sorted(files, key=lambda file: file.from_project):
        if file.from_project:
            for built_in in BUILT_IN:
                agents.setdefault(built_in.name, built_in)
        if file.kind == "agent":
            agent, found = read_agent(file, loaded.gate)
            notes += _taken(agent.name in agents, f"agent {agent.name}", file)
            agents.setdefault(agent.name, agent)
        else:
            skill, found = read_skill(file)
            notes += _taken(skill.name in skills, f"skill {skill.name}", file)
            skills.setdefault(skill.name, skill)
        notes += found
    for folder, source, inside in _command_folders(loaded):
        for skill in _commands(folder, source, inside):
            skills.setdefault(skill.name, skill)
    for agent in BUILT_IN:
        agents.setdefault(agent.name, agent)
    return Components(agents, skills, tuple(notes))


def _taken(taken: bool, what: str, file: ComponentFile) -> list[Diagnostic]:
    if not taken or not file.from_project:
        return []
    text = f"the {what} of the project is not used: that name is taken. Rename it."
    return [Diagnostic("setting-ignored", text, Source(Scope.COMPONENT, file.path), Severity.WARNING)]


def read_agent(file: ComponentFile, gate: TrustGate) -> tuple[AgentType, tuple[Diagnostic, ...]]:
    """Read an agent's file: its fields in the frontmatter, its prompt in the body.

    Law: what an agent of the project says about permission mode, model and isolation has no effect until it is trusted
    as it is now; the modes that ask nothing are never a project's to choose.
    """
    head = read_frontmatter(file.path)
    groups = component_groups(file, head=head)
    name = _text(head.data, "name") or file.name
    prefix = f"{file.plugin.name}:" if file.plugin is not None else ""
    agent = _agent(prefix + name, head.data, head.body.strip(), groups.groups)
    request = agent_request(file, head)
    if request is None:
        return agent, groups.diagnostics
    place = Source(Scope.COMPONENT, file.path)
    if not gate.trusts(request):
        text = f"{request.label} has no effect until it is trusted. Review it with: hookwright trust"
        note = Diagnostic("setting-ignored", text, place, Severity.WARNING)
        agent = msgspec.structs.replace(agent, permission_mode=None, model=None, isolation=None)
        return agent, (*groups.diagnostics, note)
    if agent.permission_mode is not None and reserved_mode(agent.permission_mode):
        text = f"agent {name}: a project may not choose {agent.permission_mode}, trusted or not."
        note = Diagnostic("setting-ignored", text, place, Severity.WARNING)
        return msgspec.structs.replace(agent, permission_mode=None), (*groups.diagnostics, note)
    return agent, groups.diagnostics


def read_skill(file: ComponentFile) -> tuple[Skill, tuple[Diagnostic, ...]]:
    """Read a skill's file."""
    head = read_frontmatter(file.path)
    groups = component_groups(file, head=head)
    prefix = f"{file.plugin.name}:" if file.plugin is not None else ""
    skill = Skill(
        name=prefix + (_text(head.data, "name") or file.name),
        description=_text(head.data, "description") or "",
        body=head.body,
        path=file.path,
        source="plugin" if file.plugin is not None else "projectSettings" if file.from_project else "userSettings",
        for_model=head.data.get("disable-model-invocation") is not True,
        hooks=groups.groups,
    )
    return skill, groups.diagnostics


def given_agents(text: str) -> dict[str, AgentType]:
    """Read the JSON of `--agents`: `{name: {description, prompt, tools?, model?, hooks?}}`."""
    value, problem = parse_json(text)
    if problem is not None or not isinstance(value, dict):
        raise ConfigError(f"--agents: expected a JSON object of agents by name: {problem or 'got something else'}")
    return read_agents(value, "--agents")


def read_agents(value: Json, place: str) -> dict[str, AgentType]:
    """Read agents by name, `{name: {description, prompt, tools?, model?, hooks?}}`; raise ConfigError for others."""
    if not isinstance(value, dict):
        raise ConfigError(f"{place}: expected an object of agents by name")
    found = {}
    for name, fields in value.items():
        if not isinstance(fields, dict) or not isinstance(fields.get("prompt"), str):
            raise ConfigError(f"{place}: {name}: expected an object with `description` and `prompt`")
        found[name] = _agent(name, fields, fields["prompt"], _given_hooks(name, fields, place))
    return found


def _given_hooks(name: str, fields: Mapping[str, Json], place: str) -> tuple[MatcherGroup, ...]:
    if "hooks" not in fields:
        return ()
    source = Source(Scope.COMPONENT, place, component=Component("agent", name))
    found = parse_hooks(Tree({"hooks": fields["hooks"]}, (0,), 0), source)
    if found.diagnostics:
        raise ConfigError(f"{place}: {name}: {found.diagnostics[0].message}")
    return found.groups


def _agent(name: str, fields: Mapping[str, Json], prompt: str, hooks: tuple[MatcherGroup, ...]) -> AgentType:
    model = _text(fields, "model")
    turns = fields.get("maxTurns")
    return AgentType(
        name=name,
        description=_text(fields, "description") or "",
        prompt=prompt,
        tools=_names(fields.get("tools")),
        disallowed_tools=_names(fields.get("disallowedTools")) or (),
        model=None if model == "inherit" else model,
        permission_mode=_text(fields, "permissionMode"),
        background=fields.get("background") is True,
        isolation=_text(fields, "isolation"),
        max_turns=turns if isinstance(turns, int) and turns > 0 else None,
        hooks=hooks,
    )


def _text(fields: Mapping[str, Json], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value else None


def _names(value: Json) -> tuple[str, ...] | None:
    """Read tool names: a list, or one string with commas; return None for `*`, which means all."""
    listed: Sequence[Json] = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else ()
    names = tuple(name.strip() for name in listed if isinstance(name, str) and name.strip())
    return None if not names or "*" in names else names


def _command_folders(loaded: Loaded) -> list[tuple[str, str, str]]:
    """Return the folders of commands, the user's first, and for the project's what they must not lead out of."""
    project = os.path.join(loaded.project_dir, ".claude")
    config = loaded.locations.config_dir
    folders = [(os.path.join(config, "commands"), "userSettings", "")]
    if os.path.realpath(project) != os.path.realpath(config):
        folders.append((os.path.join(project, "commands"), "projectSettings", loaded.project_dir))
    for item in loaded.plugins:
        inside = item.plugin.root if item.from_project else ""
        folders.append((os.path.join(item.plugin.root, "commands"), "plugin", inside))
    return folders


def _commands(folder: str, source: str, inside: str) -> list[Skill]:
    found: list[Skill] = []
    if inside and not is_inside(folder, inside):
        return found
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            if len(found) < MAX_COMPONENTS and name.endswith(".md") and (not inside or is_inside(path, inside)):
                spaces = os.path.relpath(path, folder).removesuffix(".md").split(os.sep)
                head = read_frontmatter(path)
                said = _text(head.data, "description") or ""
                title = ":".join(spaces)
                found.append(
                    Skill(name=title, description=said, body=head.body, path=path, source=source, for_model=False)
                )
    return found


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()
