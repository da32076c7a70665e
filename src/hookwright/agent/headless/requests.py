"""Requests of the host to an open session, one function each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from hookwright.agent.agent import Agent
from hookwright.agent.permissions import InvalidUpdate
from hookwright.agent.turn.switching import SwitchRefused
from hookwright.protocol.jsontext import Json


class Refused(Exception):
    """A refused request; the message says why."""


Response = dict[str, Json]


async def carry_out(agent: Agent, request: Mapping[str, Json]) -> Response:
    """Run a request of the host and return the response."""
    name = request.get("subtype")
    run = REQUESTS.get(name) if isinstance(name, str) else None
    if run is None:
        raise Refused(f"the control request {name!r} is not supported")
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
        raise Refused(done.reason)
    return {"model": done}


async def _set_permission_mode(agent: Agent, request: Mapping[str, Json]) -> Response:
    mode = str(request.get("mode"))
    try:
        agent.session.set_mode(mode)
    except InvalidUpdate as error:
        raise Refused(str(error)) from None
    now = agent.session.permissions.mode.value
    if now != mode:
        raise Refused(
            f"Cannot set permission mode to {mode}: the session was not started with --permission-mode {mode}"
        )
    return {"mode": now}


async def _register_repo_root(agent: Agent, request: Mapping[str, Json]) -> Response:
    path = request.get("path") or request.get("directory") or request.get("root")
    if not isinstance(path, str):
        raise Refused("register_repo_root needs `path`, the directory to add")
    return {"message": agent.add_directory(path)}


REQUESTS: dict[str, Callable[[Agent, Mapping[str, Json]], Awaitable[Response]]] = {
    "interrupt": _interrupt,
    "register_repo_root": _register_repo_root,
    "set_model": _set_model,
    "set_permission_mode": _set_permission_mode,
}
