"""Hooks in Strands: `Agent(model=…, tools=…, hooks=[HookwrightHooks(".")])`."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Unpack

from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AfterToolCallEvent,
    AfterToolsEvent,
    BeforeInvocationEvent,
    BeforeModelCallEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)

from hookwright.adapters.bridge.bridge import Bridge, Choices
from hookwright.adapters.bridge.orders import Before, NativeCall
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.bridge.turn import Turn
from hookwright.config import Places
from hookwright.errors import ConfigError, HooksRefused
from hookwright.protocol.jsontext import Json
from hookwright.protocol.samples import new_session_id

#: Answers of a person that let a call run.
_YES = ("approve", "approved", "yes", "y", "true")
_NOT_APPROVED = "The call was not approved."


class _Run:
    """One run of an agent, until no person has to answer for it any more."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        #: Why a hook ended the run.
        self.ended: str | None = None
        #: Whether stop hooks sent the agent back to work, so that its next input is theirs.
        self.again = False
        #: What the model raised, if its last call failed.
        self.failure: str | None = None
        #: What hooks decided about calls that are not over: a call that waits for a person begins again.
        self.orders: dict[str, Before] = {}
        #: Calls that run, by id; an agent that starts inside one is a subagent.
        self.open: dict[str, AbstractContextManager[None]] = {}


class HookwrightHooks(HookProvider):
    """A hook provider that runs the Claude Code hooks of a project; one instance serves any number of agents and runs.

    Give subagents the same instance: what they do inside a tool call is then part of the conversation.
    """

    def __init__(self, project: str | Places = ".", **choices: Unpack[Choices]) -> None:
        self.bridge = Bridge(project, **choices)
        #: Agent → its run, and the id of its conversation.
        self._runs: weakref.WeakKeyDictionary[Any, _Run] = weakref.WeakKeyDictionary()
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:  # noqa: ARG002 - the framework's signature
        """Register a callback for each moment."""
        registry.add_callback(BeforeInvocationEvent, self._begin)
        registry.add_callback(BeforeModelCallEvent, self._request)
        registry.add_callback(AfterModelCallEvent, self._answered)
        registry.add_callback(BeforeToolCallEvent, self._before_tool)
        registry.add_callback(AfterToolCallEvent, self._after_tool)
        registry.add_callback(AfterToolsEvent, self._after_tools)
        registry.add_callback(AfterInvocationEvent, self._stop)

    def close(self) -> None:
        """Fire SessionEnd for every conversation and stop the thread."""
        self.bridge.close()
        self._runs.clear()

    # ── the run ─────────────────────────────────────────────────────────────

    async def _begin(self, event: BeforeInvocationEvent) -> None:
        """Fire SessionStart and UserPromptSubmit; a refused prompt does not reach the conversation."""
        self._check(event.agent)
        run = self._runs.get(event.agent)
        if run is not None and run.again:
            run.again = False
            return
        text = prompt_text(event.messages or ())
        if run is not None and not text:  # the run continues with the answer of a person
            return
        run = self._new(event.agent)
        if not text:
            await run.turn.later((await run.turn.start()).notes)
            return
        order = await run.turn.prompt(text)
        if order.refusal is not None:
            run.ended = event.cancel = order.refusal
        elif order.notes:
            event.messages = with_texts(event.messages or (), order.notes)

    def _new(self, agent: Any) -> _Run:
        manager = getattr(agent, "_session_manager", None)
        name = getattr(manager, "session_id", None) or self._names.setdefault(agent, new_session_id())
        source = "resume" if agent.messages else "startup"
        run = _Run(self.bridge.turn(str(name), agent=getattr(agent, "name", None) or "agent", source=source))
        self._runs[agent] = run
        return run

    def _run(self, agent: Any) -> _Run:
        """Return the run of an agent; a tool that the program calls itself belongs to a run of its own."""
        return self._runs.get(agent) or self._new(agent)

    async def _stop(self, event: AfterInvocationEvent) -> None:
        """Fire Stop; what hooks say then is the next input of the agent. Fire StopFailure if the model failed."""
        run = self._run(event.agent)
        for name in list(run.open):
            _leave(run, name)
        if event.result is not None and event.result.stop_reason == "interrupt":
            return
        if event.result is None:
            if run.failure is not None:
                await run.turn.broke(run.failure)
        elif run.ended is None:
            order = await run.turn.stop(message_text(event.result.message))
            if order.again:
                run.again = True
                event.resume = "\n\n".join(order.again)
                return
        self._runs.pop(event.agent, None)

    # ── model calls ─────────────────────────────────────────────────────────

    async def _request(self, event: BeforeModelCallEvent) -> None:
        """Check that hooks saw every result, and add the texts that wait to the last message of the user."""
        run = self._run(event.agent)
        messages = event.agent.messages
        if run.ended is None:
            order = await run.turn.request(results(messages))
            if order.refusal is not None:
                raise HooksRefused(order.refusal)
            run.ended = order.stop
            if order.notes:
                messages[:] = with_texts(messages, order.notes)
        if run.ended is not None:
            event.cancel = run.ended

    async def _answered(self, event: AfterModelCallEvent) -> None:
        """Note whether the model failed; the framework may call it again."""
        error = event.exception
        self._run(event.agent).failure = None if error is None else str(error) or type(error).__name__

    # ── tools ───────────────────────────────────────────────────────────────

    async def _before_tool(self, event: BeforeToolCallEvent) -> None:
        """Fire PreToolUse, refuse or ask as hooks decide."""
        run = self._run(event.agent)
        call = call_of(event.tool_use)
        order = run.orders.get(call.id)
        if order is None:
            order = await run.turn.pre(call)
            run.orders[call.id] = order
        if order.refusal is None and order.ask is not None:
            order = await _asked(run, event, call, order)
        run.ended = order.stop or run.ended
        if order.refusal is not None:
            event.cancel_tool = "\n\n".join([order.refusal, *order.notes])
            return
        if order.input != call.input:
            event.tool_use = {**event.tool_use, "input": dict(order.input)}
        run.open[call.id] = run.turn.inside()
        run.open[call.id].__enter__()

    async def _after_tool(self, event: AfterToolCallEvent) -> None:
        """Fire PostToolUse or PostToolUseFailure."""
        run = self._run(event.agent)
        call = call_of(event.tool_use)
        order = run.orders.pop(call.id, None)
        if call.id not in run.open:  # hooks, or a person, refused it
            return None
        _leave(run, call.id)
        call = NativeCall(call.name, order.input if order is not None else call.input, call.id)
        if event.cancel_message is not None:  # another hook of the program refused it
            return await run.turn.denied(call, event.cancel_message)
        if event.exception is not None or event.result.get("status") == "error":
            after = await run.turn.failed(call, str(event.exception or value(event.result)))
        else:
            after = await run.turn.post(call, value(event.result))
        run.ended = after.stop or run.ended
        if after.rewritten or after.notes:
            kept = [{"text": _text(after.output)}] if after.rewritten else list(event.result["content"])
            fields = {} if after.rewritten else event.result
            known = {"toolUseId": event.result["toolUseId"], "status": event.result["status"]}
            event.result = {**fields, **known, "content": [*kept, *_blocks(after.notes)]}
        return None

    async def _after_tools(self, event: AfterToolsEvent) -> None:
        """End the run if a hook did."""
        run = self._run(event.agent)
        if run.ended is not None:
            event.end_turn = run.ended

    # ── what hooks do not see ───────────────────────────────────────────────

    def _check(self, agent: Any) -> None:
        """Report tools that are not mapped, agents without these hooks, and tools that the provider runs."""
        specs = agent.tool_registry.get_all_tool_specs()
        self.bridge.check({spec["name"]: _fields(spec) for spec in specs})
        texts = [*_open_agents(agent, self), *_provider_tools(agent.model)]
        if texts and self.bridge.setup.strict:
            raise ConfigError("\n".join(texts))
        for text in texts:
            self.bridge.say(text)


def _leave(run: _Run, call_id: str) -> None:
    """End a tool call: agents that start from here on are not part of it."""
    with suppress(ValueError):  # the call ran in a task of its own, which is over with all that was set in it
        run.open.pop(call_id).__exit__(None, None, None)


async def _asked(run: _Run, event: BeforeToolCallEvent, call: NativeCall, order: Before) -> Before:
    """Pause with the framework's interrupt; anything that is not an approval refuses the call."""
    about = {"question": order.ask, "tool": call.name, "input": dict(order.input)}
    answer = event.interrupt("hookwright", reason=about)
    given = answer.get("approved") if isinstance(answer, Mapping) else answer
    if given is True or (isinstance(given, str) and given.strip().lower() in _YES):
        return await run.turn.resume(call)
    reason = answer if isinstance(answer, str) and len(answer) > 3 else _NOT_APPROVED
    await run.turn.denied(call, reason)
    return Before(refusal=reason, input=call.input)


def _open_agents(agent: Any, hooks: HookwrightHooks) -> Iterator[str]:
    for name, tool in agent.tool_registry.registry.items():
        inner = getattr(tool, "agent", None)
        if inner is not None and hasattr(inner, "hooks") and not _has(inner.hooks, hooks):
            yield (
                f"the agent of the tool `{name}` does not have these hooks: they do not see what it does. "
                "Give it the same `HookwrightHooks` instance with hooks=[…]."
            )


def _has(registry: Any, hooks: HookwrightHooks) -> bool:
    found = registry.get_callbacks_for(BeforeToolCallEvent(None, None, {"name": "", "toolUseId": "", "input": {}}, {}))
    return any(getattr(one, "__self__", None) is hooks for one in found)


def _provider_tools(model: Any) -> Iterator[str]:
    """Yield what to say about tools of the provider: its answers do not name them, so no result can be compared."""
    config = model.get_config() or {}
    params = config.get("params") or {}
    for tool in (*(config.get("anthropic_tools") or ()), *(params.get("tools") or ())):
        name = tool.get("name") or tool.get("type") if isinstance(tool, Mapping) else None
        yield f"the provider runs the tool `{name}` itself: these hooks do not see it."


# ── between the framework's values and ours ─────────────────────────────────


def call_of(use: Mapping[str, Any]) -> NativeCall:
    """Return a call as the bridge knows it."""
    given = use["input"]
    return NativeCall(use["name"], dict(given) if isinstance(given, Mapping) else {"input": given}, use["toolUseId"])


def results(messages: Sequence[Mapping[str, Any]]) -> Iterator[SeenResult]:
    """Yield the results of tools; an error is not judged: the framework writes errors for calls it did not run."""
    blocks = [block for message in messages for block in message["content"]]
    names = {block["toolUse"]["toolUseId"]: block["toolUse"]["name"] for block in blocks if "toolUse" in block}
    for block in blocks:
        result = block.get("toolResult")
        if result is not None and result.get("status") != "error":
            yield SeenResult(result["toolUseId"], names.get(result["toolUseId"]) or "a tool")


def prompt_text(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a prompt; images and documents are left out."""
    return "\n".join(text for one in messages if one["role"] == "user" and (text := message_text(one)))


def message_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message."""
    return "\n".join(block["text"] for block in message["content"] if "text" in block)


def with_texts(messages: Sequence[Any], texts: Sequence[str]) -> list[Any]:
    """Return messages with texts of hooks in the last one; providers want the roles to alternate."""
    *before, last = [*messages] or [{"role": "user", "content": []}]
    if last["role"] != "user":
        return [*messages, {"role": "user", "content": _blocks(texts)}]
    return [*before, {**last, "content": [*last["content"], *_blocks(texts)]}]


def value(result: Mapping[str, Any]) -> Json:
    """Return a result as hooks read it: its text, if it has nothing else."""
    content = result["content"]
    if all(set(one) == {"text"} for one in content):
        return "\n".join(one["text"] for one in content)
    return content


def _blocks(texts: Sequence[str]) -> list[dict[str, str]]:
    return [{"text": text} for text in texts]


def _fields(spec: Mapping[str, Any]) -> tuple[str, ...]:
    schema = spec.get("inputSchema") or {}
    return tuple((schema.get("json") or schema).get("properties") or ())


def _text(given: Json) -> str:
    return given if isinstance(given, str) else json.dumps(given, default=str)
