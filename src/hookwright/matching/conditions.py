"""Permission rules: `Tool`, `Tool(specifier)`. A handler's `if` is one rule; allow, ask and deny lists are many.

| Rule | Means |
|---|---|
| `Tool`, `Tool()`, `Tool(*)` | every call of the tool |
| `Bash(git *)`, `PowerShell(…)` | commands, see `hookwright.matching.shell.patterns` |
| `Edit(src/**)`, `Read`, `Write`, `NotebookEdit`, `Glob`, `Grep` … | files, see `hookwright.matching.paths` |
| `WebFetch(domain:x.com)`, `domain:*.x.com` | hosts; `*.` is any subdomain, any other `*` stays between dots |
| `mcp__server`, `mcp__server__*`, `mcp__server__tool` | tools of a server |
| `Agent(name)`, `Task(name)` | subagents of a type |
| `Tool(param:value)` | a top-level scalar field of the input, `*` in the value; never the tool's main field |

A rule is read in one of four ways, and the reading decides what the same text covers: see `Reading`. Every answer is
`Match`, `NoMatch` or `Undecided(reason)`. Undecided means: an `if` runs its handler, an allow rule does not approve,
an ask or deny rule asks.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeAlias, assert_never

import msgspec

from hookwright.matching import shell
from hookwright.matching.matchers import MATCH, NO_MATCH, Answer, Match, NoMatch, Undecided
from hookwright.matching.paths import PathPattern, Where, absolute, located, parse_path, spellings
from hookwright.matching.shell import CommandPattern, Wildcard, allowed
from hookwright.protocol.jsontext import Json

__all__ = [
    "Answer",
    "BadRule",
    "InvalidRule",
    "Match",
    "NoMatch",
    "Reading",
    "Rule",
    "Undecided",
    "Where",
    "allowed_by",
    "compile_rule",
    "covers",
    "host_of",
    "is_about_files",
    "matches_only",
    "parse_rule",
]

FILE_FIELDS = {
    "Edit": "file_path",
    "Glob": "path",
    "Grep": "path",
    "LS": "path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "NotebookRead": "notebook_path",
    "Read": "file_path",
    "Write": "file_path",
}
"""The tools with path rules, and the input field a path is compared with."""

_SWITCHES = {"Bash": frozenset(["dangerouslyDisableSandbox", "description", "run_in_background", "timeout"])}
_SWITCHES["PowerShell"] = _SWITCHES["Bash"]
_MAIN_FIELDS = {**FILE_FIELDS, "Bash": "command", "PowerShell": "command", "WebFetch": "url"}
_SEARCHING = frozenset(["Glob", "Grep", "LS"])
_EDITING = frozenset(["Edit", "MultiEdit", "NotebookEdit", "Write"])
_READING = frozenset(["Glob", "Grep", "LS", "NotebookRead", "Read"])
_AGENTS = frozenset(["Agent", "Task"])

_RULE = re.compile(r"([^\s()]+)(?:\((.*)\))?", re.DOTALL)
_PARAMETER = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*:\s*(.*)", re.DOTALL)
_SERVER = re.compile(r"mcp__(?:(?!__).)+")
_SPECIAL = re.compile(r"(https?|wss?|ftp):/*", re.IGNORECASE)
_HOST_LIMIT = 253
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")


class InvalidRule(ValueError):
    """A text that is not a rule; the message says why, and what to write instead."""


class BadRule(msgspec.Struct, frozen=True):
    """A text that is not a rule, with the problem and the way out."""

    problem: str


class Reading(Enum):
    """The purpose a rule is read for.

    CONDITION, a handler's `if`: covers calls of the named tool only. Any sub-command, and the path as written or the
    file it really is, is enough. Tool names may hold `*` only in `mcp__…`. An empty rule covers every call.
    ALLOW: `Edit(path)` covers all editing tools, a bare `Edit` only itself, `Read` also searching. Every sub-command
    must match, and the path as written and the real file. `*` in a tool name only works after `mcp__<server>__`.
    Parameters are ignored.
    ASK: covers like ALLOW, and a bare `Edit` all editing tools; any sub-command or path is enough, `dir/**` applies at
    any depth, and `*` may be anywhere in a tool name.
    DENY: like ASK; a `Read` rule with a path also keeps that path from being edited or written.
    """

    CONDITION = "if"
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class AnyCall(msgspec.Struct, frozen=True):
    """Every call of the tool."""


class Bash(msgspec.Struct, frozen=True):
    """Some Bash commands."""

    pattern: CommandPattern


class PowerShell(msgspec.Struct, frozen=True):
    """Some PowerShell commands."""

    pattern: CommandPattern


class Path(msgspec.Struct, frozen=True):
    """Some files."""

    pattern: PathPattern


class Domain(msgspec.Struct, frozen=True):
    """Some hosts."""

    expression: re.Pattern[str]


class AgentTypeRule(msgspec.Struct, frozen=True):
    """Subagents of one type."""

    name: Wildcard


class Other(msgspec.Struct, frozen=True):
    """A specifier of a tool without its own language; a parameter can match, and the name in allow rules of Skill."""

    text: str


Specifier: TypeAlias = AnyCall | Bash | PowerShell | Path | Domain | AgentTypeRule | Other


class Parameter(msgspec.Struct, frozen=True):
    """Calls with a certain value in a field."""

    name: str
    value: Wildcard

    def matches(self, tool_input: Mapping[str, Json]) -> bool:
        """Return whether the field exists and matches."""
        value = tool_input.get(self.name)
        if isinstance(value, bool | int | float):
            return self.value.matches(msgspec.json.encode(value).decode())
        return isinstance(value, str) and self.value.matches(value)


class Rule(msgspec.Struct, frozen=True):
    """A parsed rule."""

    text: str
    tool: str
    specifier: Specifier
    parameter: Parameter | None = None

    def matches_any(self, tool_name: str, tool_input: Mapping[str, Json], where: Where) -> Answer:
        """Return the answer of the rule as an `if`."""
        return self.match(tool_name, tool_input, where, Reading.CONDITION)

    def match(self, tool_name: str, tool_input: Mapping[str, Json], where: Where, reading: Reading) -> Answer:
        """Return whether the rule, read for a purpose, matches a call."""
        if not covers(self, tool_name, reading):
            return NO_MATCH
        parameter = self.parameter if reading is not Reading.ALLOW else None
        if parameter is not None and (parameter.name in tool_input or parameter.name in _SWITCHES.get(self.tool, ())):
            return MATCH if parameter.matches(tool_input) else NO_MATCH
        match self.specifier:
            case AnyCall():
                return MATCH
            case Bash(pattern) | PowerShell(pattern):
                return _command(self, pattern, tool_input, reading)
            case Path(pattern):
                return _path(pattern, tool_name, tool_input, where, reading)
            case Domain(expression):
                return _domain(expression, tool_input)
            case AgentTypeRule(name):
                agent = tool_input.get("subagent_type")
                if not isinstance(agent, str):
                    return Undecided("the call has no subagent_type")
                return MATCH if name.matches(agent) else NO_MATCH
            case Other(text):
                if self.tool == "Skill" and reading is Reading.ALLOW:
                    return MATCH if tool_input.get("skill") == text.removesuffix(":*") else NO_MATCH
                if self.parameter is not None:
                    return NO_MATCH
                return Undecided(f"rules for {self.tool} have no specifier other than Tool(parameter:value)")
            case _:
                assert_never(self.specifier)


def parse_rule(text: str) -> Rule:
    """Return the rule of a text, or raise InvalidRule."""
    rule = compile_rule(text)
    if isinstance(rule, BadRule):
        raise InvalidRule(rule.problem)
    return rule


@functools.lru_cache(maxsize=4096)
def compile_rule(text: str) -> Rule | BadRule:
    """Compile the text of a rule, once; never fail. An empty `if` is a rule for every call."""
    try:
        return _parse(text.strip())
    except InvalidRule as error:
        return BadRule(str(error))


def _parse(text: str) -> Rule:
    if not text:
        return Rule(text, "", AnyCall())
    parts = _RULE.fullmatch(text)
    if parts is None:
        raise InvalidRule(_complaint(text))
    tool, content = parts.groups()
    if content is None or content in ("", "*"):
        return Rule(text, tool, AnyCall())
    parameter = _parameter(tool, content)
    if parameter is not None and parameter.name == _MAIN_FIELDS.get(tool):
        example = f"{tool}(domain:host)" if tool == "WebFetch" else f"{tool}({parameter.value.text})"
        raise InvalidRule(f"{text}: {tool} rules already match {parameter.name}. Write {example}.")
    specifier = _specifier(text, tool, content, parameter)
    return Rule(text, tool, specifier, None if isinstance(specifier, Domain) else parameter)


def _complaint(text: str) -> str:
    tool, bracket, rest = text.partition("(")
    if bracket and tool and not re.search(r"\s", tool) and not rest.endswith(")"):
        return f"{text}: the closing ) is missing. Write {tool}({rest})."
    return f"{text}: a rule is a tool's name, or a name and a specifier in brackets. Write Bash({text}) for a command."


def _parameter(tool: str, content: str) -> Parameter | None:
    parts = _PARAMETER.fullmatch(content)
    if parts is None or (tool in ("Bash", "PowerShell") and content.endswith(":*")):
        return None
    return Parameter(parts[1], Wildcard(parts[2].strip()))


def _specifier(text: str, tool: str, content: str, parameter: Parameter | None) -> Specifier:
    if tool == "Bash":
        return Bash(CommandPattern(content))
    if tool == "PowerShell":
        return PowerShell(CommandPattern(shell.canonical(content)))
    if tool in FILE_FIELDS:
        return Path(parse_path(content))
    if tool in _AGENTS:
        return AgentTypeRule(Wildcard(content))
    if tool == "WebFetch" and parameter is not None and parameter.name == "domain":
        return Domain(_host_expression(parameter.value.text))
    if tool == "WebFetch" and parameter is None:
        raise InvalidRule(f"{text}: WebFetch rules name a host. Write WebFetch(domain:{content}).")
    return Other(content)


def is_about_files(rule: Rule) -> bool:
    """Return whether a rule names files, and not every call of a tool."""
    return isinstance(rule.specifier, Path)


def matches_only(rule: Rule, command: str) -> bool:
    """Return whether a rule covers this Bash command and no other."""
    return isinstance(rule.specifier, Bash) and rule.specifier.pattern.exact and rule.specifier.pattern.text == command


def covers(rule: Rule, tool_name: str, reading: Reading) -> bool:
    """Return whether a rule, read for a purpose, applies to a tool at all."""
    tool = rule.tool
    if not tool:
        return reading is Reading.CONDITION
    if tool == tool_name or (tool in _AGENTS and tool_name in _AGENTS):
        return True
    if "*" in tool:
        return _glob_counts(tool, reading) and Wildcard(tool).matches(tool_name)
    if _SERVER.fullmatch(tool):
        return tool_name.startswith(f"{tool}__")
    if reading is Reading.CONDITION:
        return False
    if tool == "Edit":
        return tool_name in _EDITING and (reading is not Reading.ALLOW or is_about_files(rule))
    if tool == "Read" and reading is Reading.DENY and isinstance(rule.specifier, Path):
        return tool_name in _READING or tool_name in ("Edit", "MultiEdit", "Write")
    return tool == "Read" and tool_name in _READING


def _glob_counts(tool: str, reading: Reading) -> bool:
    match reading:
        case Reading.CONDITION:
            return tool.startswith("mcp__")
        case Reading.ALLOW:
            server = _SERVER.match(tool.partition("*")[0])
            return server is not None and tool.startswith(f"{server[0]}__")
        case Reading.ASK | Reading.DENY:
            return True
        case _:
            assert_never(reading)


def allowed_by(rules: Sequence[Rule], tool_name: str, tool_input: Mapping[str, Json], where: Where) -> Answer:
    """Return the answer of a list of allow rules; each sub-command may be allowed by a different rule."""
    covering = [rule for rule in rules if covers(rule, tool_name, Reading.ALLOW)]
    answers = [rule.match(tool_name, tool_input, where, Reading.ALLOW) for rule in covering]
    command = tool_input.get("command")
    if MATCH not in answers and isinstance(command, str):
        bash = [rule.specifier.pattern for rule in covering if isinstance(rule.specifier, Bash)]
        script = [rule.specifier.pattern for rule in covering if isinstance(rule.specifier, PowerShell)]
        answers += [allowed(bash, shell.analyse_bash(command))] if bash else []
        answers += [allowed(script, shell.analyse_powershell(command))] if script else []
    if MATCH in answers:
        return MATCH
    return next((answer for answer in answers if isinstance(answer, Undecided)), NO_MATCH)


def _command(rule: Rule, pattern: CommandPattern, tool_input: Mapping[str, Json], reading: Reading) -> Answer:
    command = tool_input.get("command")
    if not isinstance(command, str):
        return Undecided("the call has no command")
    analysis = (
        shell.analyse_powershell(command) if isinstance(rule.specifier, PowerShell) else shell.analyse_bash(command)
    )
    match reading:
        case Reading.CONDITION:
            return pattern.as_condition(command, analysis)
        case Reading.ALLOW:
            return allowed([pattern], analysis)
        case Reading.ASK | Reading.DENY:
            return pattern.as_guard(command, analysis)
        case _:
            assert_never(reading)


def _path(
    pattern: PathPattern, tool_name: str, tool_input: Mapping[str, Json], where: Where, reading: Reading
) -> Answer:
    field = FILE_FIELDS[tool_name]
    path = tool_input.get(field)
    if path is None and tool_name in _SEARCHING:
        path = where.cwd
    if not isinstance(path, str):
        return Undecided(f"the call has no {field}")
    paths = located(path, where)
    directories = [pattern.anchor.directory(where)] if reading is Reading.ALLOW else pattern.anchor.directories(where)
    anchors = [spelling for directory in directories for spelling in spellings(absolute(directory, where))]
    match reading:
        case Reading.CONDITION:
            holds = any(pattern.matches(path, anchors) for path in paths)
        case Reading.ALLOW:
            holds = all(pattern.matches(path, anchors) for path in paths)
        case Reading.ASK | Reading.DENY:
            holds = any(pattern.guards(path, anchors) for path in paths)
        case _:
            assert_never(reading)
    return MATCH if holds else NO_MATCH


def _host_expression(pattern: str) -> re.Pattern[str]:
    pattern = pattern.lower().rstrip(".")
    if pattern == "*":
        return re.compile(".+")
    leading, rest = (".+\\.", pattern[2:]) if pattern.startswith("*.") else ("", pattern)
    return re.compile(leading + "[^.]*".join(map(re.escape, re.split(r"\*+", rest))))


def _domain(expression: re.Pattern[str], tool_input: Mapping[str, Json]) -> Answer:
    host = host_of(tool_input.get("url"))
    if host is None:
        return Undecided("the call has no url with a plain host name")
    return MATCH if expression.fullmatch(host) else NO_MATCH


def host_of(url: object) -> str | None:
    """Return the host as browsers find it.

    Law: white space and control characters are dropped, backslashes are slashes, and after `http:` or `https:` any
    number of slashes, none included, comes before the host.
    """
    from urllib.parse import urlsplit  # few rules need it, and the import takes milliseconds

    if not isinstance(url, str):
        return None
    url = re.sub(r"[\x00-\x20]+", "", url).replace("\\", "/")
    special = _SPECIAL.match(url)
    if special:
        url = f"{special[1]}://{url[special.end() :]}"
    try:
        host = urlsplit(url if "://" in url else f"//{url}").hostname
    except ValueError:
        return None
    host = (host or "").rstrip(".")
    return host if len(host) <= _HOST_LIMIT and _HOST.fullmatch(host) else None
