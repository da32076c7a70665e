"""Hooks in Pydantic AI: `Agent(model, capabilities=[HookwrightHooks(".")])`."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, Unpack

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelAPIError, SkipModelRequest, ToolFailed
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import DeferredToolRequests, ToolDefinition
from pydantic_graph import End

from hookwright.adapters.bridge.bridge import Bridge, Choices
from hookwright.adapters.bridge.orders import Before, NativeCall
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.bridge.turn import Turn
from hookwright.config import Places
from hookwright.errors import HooksRefused
from hookwright.protocol.jsontext import Json

#: What the framework returns for a call it did not run, because the run already had its result.
_NOT_EXECUTED = ("Tool not executed", "Output tool not used")


#: The context of a run with any dependencies.
Context: TypeAlias = RunContext[Any]
#: What the framework passes to the next capability, whatever its tools and outputs are.
Handler = Callable[..., Awaitable[Any]]


class HookwrightHooks(AbstractCapability[Any]):
    """A capability that runs the Claude Code hooks of a project; one instance serves any number of agents and runs.

    Give subagents the same instance: what they do inside a tool call is then part of the conversation.
    """

    def __init__(self, project: str | Places = ".", **choices: Unpack[Choices]) -> None:
        self.bridge = Bridge(project, **choices)
        self._turn: Turn | None = None
        #: What hooks decided about the calls of this run, by id.
        self._orders: dict[str, Before] = {}
        #: Why a hook ended the run.
        self._ended: str | None = None

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Return None: hooks are not part of a serialised agent."""
        return None

    def close(self) -> None:
        """Fire SessionEnd for every conversation and stop the thread."""
        self.bridge.close()

    # ── the run ─────────────────────────────────────────────────────────────

    async def for_run(self, ctx: Context) -> HookwrightHooks:
        """Return a copy with the state of one run."""
        run = copy.copy(self)
        source = "resume" if ctx.messages else "startup"
        name = getattr(ctx.agent, "name", None) or "agent"
        run._turn = self.bridge.turn(ctx.conversation_id, agent=name, source=source)
        run._orders, run._ended = {}, None
        return run

    @property
    def turn(self) -> Turn:
        """The run that this copy belongs to."""
        assert self._turn is not None, "hooks of a run are called on the copy of that run"
        return self._turn

    async def wrap_run(self, ctx: Context, *, handler: Handler) -> Json:
        """Fire SessionStart and UserPromptSubmit before the run, and StopFailure after an error of the model."""
        if ctx.prompt is not None:
            order = await self.turn.prompt(prompt_text(ctx.prompt))
            if order.refusal is not None:
                raise HooksRefused(order.refusal)
            await self.turn.later(order.notes)
        else:  # the run continues with an answer of a person, or from its history
            await self.turn.later((await self.turn.start()).notes)
        try:
            return await handler()
        except ModelAPIError as error:
            await self.turn.broke(str(error))
            raise

    async def prepare_tools(self, ctx: Context, tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:  # noqa: ARG002
        """Report tools that look like one of Claude's and are not mapped."""
        self.bridge.check({one.name: _fields(one) for one in tool_defs})
        return tool_defs

    async def before_model_request(self, ctx: Context, request_context: Json) -> Json:
        """Check that hooks saw every result, and add the texts that wait for the model."""
        if self._ended is not None:
            raise SkipModelRequest(_said(self._ended))
        outputs = {tool.name for tool in request_context.model_request_parameters.output_tools}
        order = await self.turn.request([*results(ctx.messages, outputs), *hosted(ctx.messages)])
        if order.refusal is not None:
            raise HooksRefused(order.refusal)
        if order.stop is not None:
            self._ended = order.stop
            raise SkipModelRequest(_said(order.stop))
        _enqueue(ctx, order.notes)
        return request_context

    async def after_node_run(self, ctx: Context, *, node: Json, result: Json) -> Json:  # noqa: ARG002
        """Fire Stop where the run would end; what hooks say then sends the agent back to work."""
        if not isinstance(result, End) or self._ended is not None:
            return result
        output = getattr(result.data, "output", None)
        if isinstance(output, DeferredToolRequests):
            return result
        order = await self.turn.stop(_text(output, ctx.messages), hosted(ctx.messages))
        _enqueue(ctx, order.again)
        return result

    # ── tools ───────────────────────────────────────────────────────────────

    async def wrap_tool_validate(
        self, ctx: Context, *, call: ToolCallPart, tool_def: ToolDefinition, args: Json, handler: Handler
    ) -> Json:
        """Fire PreToolUse for a valid call; what hooks made of it is validated again."""
        valid = await handler(args)
        if tool_def.kind == "output":
            return valid
        asked = _call(call)
        if ctx.tool_call_approved:
            order = await self.turn.resume(asked)
        else:
            order = await self.turn.pre(asked)
        self._orders[call.tool_call_id] = order
        if order.refusal is not None or order.input == asked.input:
            return valid
        return await handler(dict(order.input))

    async def wrap_tool_execute(
        self, ctx: Context, *, call: ToolCallPart, tool_def: ToolDefinition, args: Json, handler: Handler
    ) -> Json:
        """Refuse or ask as PreToolUse decided, else run the tool and fire PostToolUse or PostToolUseFailure."""
        if tool_def.kind == "output":
            return await handler(args)
        order = self._orders.pop(call.tool_call_id, None) or await self._late(_call(call))
        if order.stop is not None:
            self._ended = order.stop
        if order.refusal is not None:
            _enqueue(ctx, order.notes)
            raise ToolFailed(order.refusal)
        if order.ask is not None:
            raise ApprovalRequired(metadata={"reason": order.ask, "input": dict(order.input)})
        return await self._executed(ctx, _call(call), args, handler)

    async def _late(self, call: NativeCall) -> Before:
        """Ask hooks about a call that was validated elsewhere; what they rewrite cannot be validated any more."""
        order = await self.turn.pre(call)
        if order.refusal is not None or order.input == call.input:
            return order
        return Before(input=call.input, refusal="A hook rewrote this call after it was validated, so it did not run.")

    async def _executed(self, ctx: Context, call: NativeCall, args: Json, handler: Handler) -> Json:
        try:
            with self.turn.inside():
                output = await handler(args)
        except (ApprovalRequired, CallDeferred):
            raise
        except Exception as error:  # whatever a tool raises is a failure that hooks hear of; the framework handles it
            after = await self.turn.failed(call, str(error) or type(error).__name__)
            _enqueue(ctx, after.notes)
            raise
        value = output.return_value if isinstance(output, ToolReturn) else output
        after = await self.turn.post(call, value)
        _enqueue(ctx, after.notes)
        if after.stop is not None:
            self._ended = after.stop
        if not after.rewritten:
            return output
        if isinstance(output, ToolReturn):  # its further content may hold what the hook took out of the result
            return ToolReturn(return_value=after.output, metadata=output.metadata)
        return after.output


# ── between the framework's values and ours ─────────────────────────────────


def prompt_text(prompt: str | Sequence[object]) -> str:
    """Return the text of a prompt; without its images and documents."""
    return prompt if isinstance(prompt, str) else "\n".join(part for part in prompt if isinstance(part, str))


def results(messages: Sequence[ModelMessage], outputs: set[str]) -> Iterator[SeenResult]:
    """Yield the results of tools, except output tools and calls that the framework did not run."""
    for message in messages:
        for part in message.parts if isinstance(message, ModelRequest) else ():
            if isinstance(part, ToolReturnPart) and _ran(part, outputs):
                yield SeenResult(part.tool_call_id, part.tool_name)


def hosted(messages: Sequence[ModelMessage]) -> Iterator[SeenResult]:
    """Yield the calls that the provider ran itself."""
    for message in messages:
        for part in message.parts if isinstance(message, ModelResponse) else ():
            if isinstance(part, NativeToolCallPart):
                yield SeenResult(part.tool_call_id, part.tool_name)


def _ran(part: ToolReturnPart[Any], outputs: set[str]) -> bool:
    skipped = isinstance(part.content, str) and part.content.startswith(_NOT_EXECUTED)
    return part.tool_name not in outputs and part.outcome in ("success", "failed") and not skipped


def _call(call: ToolCallPart) -> NativeCall:
    return NativeCall(call.tool_name, call.args_as_dict(), call.tool_call_id)


def _fields(tool: ToolDefinition) -> Mapping[str, Json]:
    found = tool.parameters_json_schema.get("properties")
    return found if isinstance(found, dict) else {}


def _enqueue(ctx: Context, texts: Sequence[str]) -> None:
    if texts:
        ctx.enqueue(*(UserPromptPart(text) for text in texts))


def _said(text: str) -> ModelResponse:
    return ModelResponse([TextPart(text)], model_name="hookwright")


def _text(output: Json, messages: Sequence[ModelMessage]) -> str:
    """Return the answer as text: the output if it is one, else the text of the last response."""
    if isinstance(output, str):
        return output
    last = next((one for one in reversed(messages) if isinstance(one, ModelResponse)), None)
    said = "".join(part.content for part in last.parts if isinstance(part, TextPart)) if last is not None else ""
    return said or str(output)
