"""Everything that the model may call: the tools of the bench, of the session and of MCP servers."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.components import Skill, load_components
from hookwright.agent.state.prompts import skills_part
from hookwright.agent.state.session import Session
from hookwright.agent.state.updates import Note
from hookwright.agent.subagents.runner import Crew, agent_tool
from hookwright.agent.subagents.team import LEADER, Team, send_message_tool
from hookwright.agent.subagents.worktrees import worktree_tools
from hookwright.agent.tools import TOOLS, Effect, Tool, ToolContext, ToolResult, failed, parameters
from hookwright.protocol.events import ConfigChange
from hookwright.protocol.jsontext import Json
from hookwright.storage import Stamp, stamp


class Toolset:
    """Offers tools; agents and skills may change while the session runs."""

    def __init__(self, session: Session, crew: Crew, team: Team, mcp: Mapping[str, Tool]) -> None:
        self._session = session
        self._crew = crew
        self._team = team
        self._mcp = mcp
        self._fixed = {tool.name: tool for tool in (*worktree_tools(), self._send_message())}
        self._stamps: dict[str, Stamp | None] = {}

    def equip(self) -> None:
        """Read agents and skills anew and offer every tool that the options want."""
        session = self._session
        if not session.options.safe_mode:
            session.components = load_components(session.hooks.loaded, session.options.agents)
            for diagnostic in session.components.diagnostics:
                session.report(diagnostic)
        self._stamps = self._look()
        own = {
            **TOOLS,
            "Agent": agent_tool(self._crew, self._team.join, session.components.agents),
            "Skill": skill_tool(session),
            **self._fixed,
        }
        wanted = session.options.tools
        if wanted is None:
            chosen = {name: tool for name, tool in own.items() if tool.by_default}
        else:
            chosen = {name: own[name] for name in wanted if name in own}
            unknown = [name for name in wanted if name not in own]
            if unknown:
                session.tell(Note(f"--tools: there is no tool {', '.join(unknown)}", level="warning", tag="option"))
        session.tools = {**chosen, **self._mcp}

    async def refresh(self, actor: Actor) -> None:
        """Take up skills and agents that changed on disk, unless a ConfigChange hook keeps them out."""
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
        return {file.path: stamp(file.path) for file in self._session.hooks.loaded.components()}

    def _send_message(self) -> Tool:
        return send_message_tool(lambda: self._team, self._name_of)

    def _name_of(self, actor: Actor) -> str:
        member = self._crew.members.get(actor.identity.agent_id) if actor.identity is not None else None
        if member is not None and member.name is not None:
            return member.name
        return LEADER if actor.is_main else "subagent"


def skill_tool(session: Session) -> Tool:
    """Make the tool by which the model calls a skill; the skill's hooks hold from then on."""

    async def run(arguments: dict[str, Json], bench: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets the bench
        skill = session.components.skills.get(arguments["skill"])
        if skill is None or not skill.for_model:
            known = ", ".join(name for name, one in session.components.skills.items() if one.for_model)
            return failed(f"Unknown skill: {arguments['skill']}. Available: {known or 'none'}")
        if skill.hooks:
            session.hooks.activate(skill.hooks)
        response = {"success": True, "commandName": skill.name}
        return ToolResult(response, _told(skill, arguments.get("args", "")))

    text = {"type": "string"}
    listed = skills_part(session.components.skills.values())
    return Tool(
        name="Skill",
        description=f"Take up a skill: its text tells you how to go on. Skills:\n{listed or '(none)'}",
        parameters=parameters({"skill": text}, {"args": text}),
        effect=Effect.OTHER,
        run=run,
        output={"type": "object"},
        render=lambda response: str(response),
    )


def _told(skill: Skill, arguments: str) -> str:
    folder = os.path.dirname(skill.path)
    return f"Base directory of this skill: {folder}\n\n{skill.expand(arguments)}"
