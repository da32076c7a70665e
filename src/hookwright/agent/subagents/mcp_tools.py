"""MCP: tools of servers as tools of the agent, and questions that servers ask."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from hookwright.agent.state.actor import Actor, caller
from hookwright.agent.state.options import AgentOptions
from hookwright.agent.tools import Effect, Text, Tool, ToolContext, ToolResult, failed
from hookwright.config import TrustPolicy
from hookwright.errors import ConfigError, McpError
from hookwright.mcp.servers import ElicitationRequest, Elicited, McpServers, ServerConfig, read_mcp_config
from hookwright.mcp.servers import McpTool as Offered
from hookwright.mcp.values import Carry, HostServer
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.events import Elicitation as ElicitationEvent
from hookwright.protocol.events import ElicitationResult
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.sources import Scope, Source
from hookwright.protocol.wire import encode

PROJECT_FILE = ".mcp.json"


class ConfiguredServers(msgspec.Struct, frozen=True):
    """The servers of a session, the source of each, and findings about invalid ones."""

    servers: Mapping[str, ServerConfig]
    sources: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...] = ()


def configured(options: AgentOptions, project_dir: str, carry: Carry | None) -> ConfiguredServers:
    """Read the servers of `--mcp-config` and, if the project is trusted as a whole, of its `.mcp.json`.

    `carry` reaches servers inside the host program.
    """
    servers: dict[str, ServerConfig] = {}
    sources: dict[str, str] = {}
    notes: list[Diagnostic] = []
    texts = []
    project = os.path.join(project_dir, PROJECT_FILE)
    trusted = options.trust or TrustPolicy.from_env(options.env) is TrustPolicy.EVERYTHING
    if trusted and not options.safe_mode and not options.strict_mcp_config and os.path.isfile(project):
        texts.append((_read(project), project, "project"))
    for value in options.mcp_config:
        inline = value.lstrip().startswith("{")
        texts.append((value if inline else _read(value), "--mcp-config" if inline else value, "dynamic"))
    for text, place, source in texts:
        found = read_mcp_config(text, Source(Scope.FLAG, place), options.env)
        servers.update({name: _reachable(server, carry) for name, server in found.servers.items()})
        sources.update(dict.fromkeys(found.servers, source))
        notes += found.diagnostics
    return ConfiguredServers(servers, sources, tuple(notes))


def _reachable(server: ServerConfig, carry: Carry | None) -> ServerConfig:
    return HostServer(carry) if isinstance(server, HostServer) else server


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: the MCP configuration cannot be read: {error}") from None


def mcp_tool(offered: Offered, servers: McpServers) -> Tool:
    """Build the agent's tool for a tool of a server."""

    async def run(arguments: dict[str, Json], context: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets it
        actor = caller().actor
        try:
            found = await servers.call(
                offered.server, offered.name, arguments, on_elicitation=lambda asked: answer(actor, asked)
            )
        except McpError as error:
            return failed(str(error))
        content = [dict(block) for block in found.content]
        if found.is_error:
            return failed(found.text or encode(content).decode())
        response: Json = content if found.structured is None else encode(found.structured).decode()
        return ToolResult(response, render(response))

    return Tool(
        name=offered.full_name,
        description=offered.description,
        parameters=offered.input_schema,
        effect=Effect.OTHER,
        run=run,
        output={},
        render=render,
        concurrent=offered.annotations.get("readOnlyHint") is True,
    )


def render(response: Json) -> Text:
    """Return text and content blocks unchanged, and anything else as JSON."""
    if isinstance(response, str):
        return response
    if isinstance(response, list) and all(isinstance(block, dict) and "type" in block for block in response):
        return [block if block["type"] in ("text", "image") else _as_text(block) for block in response]
    return encode(response).decode()


def _as_text(block: Mapping[str, Json]) -> dict[str, Json]:
    return {"type": "text", "text": encode(block).decode()}


# ── questions of servers ────────────────────────────────────────────────────


async def answer(actor: Actor, asked: ElicitationRequest) -> Elicited:
    """Answer a server: hooks first, then the person; ElicitationResult hooks see the person's answer."""
    outcome = await actor.fire(
        actor.event(
            ElicitationEvent,
            mcp_server_name=asked.server,
            message=asked.message,
            mode=asked.mode,
            url=_or_unset(asked.url),
            elicitation_id=_or_unset(asked.elicitation_id),
            requested_schema=UNSET if asked.requested_schema is None else dict(asked.requested_schema),
        )
    )
    actor.dialogue.record_firing(outcome)
    by_hook = outcome.blocked or "action" in outcome.fields
    said = _by_hook(outcome) if by_hook else await _by_person(actor, asked)
    actor.session.notify(f"{asked.server} got an answer: {said.action}", "elicitation_response")
    return said


def _by_hook(outcome: Outcome) -> Elicited:
    action = "decline" if outcome.blocked else outcome.fields["action"]
    return Elicited(action, outcome.fields.get("content") if action == "accept" else None)


async def _by_person(actor: Actor, asked: ElicitationRequest) -> Elicited:
    session = actor.session
    said = Elicited("cancel")
    if session.person.fill_in is not None:
        kind = "elicitation_url_dialog" if asked.mode == "url" else "elicitation_dialog"
        session.notify(f"{asked.server} asks: {asked.message}", kind)
        said = await session.person.fill_in(asked)
    outcome = await actor.fire(
        actor.event(
            ElicitationResult,
            mcp_server_name=asked.server,
            action=said.action,
            mode=asked.mode,
            elicitation_id=_or_unset(asked.elicitation_id),
            content=UNSET if said.content is None else dict(said.content),
        )
    )
    actor.dialogue.record_firing(outcome)
    if outcome.blocked:
        said = Elicited("decline")
    elif "action" in outcome.fields:
        action = outcome.fields["action"]
        content = outcome.fields.get("content", said.content)
        said = Elicited(action, content if action != "decline" else None)
    return said


def _or_unset(value: str | None) -> Any:
    return UNSET if value is None else value
