"""Run Python callables: callbacks for any event, functions for the end of a turn."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from hookwright.errors import CallbackGone
from hookwright.protocol.answers import answer_of, to_wire
from hookwright.protocol.handlers import CallbackHandler, FunctionHandler
from hookwright.protocol.job import Job
from hookwright.protocol.jsontext import Json
from hookwright.protocol.replies import Answered, Failed, Failure, Judged, Reply
from hookwright.protocol.wire import callback_answer, payload


class Signal:
    """Set when a callable's run was cancelled; cheap to poll from any thread."""

    __slots__ = ("aborted",)

    def __init__(self) -> None:
        self.aborted = False


class CallbackContext(msgspec.Struct, frozen=True):
    """What a callback receives in addition to the event."""

    signal: Signal
    index: int
    tool_use_id: str | None


async def run_callback(job: Job) -> Reply:
    """Call a callback with the arguments its signature asks for.

    One parameter gets the typed event. Two get the event and a CallbackContext. Three are the Agent SDK's form
    `(input, tool_use_id, context)`, four the older `(input, tool_use_id, signal, index)`; both get the wire dict.
    """
    handler = job.handler
    assert isinstance(handler, CallbackHandler)
    signal = Signal()
    tool_use_id = getattr(job.event, "tool_use_id", None)
    context = CallbackContext(signal, job.index, tool_use_id if isinstance(tool_use_id, str) else None)
    arguments = _arguments(handler.function, job, context)
    try:
        value = await _call(handler.function, arguments, signal)
    except asyncio.CancelledError:
        raise
    except CallbackGone as error:
        return Failed(Failure.CONNECTION, str(error))
    except Exception as error:  # a callback is the hook author's code, which may raise anything
        return Failed(Failure.EXCEPTION, f"{type(error).__name__}: {error}")
    return _reply(value, job)


def _reply(value: Json, job: Job) -> Reply:
    if value is None:
        return Answered({})
    if isinstance(value, Mapping):
        return Answered(callback_answer(value))
    answer = answer_of(value)
    if answer is not None:
        return Answered(to_wire(answer, job.event))
    return Failed(Failure.ANSWER, f"a callback must return a dict, an answer or None, not {type(value).__name__}")


def _arguments(function: Callable[..., Any], job: Job, context: CallbackContext) -> tuple[Json, ...]:
    count = _shape(function).parameters
    if count == 0:
        return ()
    if count == 1:
        return (job.event,)
    if count == 2:
        return (job.event, context)
    if count == 3:
        return (payload(job.event), context.tool_use_id, context)
    return (payload(job.event), context.tool_use_id, context.signal, context.index)


class _Shape(msgspec.Struct, frozen=True):
    """How to call a callable: its positional parameters without a default, and whether it is a coroutine function."""

    parameters: int
    is_async: bool


@functools.lru_cache(maxsize=1024)
def _shape(function: Callable[..., Any]) -> _Shape:
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return _Shape(1, is_async)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return _Shape(sum(p.kind in kinds and p.default is p.empty for p in parameters), is_async)


async def _call(function: Callable[..., Any], arguments: Sequence[Json], signal: Signal) -> Any:
    """Await a coroutine function on the loop; run a plain one in a thread, so its time limit is enforced.

    A thread cannot be ended: after a cancellation a plain function keeps running with its signal set, and its result
    is ignored.
    """
    try:
        if _shape(function).is_async:
            return await function(*arguments)
        value = await asyncio.to_thread(function, *arguments)
        return await value if inspect.isawaitable(value) else value
    except asyncio.CancelledError:
        signal.aborted = True
        raise


class FunctionExecutor:
    """Runs predicates over the conversation at the end of a turn (R-161 … R-168)."""

    def __init__(self, messages: Callable[[], Sequence[Mapping[str, Json]]] | None) -> None:
        self._messages = messages

    async def __call__(self, job: Job) -> Reply:
        """Call the function; outside the end of a turn, or without messages, fail instead."""
        handler = job.handler
        assert isinstance(handler, FunctionHandler)
        if not job.event.rules.ends_turn or self._messages is None:
            way_out = "register it for Stop or SubagentStop, and pass Powers(messages=...)"
            return Failed(Failure.UNSUPPORTED, f"a function handler needs the conversation at a turn's end; {way_out}")
        signal = Signal()
        try:
            ok = await _call(handler.function, (list(self._messages()), signal), signal)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # a function is the hook author's code, which may raise anything
            return Failed(Failure.EXCEPTION, f"{type(error).__name__}: {error}")
        return Judged(True) if ok else Judged(False, handler.error_message)
