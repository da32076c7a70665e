"""Hooks in LangChain: `create_agent(model, tools, middleware=[HookwrightHooks(".")])`."""

from __future__ import annotations

import contextvars
import uuid
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, NotRequired, TypeAlias, Unpack

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import ModelRequest, PrivateStateAttr
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, RemoveMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.tracers.context import register_configure_hook
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from hookwright.adapters.bridge.bridge import Bridge, Choices
from hookwright.adapters.bridge.moments import Steps, awaited, waited
from hookwright.adapters.bridge.orders import Before, NativeCall
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.bridge.turn import Turn
from hookwright.adapters.langchain_values import (
    Answer,
    hosted,
    last_prompts,
    message_of,
    output_tools,
    replaced,
    results,
    text,
    user_messages,
    value,
)
from hookwright.config import Places
from hookwright.errors import HooksRefused

Context: TypeAlias = Runtime[Any]
Request: TypeAlias = ModelRequest[Any]
Update = dict[str, Any] | None

_DECISIONS = ["approve", "edit", "reject"]


class HookwrightState(AgentState[Any]):
    """The state of an agent, with the name of its run."""

    hookwright_run: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class _Run:
    """One run of an agent."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        #: Why a hook ended the run.
        self.ended: str | None = None
        #: What hooks decided about calls that are not over: a run that was paused executes a call from its beginning.
        self.orders: dict[str, Before] = {}
        #: The tools of structured output: the framework answers their calls, and nothing runs.
        self.outputs: frozenset[str] = frozenset()
        #: Tools that started inside tool calls of this run.
        self.started: list[SeenResult] = []


class HookwrightHooks(AgentMiddleware[HookwrightState, Any, Any]):
    """A middleware that runs the Claude Code hooks of a project; one instance serves any number of agents and runs.

    Put it first. Give subagents the same instance: what they do inside a tool call is then part of the conversation.
    """

    state_schema = HookwrightState

    def __init__(self, project: str | Places = ".", **choices: Unpack[Choices]) -> None:
        super().__init__()
        self.bridge = Bridge(project, **choices)
        self._runs: dict[str, _Run] = {}

    def close(self) -> None:
        """Fire SessionEnd for every conversation and stop the thread."""
        self.bridge.close()
        self._runs.clear()

    # ── the framework's methods, in both colours ────────────────────────────

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: HookwrightState, runtime: Context) -> Update:
        """Fire SessionStart and UserPromptSubmit; a refused prompt leaves the conversation and ends the run."""
        return waited(self._begin(state, runtime))

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: HookwrightState, runtime: Context) -> Update:
        """Do the same in an event loop."""
        return await awaited(self._begin(state, runtime))

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: HookwrightState, runtime: Context) -> Update:
        """Check that hooks saw every result, and add the texts that wait for the model."""
        return waited(self._request(state, runtime))

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: HookwrightState, runtime: Context) -> Update:
        """Do the same in an event loop."""
        return await awaited(self._request(state, runtime))

    def wrap_model_call(self, request: Request, handler: Callable[[Any], Any]) -> Any:
        """Report tools that are not mapped, and fire StopFailure after an error of the model."""
        return waited(self._model(request), handler)

    async def awrap_model_call(self, request: Request, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Do the same in an event loop."""
        return await awaited(self._model(request), handler)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]) -> Answer:
        """Fire PreToolUse, refuse or ask as hooks decide, else run the tool and fire PostToolUse."""
        answer: Answer = waited(self._tool(request), handler)
        return answer

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Do the same in an event loop."""
        answer: Answer = await awaited(self._tool(request), handler)
        return answer

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: HookwrightState, runtime: Context) -> Update:
        """Fire Stop; what hooks say then sends the agent back to work."""
        return waited(self._stop(state, runtime))

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: HookwrightState, runtime: Context) -> Update:
        """Do the same in an event loop."""
        return await awaited(self._stop(state, runtime))

    # ── the run ─────────────────────────────────────────────────────────────

    def _begin(self, state: HookwrightState, runtime: Context) -> Steps:
        messages = state["messages"]
        prompts = last_prompts(messages)
        name = str(uuid.uuid4())
        run = self._new(name, runtime, "resume" if len(messages) > len(prompts) else "startup")
        if not prompts:
            yield run.turn.later((yield run.turn.start()).notes)
            return {"hookwright_run": name}
        order = yield run.turn.prompt("\n".join(text(one) for one in prompts))
        if order.refusal is None:
            return {"hookwright_run": name, "messages": user_messages(order.notes)}
        run.ended = order.refusal
        removed = [RemoveMessage(id=one.id) for one in prompts if one.id is not None]
        return {"hookwright_run": name, "messages": [*removed, AIMessage(order.refusal)], "jump_to": "end"}

    def _new(self, name: str, runtime: Context, source: str) -> _Run:
        info = runtime.execution_info
        thread = info.thread_id if info is not None else None
        agent = (get_config().get("metadata") or {}).get("lc_agent_name") or "agent"
        run = _Run(self.bridge.turn(thread, agent=agent, source=source))
        self._runs[name] = run
        return run

    def _run(self, state: Any, runtime: Any) -> _Run:
        """Return the run of a state; one that another process began is continued as a new one.

        A graph that was not made by `create_agent` has no name for its run: its thread is the run.
        """
        name = state.get("hookwright_run") if isinstance(state, Mapping) else None
        info = runtime.execution_info
        name = name or (info and (info.thread_id or info.run_id)) or str(uuid.uuid4())
        return self._runs.get(name) or self._new(name, runtime, "resume")

    def _stop(self, state: HookwrightState, runtime: Context) -> Steps:
        run = self._run(state, runtime)
        messages = state["messages"]
        order = None
        if run.ended is None:
            last = next((one for one in reversed(messages) if isinstance(one, AIMessage)), None)
            said = text(last) if last is not None else ""
            order = yield run.turn.stop(said, [*hosted(messages[-1:]), *_taken(run.started)])
        if order is not None and order.again:
            return {"messages": user_messages(order.again), "jump_to": "model"}
        self._runs.pop(state.get("hookwright_run", ""), None)
        return None

    # ── model calls ─────────────────────────────────────────────────────────

    def _request(self, state: HookwrightState, runtime: Context) -> Steps:
        run = self._run(state, runtime)
        if run.ended is None:
            messages = state["messages"]
            seen = [*results(messages, run.outputs), *hosted(messages), *_taken(run.started)]
            order = yield run.turn.request(seen)
            if order.refusal is not None:
                raise HooksRefused(order.refusal)
            run.ended = order.stop
            if order.stop is None:
                return {"messages": user_messages(order.notes)} if order.notes else None
        return {"messages": [AIMessage(run.ended)], "jump_to": "end"}

    def _model(self, request: Request) -> Steps:
        run = self._run(request.state, request.runtime)
        self.bridge.check({one.name: tuple(one.args) for one in request.tools if isinstance(one, BaseTool)})
        run.outputs = output_tools(request.response_format)
        try:
            return (yield request)
        except GraphBubbleUp:
            raise
        except Exception as error:  # a model's client raises what it likes; hooks hear of it and the caller gets it
            yield run.turn.broke(str(error) or type(error).__name__)
            raise

    # ── tools ───────────────────────────────────────────────────────────────

    def _tool(self, request: ToolCallRequest) -> Steps:
        run = self._run(request.state, request.runtime)
        call = NativeCall(request.tool_call["name"], dict(request.tool_call["args"]), str(request.tool_call["id"]))
        order = run.orders.get(call.id)
        if order is None:
            order = yield run.turn.pre(call)
            run.orders[call.id] = order
        if order.refusal is None and order.ask is not None:
            call, order = yield from _asked(run, call, order)
        run.ended = order.stop or run.ended
        if order.refusal is None:
            changed = {**request.tool_call, "args": dict(order.input)}
            kept = order.input == request.tool_call["args"]
            answer = yield from _executed(run, request if kept else request.override(tool_call=changed), call)
        else:
            answer = _refused(call, order)
        run.orders.pop(call.id, None)
        return answer


def _asked(run: _Run, call: NativeCall, order: Before) -> Generator[Any, Any, tuple[NativeCall, Before]]:
    """Pause in the shape of HumanInTheLoopMiddleware; anything that is not an approval refuses the call."""
    request = {"name": call.name, "args": dict(order.input), "description": order.ask}
    review = {"action_name": call.name, "allowed_decisions": _DECISIONS}
    answer = interrupt({"action_requests": [request], "review_configs": [review]})
    given = (answer.get("decisions") if isinstance(answer, Mapping) else None) or [{}]
    match given[0]:
        case {"type": "approve"}:
            return call, (yield run.turn.resume(call))
        case {"type": "edit", "edited_action": {"name": call.name, "args": Mapping() as args}}:
            edited = NativeCall(call.name, dict(args), call.id)
            return edited, (yield run.turn.resume(edited))
        case other:
            said = other.get("message") if isinstance(other, Mapping) else None
            reason = str(said or "The call was not approved.")
            yield run.turn.denied(call, reason)
            return call, Before(refusal=reason, input=call.input)


def _executed(run: _Run, request: ToolCallRequest, call: NativeCall) -> Steps:
    try:
        with run.turn.inside(), _watched(run):
            answer = yield request
    except GraphBubbleUp:
        raise
    except Exception as error:  # whatever a tool raises is a failure that hooks hear of; the framework handles it
        run.orders.pop(call.id, None)
        after = yield run.turn.failed(call, str(error) or type(error).__name__)
        yield run.turn.later(after.notes)
        raise
    message = message_of(answer, call.id)
    if message is not None and message.status == "error":
        after = yield run.turn.failed(call, text(message))
    else:
        after = yield run.turn.post(call, value(message))
    run.ended = after.stop or run.ended
    if message is None:
        yield run.turn.later(after.notes)
        return answer
    return replaced(answer, message, after)


def _refused(call: NativeCall, order: Before) -> ToolMessage:
    said = "\n\n".join([order.refusal or "", *order.notes])
    return ToolMessage(said, name=call.name, tool_call_id=call.id, status="error")


# ── tools that start inside a tool call ─────────────────────────────────────


class _Watch(BaseCallbackHandler):
    """Notes every tool call that starts inside a tool call of a run, also in agents that do not have these hooks."""

    run_inline = True

    def __init__(self, run: _Run) -> None:
        self._run = run

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, **fields: Any) -> None:  # noqa: ARG002
        """Note a call of a model; a tool that a function calls itself has no id."""
        call_id = fields.get("tool_call_id")
        if call_id:
            self._run.started.append(SeenResult(str(call_id), str((serialized or {}).get("name") or "a tool")))


#: The watch of the tool call in this context.
_watching: contextvars.ContextVar[_Watch | None] = contextvars.ContextVar("hookwright_watch", default=None)
register_configure_hook(_watching, inheritable=True)


@contextmanager
def _watched(run: _Run) -> Iterator[None]:
    token = _watching.set(_Watch(run))
    try:
        yield
    finally:
        _watching.reset(token)


def _taken(started: list[SeenResult]) -> list[SeenResult]:
    taken = started[:]
    del started[: len(taken)]
    return taken
