"""The control protocol: prompts and requests of the host come in, responses and questions go out."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping

import msgspec

from hookwright.agent.agent import Agent
from hookwright.agent.headless.host import HostLink
from hookwright.agent.headless.initialization import Initialization, InvalidInitialization, read_initialization
from hookwright.agent.headless.requests import RefusedRequest, carry_out, server_info
from hookwright.agent.state.inbox import Closed, Prompt
from hookwright.protocol.jsontext import Json


class Opening(msgspec.Struct, frozen=True):
    """What the host sent before the session opened."""

    initialization: Initialization = Initialization()
    #: The first line; None if the input ended at once.
    first: Mapping[str, Json] | None = None
    #: Why the `initialize` request is refused.
    problem: str | None = None


class Control:
    """Runs the lines of a host: the first before the session opens, the others once it is open."""

    def __init__(self, link: HostLink, on_prompt: Callable[[Mapping[str, Json]], None]) -> None:
        self.link = link
        self._on_prompt = on_prompt
        self._requests: set[asyncio.Task[None]] = set()

    async def opening(self) -> Opening:
        """Wait for the first line: an `initialize` request adds hooks, agents, skills and servers to the session."""
        self.link.open()
        first = await self.link.line()
        if first is None or not _is_initialize(first):
            return Opening(first=first)
        try:
            found = read_initialization(first["request"], self.link.ask)
        except InvalidInitialization as problem:
            return Opening(first=first, problem=str(problem))
        for note in found.notes:
            self.link.complain(note)
        if found.forward_subagent_text:
            self.link.show_subagents()
        return Opening(found, first)

    async def serve(self, agent: Agent, opening: Opening) -> None:
        """Answer the first line and every other one, until the input ends."""
        line = opening.first
        if line is not None and _is_initialize(line):
            if opening.problem is not None:
                self.link.refuse(line.get("request_id"), opening.problem)
            else:
                self.link.succeed(line.get("request_id"), server_info(agent))
            line = await self.link.line()
        while line is not None:
            self._dispatch(agent, line)
            line = await self.link.line()
        agent.session.inbox.put(Closed())

    def _dispatch(self, agent: Agent, value: Mapping[str, Json]) -> None:
        match value.get("type"):
            case "user":
                named = {**value, "uuid": _uuid(value.get("uuid"))}
                self._on_prompt(named)
                agent.session.inbox.put(read_prompt(named))
            case "control_request":
                task = asyncio.get_running_loop().create_task(self._carry_out(agent, value))
                self._requests.add(task)
                task.add_done_callback(self._requests.discard)
            case other:
                self.link.complain(f"skipped a line of type {other!r}; send user or control lines.")

    async def _carry_out(self, agent: Agent, value: Mapping[str, Json]) -> None:
        request, name = value.get("request"), value.get("request_id")
        request = request if isinstance(request, dict) else {}
        try:
            answer = self._late(agent, request) if _is_initialize(value) else await carry_out(agent, request)
        except (RefusedRequest, InvalidInitialization) as refusal:
            self.link.refuse(name, str(refusal))
        else:
            self.link.succeed(name, answer)

    def _late(self, agent: Agent, request: Mapping[str, Json]) -> dict[str, Json]:
        """Register the hooks of an `initialize` request that came after a prompt; the rest of it is too late."""
        found = read_initialization(request, self.link.ask)
        if found.agents or found.skills is not None or found.servers:
            raise RefusedRequest("initialize must be the first line: agents, skills and servers are fixed from then on")
        if found.hooks is not None:
            agent.session.hooks.activate(found.hooks.groups)
        return server_info(agent)


def _is_initialize(line: Mapping[str, Json]) -> bool:
    request = line.get("request")
    return (
        line.get("type") == "control_request" and isinstance(request, dict) and request.get("subtype") == "initialize"
    )


def read_prompt(value: Mapping[str, Json]) -> Prompt:
    """Return the prompt of a user line: a string, or the text of its blocks with the other blocks, such as images."""
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    about: dict[str, Json] = {
        "verbatim": value.get("client_composed") is True,
        "uuid": value.get("uuid"),
        "joins": True,
    }
    if not isinstance(content, list):
        return Prompt(content if isinstance(content, str) else "", **about)
    blocks = [block for block in content if isinstance(block, dict)]
    text = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type", "text") == "text")
    others = tuple(block for block in blocks if block.get("type", "text") != "text")
    return Prompt(text, others, **about)


def _uuid(given: Json) -> str:
    """Return the uuid that a host gave its prompt, or a new one."""
    try:
        return str(uuid.UUID(given))
    except (AttributeError, TypeError, ValueError):
        return str(uuid.uuid4())
