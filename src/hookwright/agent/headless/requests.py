"""Requests of the host to an open session, one function each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from hookwright.agent.agent import Agent
from hookwright.agent.permissions import InvalidUpdate
from hookwright.agent.turn.switching import SwitchRefused
from hookwright.errors import McpError
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode

#: Tokens that the smallest of today's models can read.
WINDOW = 200_000


class RefusedRequest(Exception):
    """A refused request; the message says why."""


Response = dict[str, Json]


async def carry_out(agent: Agent, request: Mapping[str, Json]) -> Response:
    """Run a request of the host and return the response."""
    name = request.get("subtype")
    run = REQUESTS.get(name) if isinstance(name, str) else None
    if run is None:
        raise RefusedRequest(f"the control request {name!r} is not supported")
    return await run(agent, request)


def server_info(agent: Agent) -> Response:
    """Describe the session, as the answer to `initialize`."""
    session, components = agent.session, agent.session.equipment.components
    model = session.model.main_model
    return {
        "commands": [
            {"name": name, "description": skill.description, "argumentHint": ""}
            for name, skill in components.skills.items()
        ],
        "agents": [
            {"name": name, "description": kind.description, **({} if kind.model is None else {"model": kind.model})}
            for name, kind in components.agents.items()
        ],
        "models": [{"value": model, "displayName": model, "description": "the model of this session"}],
        "output_style": "default",
        "available_output_styles": ["default"],
        "account": {},
        "hook_on_failure_supported": True,
        "hooks_applied": True,
    }


async def _interrupt(agent: Agent, request: Mapping[str, Json]) -> Response:  # noqa: ARG001 - every request has fields
    agent.interrupt()
    return {}


async def _set_model(agent: Agent, request: Mapping[str, Json]) -> Response:
    done = await agent.switch_model(str(request.get("model") or agent.session.model.main_model))
    if isinstance(done, SwitchRefused):
        raise RefusedRequest(done.reason)
    return {"model": done}


async def _set_permission_mode(agent: Agent, request: Mapping[str, Json]) -> Response:
    mode = str(request.get("mode"))
    try:
        agent.session.set_mode(mode)
    except InvalidUpdate as error:
        raise RefusedRequest(str(error)) from None
    now = agent.session.permissions.mode.value
    if now != mode:
        raise RefusedRequest(
            f"Cannot set permission mode to {mode}: the session was not started with --permission-mode {mode}"
        )
    return {"mode": now}


async def _register_repo_root(agent: Agent, request: Mapping[str, Json]) -> Response:
    path = request.get("path") or request.get("directory") or request.get("root")
    if not isinstance(path, str):
        raise RefusedRequest("register_repo_root needs `path`, the directory to add")
    return {"message": agent.add_directory(path)}


async def _stop_task(agent: Agent, request: Mapping[str, Json]) -> Response:
    task_id = str(request.get("task_id"))
    if not await agent.stop_task(task_id):
        raise RefusedRequest(f"No task found with ID: {task_id}")
    return {}


async def _mcp_status(agent: Agent, request: Mapping[str, Json]) -> Response:  # noqa: ARG001 - as above
    return {"mcpServers": agent.servers.describe()}


async def _mcp_reconnect(agent: Agent, request: Mapping[str, Json]) -> Response:
    await _on_server(agent, request, agent.servers.reconnect)
    return {}


async def _mcp_toggle(agent: Agent, request: Mapping[str, Json]) -> Response:
    await _on_server(agent, request, agent.servers.enable if request.get("enabled") else agent.servers.disable)
    return {}


async def _on_server(agent: Agent, request: Mapping[str, Json], change: Callable[[str], Awaitable[None]]) -> None:
    try:
        await change(str(request.get("serverName")))
    except McpError as error:
        raise RefusedRequest(str(error)) from None
    finally:
        agent.session.equipment.equip()


async def _context_usage(agent: Agent, request: Mapping[str, Json]) -> Response:  # noqa: ARG001 - as above
    return context_usage(agent)


def context_usage(agent: Agent) -> Response:
    """Describe how full the context is: the API's own count, spread over its parts by their length."""
    session, main = agent.session, agent.main
    limit = session.options.context_limit
    tools = {name: tool for name, tool in session.equipment.tools.items() if session.server_of(name) is None}
    servers = [name for name in session.equipment.tools if name not in tools]
    parts = {
        "System prompt": len(main.system),
        "System tools": sum(len(tool.description) + len(encode(tool.parameters)) for tool in tools.values()),
        "MCP tools": sum(len(encode(session.equipment.tools[name].parameters)) for name in servers),
        "Messages": len(encode(list(main.dialogue.messages))),
    }
    total = session.model.context_tokens or sum(parts.values()) // 4
    whole = sum(parts.values()) or 1
    most = limit or WINDOW
    return {
        "categories": [
            {"name": name, "tokens": round(total * size / whole), "color": "inactive"} for name, size in parts.items()
        ],
        "totalTokens": total,
        "maxTokens": most,
        "rawMaxTokens": WINDOW,
        "percentage": round(100 * total / most, 1),
        "model": session.model.main_model,
        "isAutoCompactEnabled": limit is not None,
        **({} if limit is None else {"autoCompactThreshold": limit}),
        "memoryFiles": [],
        "mcpTools": [{"name": name, "serverName": _server(agent, name), "isLoaded": True} for name in servers],
        "agents": [{"agentType": name} for name in session.equipment.components.agents],
        "gridRows": [],
    }


def _server(agent: Agent, tool: str) -> str:
    server = agent.session.server_of(tool)
    return server["name"] if server is not None else ""


async def _rewind_files(agent: Agent, request: Mapping[str, Json]) -> Response:  # noqa: ARG001 - as above
    raise RefusedRequest("rewind_files: files are not checkpointed here; use git")


REQUESTS: dict[str, Callable[[Agent, Mapping[str, Json]], Awaitable[Response]]] = {
    "get_context_usage": _context_usage,
    "interrupt": _interrupt,
    "mcp_reconnect": _mcp_reconnect,
    "mcp_status": _mcp_status,
    "mcp_toggle": _mcp_toggle,
    "rewind_files": _rewind_files,
    "stop_task": _stop_task,
    "register_repo_root": _register_repo_root,
    "set_model": _set_model,
    "set_permission_mode": _set_permission_mode,
}
