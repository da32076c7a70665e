"""Everything the model may call: file and shell tools, tools of the session, tools of MCP servers."""

from __future__ import annotations

from collections.abc import Mapping

from hookwright.agent.state.actor import Actor, caller
from hookwright.agent.state.components import Components, load_components
from hookwright.agent.state.options import AgentOptions
from hookwright.agent.state.prompts import skills_part
from hookwright.agent.state.session import Equipment
from hookwright.agent.state.updates import Diagnosed, Listener, Note
from hookwright.agent.subagents.runner import Subagents, agent_tool
from hookwright.agent.subagents.session_servers import SessionServers
from hookwright.agent.subagents.team import Team, send_message_tool
from hookwright.agent.subagents.worktrees import worktree_tools
from hookwright.agent.tools import TOOLS, Effect, Tool, ToolContext, ToolResult, failed, parameters
from hookwright.protocol.events import ConfigChange
from hookwright.protocol.jsontext import Json
from hookwright.session import HookSession
from hookwright.storage import Stamp, stamp

STRUCTURED_OUTPUT = "StructuredOutput"
#: The names of the agent's own tools.
TOOL_NAMES = frozenset(
    {*TOOLS, "Agent", "Skill", "SendMessage", *(tool.name for tool in worktree_tools())},
)


class Toolset:
    """The tools on offer. Agents and skills, and the tools that follow from them, may change while a session runs."""

    def __init__(
        self,
        options: AgentOptions,
        hooks: HookSession,
        tell: Listener,
        subagents: Subagents,
        servers: SessionServers,
    ) -> None:
        self._options = options
        self._hooks = hooks
        self._tell = tell
        self._subagents = subagents
        self._servers = servers
        self._team = Team(subagents)
        self._fixed = {tool.name: tool for tool in (*worktree_tools(), send_message_tool(self._team))}
        self._stamps: dict[str, Stamp | None] = {}
        self.components = Components({}, {})
        self.tools: Mapping[str, Tool] = {}

    def equip(self) -> None:
        """Read agents and skills again and offer every tool the options ask for."""
        if not self._options.safe_mode:
            self.components = load_components(self._hooks.loaded, self._options.agents).only(self._options.skills)
            for diagnostic in self.components.diagnostics:
                self._tell(Diagnosed(diagnostic))
        self._stamps = self._look()
        own = {
            **TOOLS,
            "Agent": agent_tool(self._subagents, self._team.join, self.components.agents),
            "Skill": skill_tool(self, self._hooks),
            **self._fixed,
        }
        self.tools = {**self._wanted(own), **self._servers.tools, **self._answering()}

    def _answering(self) -> dict[str, Tool]:
        schema = self._options.json_schema
        return {} if schema is None else {STRUCTURED_OUTPUT: structured_output_tool(schema)}

    def _wanted(self, own: Mapping[str, Tool]) -> dict[str, Tool]:
        wanted = self._options.tools
        if wanted is None:
            return {name: tool for name, tool in own.items() if tool.by_default}
        unknown = [name for name in wanted if name not in own]
        if unknown:
            text = f"--tools: there is no tool {', '.join(unknown)}"
            self._tell(Note(text, level="warning", tag="option"))
        return {name: own[name] for name in wanted if name in own}

    async def refresh(self, actor: Actor) -> None:
        """Apply changed files of skills and agents, unless a ConfigChange hook blocks it."""
        now = self._look()
        changed = [path for path in {*now, *self._stamps} if now.get(path) != self._stamps.get(path)]
        if not changed:
            return
        self._stamps = now
        for path in sorted(changed):
            outcome = await actor.fire(actor.event(ConfigChange, source="skills", file_path=path))
            if outcome.blocked:
                return
        self.equip()

    def _look(self) -> dict[str, Stamp | None]:
        return {file.path: stamp(file.path) for file in self._hooks.loaded.components()}


def structured_output_tool(schema: Mapping[str, Json]) -> Tool:
    """Build the tool with which the model gives the value that the options ask for."""

    async def run(arguments: dict[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets it
        caller().actor.session.state.answer(arguments)
        return ToolResult(arguments, "Structured output provided successfully")

    return Tool(
        name=STRUCTURED_OUTPUT,
        description="Give your final answer in the form that was asked for. Call this tool once, at the end.",
        parameters=dict(schema),
        effect=Effect.SESSION,
        run=run,
        output={"type": "object"},
        render=lambda response: str(response),
    )


def skill_tool(equipment: Equipment, hooks: HookSession) -> Tool:
    """Build the tool with which the model calls a skill; the skill's hooks apply from then on."""

    async def run(arguments: dict[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets it
        skills = equipment.components.skills
        skill = skills.get(arguments["skill"])
        if skill is None or not skill.for_model:
            known = ", ".join(name for name, one in skills.items() if one.for_model)
            return failed(f"Unknown skill: {arguments['skill']}. Available: {known or 'none'}")
        if skill.hooks:
            hooks.activate(skill.hooks)
        response = {"success": True, "commandName": skill.name}
        text = skill.instruct(arguments.get("args", ""))
        return ToolResult(response, f"Launching skill: {skill.name}", instructions=text)

    def effect_of(arguments: dict[str, Json]) -> Effect:
        """Law: a skill with hooks of its own needs permission, since these run from then on."""
        skill = equipment.components.skills.get(str(arguments.get("skill")))
        return Effect.OTHER if skill is not None and skill.hooks else Effect.SESSION

    text = {"type": "string"}
    listed = skills_part(equipment.components.skills.values())
    return Tool(
        name="Skill",
        description=f"Load a skill: its text tells you how to proceed. Skills:\n{listed or '(none)'}",
        parameters=parameters({"skill": text}, {"args": text}),
        effect=Effect.SESSION,
        effect_of=effect_of,
        run=run,
        output={"type": "object"},
        render=lambda response: str(response),
    )
