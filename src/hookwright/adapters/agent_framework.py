"""Hooks in Microsoft Agent Framework: `Agent(client=…, middleware=HookwrightHooks(".").middleware)`."""

from __future__ import annotations

import contextvars
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias, Unpack

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    AgentResponse,
    AgentResponseUpdate,
    ChatContext,
    ChatMiddleware,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    Message,
    MiddlewareFailure,
    MiddlewareTermination,
    ResponseStream,
)
from agent_framework.exceptions import ChatClientException, UserInputRequiredException

from hookwright.adapters.bridge.bridge import Bridge, Choices
from hookwright.adapters.bridge.orders import Before, NativeCall
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.bridge.turn import Turn
from hookwright.config import Places
from hookwright.errors import HooksRefused
from hookwright.protocol.jsontext import Json

Next = Callable[[], Awaitable[None]]
Response: TypeAlias = AgentResponse[Any]
Stream: TypeAlias = ResponseStream[AgentResponseUpdate, Response]

#: Contents that record a tool that the provider ran itself.
_HOSTED = (
    "code_interpreter_tool_call",
    "image_generation_tool_call",
    "mcp_server_tool_call",
    "search_tool_call",
    "shell_tool_call",
    "computer_tool_call",
)


class _Run:
    """One run of an agent."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        #: Why a hook ended the run.
        self.ended: str | None = None
        #: Messages that hooks added to requests of this run, each with its place.
        self.added: list[tuple[int, Message]] = []


#: The run in progress in this context.
_running: contextvars.ContextVar[_Run | None] = contextvars.ContextVar("hookwright_run", default=None)


class HookwrightHooks:
    """The Claude Code hooks of a project; one instance serves any number of agents and runs.

    Give subagents the same instance: what they do inside a tool call is then part of the conversation.
    """

    def __init__(self, project: str | Places = ".", **choices: Unpack[Choices]) -> None:
        self.bridge = Bridge(project, **choices)

    @property
    def middleware(self) -> list[AgentMiddleware | FunctionMiddleware | ChatMiddleware]:
        """The middleware of an agent: three parts that only work together, so give an agent all of them."""
        return [_Runs(self.bridge), _Calls(), _Requests(self.bridge)]

    def close(self) -> None:
        """Fire SessionEnd for every conversation and stop the thread."""
        self.bridge.close()


# ── the run ─────────────────────────────────────────────────────────────────


class _Runs(AgentMiddleware):
    """Fires SessionStart, UserPromptSubmit and Stop around a run."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def process(self, context: AgentContext, call_next: Next) -> None:
        """Run the agent until its hooks let it stop."""
        run = await self._begun(context)
        if context.stream:
            updates = _chained(run, context, call_next, await _streamed(run, context, call_next))
            context.result = ResponseStream(updates, finalizer=AgentResponse.from_updates)
            return None
        while True:
            async with _within(run):
                await call_next()
            assert isinstance(context.result, AgentResponse), "a run that is not streamed has a response"
            if run.ended is not None:
                context.result.messages.append(Message("assistant", [run.ended]))
            if not await _sent_back(run, context, context.result):
                return await _left(run, context, context.result)

    async def _begun(self, context: AgentContext) -> _Run:
        session = context.session
        name = getattr(context.agent, "name", None) or "agent"
        turn = self._bridge.turn(
            session.session_id if session is not None else None,
            agent=name,
            source="resume" if session is not None and session.state else "startup",
        )
        text = "\n".join(message.text for message in context.messages if message.role == "user" and message.text)
        if text:
            order = await turn.prompt(text)
            if order.refusal is not None:
                raise HooksRefused(order.refusal)
            context.messages = [*context.messages, *_messages(order.notes)]
        else:  # the run continues with the answer of a person
            await turn.later((await turn.start()).notes)
        return _Run(turn)


async def _streamed(run: _Run, context: AgentContext, call_next: Next) -> Stream:
    async with _within(run):
        await call_next()
    assert isinstance(context.result, ResponseStream), "a run that is streamed has a stream"
    return context.result


async def _chained(
    run: _Run, context: AgentContext, call_next: Next, stream: Stream
) -> AsyncIterator[AgentResponseUpdate]:
    """Yield the updates of a run, and of each run that stop hooks ask for."""
    while True:
        updates = aiter(stream)
        while True:
            async with _within(run):
                update = await anext(updates, None)
            if update is None:
                break
            yield update
        if run.ended is not None:
            yield AgentResponseUpdate(contents=[Content.from_text(run.ended)], role="assistant")
        response = await stream.get_final_response()
        if not await _sent_back(run, context, response):
            await _left(run, context, response)
            return
        stream = await _streamed(run, context, call_next)


async def _sent_back(run: _Run, context: AgentContext, response: Response) -> bool:
    """Fire Stop; return whether hooks send the agent back to work, with the messages of its next run."""
    if run.ended is not None or response.user_input_requests:
        return False
    order = await run.turn.stop(response.text, hosted(response.messages))
    if not order.again:
        return False
    history = [] if context.session is not None else [*context.messages, *response.messages]
    context.messages = [*history, *_messages(order.again)]
    run.added.clear()
    return True


async def _left(run: _Run, context: AgentContext, response: Response) -> None:
    """End a conversation that cannot continue: a run without a session that waits for no one."""
    if context.session is None and not run.turn.agent_id and not response.user_input_requests:
        await run.turn.end()


def _current() -> _Run:
    """Return the run of this context; raise MiddlewareFailure where there is none, since hooks could not be asked."""
    run = _running.get()
    if run is None:
        raise MiddlewareFailure("hooks cannot be asked outside a run: give the agent all of HookwrightHooks.middleware")
    return run


@asynccontextmanager
async def _within(run: _Run) -> AsyncIterator[None]:
    """Let middleware find the run; an error of the model's API fires StopFailure."""
    token = _running.set(run)
    try:
        yield
    except ChatClientException as error:
        await run.turn.broke(str(error))
        raise
    finally:
        _running.reset(token)


# ── model calls ─────────────────────────────────────────────────────────────


class _Requests(ChatMiddleware):
    """Checks that hooks saw every result, and adds the texts that wait for the model."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    async def process(self, context: ChatContext, call_next: Next) -> None:
        """Fire PostToolBatch, then call the model."""
        run = _current()
        self._bridge.check(dict(_offered(context.options)))
        order = await run.turn.request([*results(context.messages), *hosted(context.messages)])
        if order.refusal is not None:
            raise HooksRefused(order.refusal)
        if order.stop is not None:
            run.ended = order.stop
            raise MiddlewareTermination(order.stop)
        run.added += [(len(context.messages), message) for message in _messages(order.notes)]
        messages = list(context.messages)
        for place, message in reversed(run.added):
            messages.insert(min(place, len(messages)), message)
        context.messages = messages
        await call_next()


def _offered(options: Mapping[str, Json] | None) -> Iterator[tuple[str, Sequence[str]]]:
    for tool in (options or {}).get("tools") or ():
        parameters = getattr(tool, "parameters", None)
        if callable(parameters):
            yield tool.name, tuple(parameters().get("properties", ()))


def results(messages: Sequence[Message]) -> Iterator[SeenResult]:
    """Yield the results of function calls."""
    contents = [content for message in messages for content in message.contents]
    names = {one.call_id: one.name for one in contents if one.type == "function_call"}
    for one in contents:
        if one.type == "function_result" and one.call_id is not None:
            yield SeenResult(one.call_id, names.get(one.call_id) or "a tool")


def hosted(messages: Sequence[Message]) -> Iterator[SeenResult]:
    """Yield the calls that the provider ran itself."""
    for message in messages:
        for one in message.contents:
            if one.type in _HOSTED or (one.type == "function_call" and one.informational_only):
                name = one.tool_name or one.name or one.type.removesuffix("_tool_call")
                yield SeenResult(one.call_id or one.id or name, name)


# ── tools ───────────────────────────────────────────────────────────────────


class _Calls(FunctionMiddleware):
    """Fires PreToolUse, PostToolUse and PostToolUseFailure around a function."""

    async def process(self, context: FunctionInvocationContext, call_next: Next) -> None:
        """Refuse or ask as PreToolUse decides, else run the function."""
        run = _current()
        native = arguments(context.arguments)
        call = NativeCall(context.function.name, native, str(context.metadata.get("call_id")))
        approved = context.metadata.get("approval_response") is not None
        order = await (run.turn.resume(call) if approved else run.turn.pre(call))
        if order.stop is not None:
            run.ended = order.stop
        if order.refusal is not None:
            context.result = [Content.from_text(text) for text in (order.refusal, *order.notes)]
        elif order.ask is not None:
            context.result = _question(call, order, context.metadata.get("function_call_occurrence_id") or call.id)
            raise MiddlewareTermination(order.ask)
        else:
            if order.input != native:
                context.arguments = dict(order.input)
            await _executed(run, context, call, call_next)
        if run.ended is not None:
            raise MiddlewareTermination(run.ended)


async def _executed(run: _Run, context: FunctionInvocationContext, call: NativeCall, call_next: Next) -> None:
    try:
        with run.turn.inside():
            await call_next()
    except (MiddlewareFailure, MiddlewareTermination, UserInputRequiredException):
        raise
    except Exception as error:  # whatever a function raises is a failure that hooks hear of; the framework handles it
        after = await run.turn.failed(call, str(error) or type(error).__name__)
        await run.turn.later(after.notes)
        raise
    after = await run.turn.post(call, value(context.result))
    if after.stop is not None:
        run.ended = after.stop
    if after.rewritten or after.notes:
        kept = [Content.from_text(_text(after.output))] if after.rewritten else contents(context.result)
        context.result = [*kept, *(Content.from_text(text) for text in after.notes)]


def arguments(given: Json) -> dict[str, Json]:
    """Return the arguments of a function as a mapping."""
    return dict(given) if isinstance(given, Mapping) else dict(given.model_dump())


def value(result: Json) -> Json:
    """Return a result as hooks read it: its text, if it has nothing else."""
    if isinstance(result, list) and all(isinstance(one, Content) and one.type == "text" for one in result):
        return "".join(one.text or "" for one in result)
    return result


def contents(result: Json) -> list[Content]:
    """Return a result as contents, as the framework would."""
    if isinstance(result, list) and all(isinstance(one, Content) for one in result):
        return result
    return [result] if isinstance(result, Content) else [Content.from_text(_text(result))]


def _question(call: NativeCall, order: Before, occurrence: str) -> Content:
    """Build the framework's own question; the approved call runs with the input that hooks wrote."""
    written = json.dumps(dict(order.input))
    asked = Content.from_function_call(call_id=call.id, name=call.name, arguments=written, id=occurrence)
    about = {"reason": order.ask}
    return Content.from_function_approval_request(id=occurrence, function_call=asked, additional_properties=about)


def _messages(texts: Sequence[str]) -> list[Message]:
    return [Message("user", [text]) for text in texts]


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
