"""Hooks in Google ADK: `App(name=…, root_agent=…, plugins=[HookwrightHooks(".")])`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, Unpack

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from hookwright.adapters.bridge.bridge import Bridge, Choices
from hookwright.adapters.bridge.orders import NativeCall
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.bridge.turn import Turn
from hookwright.adapters.google_adk_values import (
    ANSWER,
    ASKING,
    CONTINUE,
    Result,
    answered_by_hooks,
    arguments_of,
    executed,
    fields_of,
    from_model,
    from_user,
    grounded,
    misfit,
    of_a_tool,
    parts_of,
    results,
    value,
    with_notes,
    without_continue,
)
from hookwright.config import Places
from hookwright.errors import ConfigError, HooksRefused
from hookwright.protocol.jsontext import Json

WAITING = "This tool call waits for the approval of a person."
REJECTED = "A person rejected this tool call."
#: What replaces a prompt that hooks refused, so that the session does not keep it.
REFUSED_PROMPT = "[A hook refused this prompt.]"

Arguments: TypeAlias = dict[str, Any]


class _Run:
    """One invocation of the framework."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        #: Why hooks refused the prompt.
        self.refused: str | None = None
        #: Why a hook ended the run.
        self.ended: str | None = None
        #: Calls that a hook answered instead of the tool.
        self.answered: set[str] = set()
        #: Contexts of calls that run: an agent that starts in one is a subagent.
        self.inside: dict[str, AbstractContextManager[None]] = {}
        #: What hooks added to the requests of this run, each with its place.
        self.added: list[tuple[int, types.Content]] = []
        #: Calls that the provider ran itself in the last answer.
        self.hosted: list[SeenResult] = []


class HookwrightHooks(BasePlugin):
    """A plugin that runs the Claude Code hooks of a project; one instance serves any number of agents and sessions."""

    def __init__(self, project: str | Places = ".", **choices: Unpack[Choices]) -> None:
        super().__init__(name="hookwright")
        self.bridge = Bridge(project, **choices)
        self._runs: dict[str, _Run] = {}

    async def close(self) -> None:
        """Fire SessionEnd for every conversation and stop the thread; `Runner.close()` calls it."""
        await self.bridge.aclose()

    # ── the run ─────────────────────────────────────────────────────────────

    def _begun(self, context: InvocationContext) -> _Run:
        run = self._runs.get(context.invocation_id)
        if run is None:
            source = "resume" if context.session.events else "startup"
            turn = self.bridge.turn(context.session.id, agent=context.agent.name, source=source)
            run = self._runs[context.invocation_id] = _Run(turn)
        return run

    def _run_of(self, context: CallbackContext) -> _Run:
        return self._begun(context._invocation_context)

    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        """Fire UserPromptSubmit, or PostToolUse for the late results of long-running tools."""
        run = self._begun(invocation_context)
        parts = user_message.parts or []
        if any(part.function_response for part in parts):
            await run.turn.later((await run.turn.start()).notes)
            changed = [await self._late(run, invocation_context, part) for part in parts]
            return types.Content(role=user_message.role, parts=changed) if changed != parts else None
        order = await run.turn.prompt("\n".join(part.text for part in parts if part.text))
        if order.refusal is not None:
            run.refused = order.refusal
            return types.Content(role="user", parts=[types.Part(text=REFUSED_PROMPT)])
        if order.notes:
            return types.Content(role="user", parts=[*parts, *(types.Part(text=text) for text in order.notes)])
        return None

    async def _late(self, run: _Run, context: InvocationContext, part: types.Part) -> types.Part:
        """Let hooks see a result that the program sends later than its tool returned."""
        found = part.function_response
        if found is None or found.name in ASKING or not found.id:
            return part
        call = NativeCall(found.name or "", arguments_of(found.id, context), found.id)
        run.turn.talk.ledger.fired(found.id)
        after = await run.turn.post(call, value(found.response))
        if not after.rewritten and not after.notes:
            return part
        result = with_notes(found.response, after)
        return types.Part(function_response=types.FunctionResponse(id=found.id, name=found.name, response=result))

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        """End a run whose prompt hooks refused."""
        run = self._begun(invocation_context)
        return from_model(run.refused) if run.refused is not None else None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Forget the run."""
        self._runs.pop(invocation_context.invocation_id, None)

    async def on_run_error_callback(
        self,
        *,
        invocation_context: InvocationContext,
        error: Exception,  # noqa: ARG002 - the framework's form
    ) -> None:
        """Forget a run that failed."""
        self._runs.pop(invocation_context.invocation_id, None)

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Check that hooks saw every result, also where no model request shows it, as in live mode."""
        found = [part.function_response for part in parts_of(event.content) if part.function_response]
        seen = [SeenResult(one.id, one.name or "a tool") for one in found if one.id and of_a_tool(one.name)]
        if seen:
            await self._begun(invocation_context).turn.seen(seen)
        return None

    # ── model calls ─────────────────────────────────────────────────────────

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Fire PostToolBatch, check that hooks saw every result, and add the texts that wait for the model."""
        run = self._run_of(callback_context)
        self._check(llm_request.tools_dict)
        contents = without_continue(llm_request.contents)
        if run.ended is not None:
            return answered_by_hooks(run.ended)
        hosted, run.hosted = run.hosted, []
        order = await run.turn.request([*results(contents), *executed(contents), *hosted])
        if order.refusal is not None:
            raise HooksRefused(order.refusal)
        if order.stop is not None:
            run.ended = order.stop
            return answered_by_hooks(order.stop)
        run.added += [(len(contents), from_user(text)) for text in order.notes]
        for place, content in reversed(run.added):
            contents.insert(min(place, len(contents)), content)
        llm_request.contents = contents
        llm_request.tools_dict[CONTINUE] = _Continue()
        return None

    def _check(self, tools: Mapping[str, BaseTool]) -> None:
        self.bridge.check({name: fields_of(tool) for name, tool in tools.items()})
        for name, tool in tools.items():
            if isinstance(tool, AgentTool) and not tool.include_plugins:
                text = (
                    f"the agent `{name}` runs without hooks: its AgentTool has include_plugins=False. Remove that, or "
                    "guard the call of the agent itself."
                )
                if self.bridge.setup.strict:
                    raise ConfigError(text)
                self.bridge.say(text)

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Fire Stop for a final answer; a hook that sends the agent back to work adds a call to it."""
        run = self._run_of(callback_context)
        if llm_response.partial or run.ended is not None or run.refused is not None:
            return None
        run.hosted += grounded(llm_response)
        parts = parts_of(llm_response.content)
        calls = [part.function_call for part in parts if part.function_call]
        if llm_response.error_code is not None or any(one.name != ANSWER for one in calls):
            return None
        said = "".join(part.text for part in parts if part.text and not part.thought)
        answer = said or "".join(str(dict(one.args or {})) for one in calls)
        hosted, run.hosted = run.hosted, []
        order = await run.turn.stop(answer, [*hosted, *executed([llm_response.content])])
        if not order.again:
            return None
        kept = [part for part in parts if not part.function_call] or [types.Part(text=answer)]
        back = types.FunctionCall(name=CONTINUE, args={"messages": list(order.again)})
        content = types.Content(role="model", parts=[*kept, types.Part(function_call=back)])
        return llm_response.model_copy(update={"content": content})

    async def on_model_error_callback(
        self,
        *,
        callback_context: CallbackContext,
        llm_request: LlmRequest,  # noqa: ARG002 - as above
        error: Exception,
    ) -> LlmResponse | None:
        """Fire StopFailure; the framework raises the error."""
        await self._run_of(callback_context).turn.broke(str(error) or type(error).__name__)
        return None

    # ── tools ───────────────────────────────────────────────────────────────

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: Arguments, tool_context: ToolContext
    ) -> Result | None:
        """Fire PreToolUse; an answer takes the place of the tool's."""
        if tool.name == CONTINUE:
            return None
        if isinstance(tool, AgentTool):
            self.bridge.table.note_agent(tool.name)
        run, call = self._run_of(tool_context), _call(tool, tool_args, tool_context)
        confirmation = tool_context.tool_confirmation
        if confirmation is not None and not confirmation.confirmed:
            await run.turn.denied(call, REJECTED)
            return _instead(run, call, [REJECTED])
        order = await (run.turn.pre(call) if confirmation is None else run.turn.resume(call))
        if order.stop is not None:
            run.ended = order.stop
        if order.refusal is not None:
            return _instead(run, call, [order.refusal, *order.notes])
        if order.ask is not None:
            tool_context.request_confirmation(hint=order.ask, payload={"input": dict(order.input)})
            tool_context.actions.skip_summarization = True
            return _instead(run, call, [WAITING])
        if order.input != call.input:
            problem = misfit(tool, order.input)
            if problem is not None:
                await run.turn.failed(call, problem)
                return _instead(run, call, [problem])
            tool_args.clear()
            tool_args.update(order.input)
        run.inside[call.id] = inside = run.turn.inside()
        inside.__enter__()
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: Arguments, tool_context: ToolContext, result: Any
    ) -> Result | None:
        """Fire PostToolUse for a result that the tool gave."""
        run, call = self._run_of(tool_context), _call(tool, tool_args, tool_context)
        if tool.name == CONTINUE or call.id in run.answered:
            run.answered.discard(call.id)
            return None
        _leave(run, call)
        if result is None and tool.is_long_running:  # its result is sent later, as a message of the user
            return None
        after = await run.turn.post(call, value(result))
        if after.stop is not None:
            run.ended = after.stop
        return with_notes(result, after) if after.rewritten or after.notes else None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: Arguments, tool_context: ToolContext, error: BaseException
    ) -> Result | None:
        """Fire PostToolUseFailure; the framework handles the error."""
        run, call = self._run_of(tool_context), _call(tool, tool_args, tool_context)
        _leave(run, call)
        if not isinstance(error, asyncio.CancelledError):
            after = await run.turn.failed(call, str(error) or type(error).__name__)
            await run.turn.later(after.notes)
        return None


class _Continue(BaseTool):
    """Returns what a Stop hook said; the next request shows it to the model as a message of the user."""

    def __init__(self) -> None:
        super().__init__(name=CONTINUE, description="")

    async def run_async(self, *, args: Arguments, tool_context: ToolContext) -> Any:  # noqa: ARG002 - as above
        """Return the messages."""
        return {"messages": args.get("messages", [])}


def _instead(run: _Run, call: NativeCall, texts: Sequence[str]) -> Result:
    run.answered.add(call.id)
    return {"error": "\n".join(texts)}


def _leave(run: _Run, call: NativeCall) -> None:
    inside = run.inside.pop(call.id, None)
    if inside is not None:
        inside.__exit__(None, None, None)


def _call(tool: BaseTool, arguments: Mapping[str, Json], context: ToolContext) -> NativeCall:
    return NativeCall(tool.name, dict(arguments), context.function_call_id or "")
