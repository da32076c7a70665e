"""A model that plays a script: for demos, for tests of hosts, and where no key is configured."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from hookwright.models._system_role import blocks
from hookwright.models.script import Route, Script, ScriptedCall, ScriptedText, ScriptedTurn
from hookwright.models.types import (
    ApiError,
    Block,
    Delta,
    Message,
    NoModel,
    Request,
    Response,
    TextDelta,
    ToolUseDelta,
    Tuning,
    Usage,
    error_kind,
)
from hookwright.protocol.wire import encode

_DONE = ScriptedTurn((ScriptedText("Done."),))

NO_MODEL = (
    "No model is configured, so every answer is this text. Set ANTHROPIC_API_KEY (or OPENAI_API_KEY) to talk to a "
    "model, or use a script with `--script FILE`."
)


class ScriptedModel:
    """Answers from a script, without any network."""

    def __init__(self, script: Script) -> None:
        self.main_model = script.model
        self.small_model = script.model
        self._script = script
        self._next: dict[str, int] = {}
        self._calls = 0
        self._answers = 0

    async def complete(self, request: Request) -> Response:
        """Play the next turn."""
        turn = self._turn(request)
        await asyncio.sleep(turn.delay)
        if turn.fault is not None:
            fault = turn.fault
            message = f"the script answered {fault.status}: {fault.message}"
            raise ApiError(message, kind=error_kind(fault.status, fault.code), status=fault.status)
        return self._response(turn, request)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Play the next turn word by word."""
        response = await self.complete(request)
        for block in response.content:
            if block["type"] == "text":
                for word in re.findall(r"\s*\S+\s*$|\s*\S+|\s+", block["text"]):
                    await asyncio.sleep(self._script.pace)
                    yield TextDelta(word)
            else:
                yield ToolUseDelta(block["id"], block["name"])
                yield ToolUseDelta(block["id"], block["name"], encode(block["input"]).decode())
        yield response

    async def close(self) -> None:
        """Do nothing: there are no connections."""

    def ignored(self, tuning: Tuning, model: str) -> tuple[str, ...]:  # noqa: ARG002 - the same for every name
        """Return what has no effect on a script."""
        if tuning == Tuning():
            return ()
        return ("A script answers as it is written: thinking, effort, betas and task budgets have no effect on it.",)

    def _turn(self, request: Request) -> ScriptedTurn:
        """Return the next turn of the request's route whose `when` matches."""
        route = self._route(request)
        new = _new_text(request.messages)
        start = self._next.get(route.name, 0)
        for index in range(start, len(route.turns)):
            if _holds(route.turns[index], new):
                self._next[route.name] = index + 1
                return route.turns[index]
        if not route.repeat or not route.turns:
            return _DONE
        again = (turn for turn in route.turns if turn.when is not None and _holds(turn, new))
        return next(again, route.turns[-1])

    def _route(self, request: Request) -> Route:
        for route in self._script.routes:
            if _fits(route, request):
                return route
        if request.purpose != "conversation":
            place = self._script.place
            raise ApiError(
                f"{place} has no answer for a {request.purpose!r} request; add an entry under `routes` whose `match` "
                "fits it"
            )
        return self._script.main

    def _response(self, turn: ScriptedTurn, request: Request) -> Response:
        content = tuple(self._block(block) for block in turn.blocks)
        self._answers += 1
        read = len(request.system) + len(encode([list(request.messages), [tool.name for tool in request.tools]]))
        calls = any(isinstance(block, ScriptedCall) for block in turn.blocks)
        return Response(
            content=content,
            stop_reason="tool_use" if calls else "end_turn",
            model=self.main_model if request.model is None else request.model,
            id=f"msg_S{self._answers:03d}",
            # Four characters per token: close enough for a context meter.
            usage=Usage(turn.usage_in if turn.usage_in is not None else read // 4, len(encode(content)) // 4),
        )

    def _block(self, block: ScriptedText | ScriptedCall) -> Block:
        if isinstance(block, ScriptedText):
            return {"type": "text", "text": block.text}
        self._calls += 1
        id_ = block.id if block.id is not None else f"toolu_S{self._calls:03d}"
        return {"type": "tool_use", "id": id_, "name": block.tool, "input": dict(block.input)}


class Unconfigured(ScriptedModel):
    """Used when no model is configured: a conversation reads what to set, and hooks fail with NoModel."""

    def __init__(self) -> None:
        turns = (ScriptedTurn((ScriptedText(NO_MODEL),)),)
        super().__init__(Script(Route("main", turns, repeat=True)))

    async def complete(self, request: Request) -> Response:
        """Answer a conversation; raise NoModel for everything else."""
        if request.purpose != "conversation":
            raise NoModel
        return await super().complete(request)


def _holds(turn: ScriptedTurn, new: str) -> bool:
    return turn.when is None or turn.when.search(new) is not None


def _fits(route: Route, request: Request) -> bool:
    if route.match is None or (route.tools is not None and route.tools != bool(request.tools)):
        return False
    parts: dict[str, Sequence[Message] | str] = {
        "first": request.messages[:1],
        "last": request.messages[-1:],
        "system": request.system,
    }
    part = parts.get(route.on, request.messages)
    return route.match.search(encode(part).decode()) is not None


def _new_text(messages: Sequence[Message]) -> str:
    """Join the text the model received since its last message: user text, tool results and system messages."""
    new: list[str] = []
    for message in reversed(messages):
        if message["role"] == "assistant":
            break
        new = [*(_said(block) for block in blocks(message)), *new]
    return "\n".join(new)


def _said(block: Block) -> str:
    if block["type"] != "tool_result":
        return str(block.get("text", ""))
    content = block.get("content", "")
    return content if isinstance(content, str) else "\n".join(_said(part) for part in content)
