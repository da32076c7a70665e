"""The life of a tool call: schema, PreToolUse, permission, the tool, PostToolUse or PostToolUseFailure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from hookwright.agent.state.actor import Actor, Caller, calling
from hookwright.agent.state.updates import ToolEnded
from hookwright.agent.tools import Tool, ToolResult, failed, never_ran, unknown_tool
from hookwright.agent.transcript import CallContext
from hookwright.agent.turn.consent import Consent, RefusedCall, ToolRequest, permit
from hookwright.agent.turn.surroundings import after_tool
from hookwright.models.types import Block
from hookwright.protocol.events import PostToolUse, PostToolUseFailure, PreToolUse
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Defer, Deny, EndTurn, Outcome

NOT_RUN = "The tool was not run: a hook stopped the turn before it."
#: An error text for hooks is cut in the middle when it is longer.
ERROR_LIMIT = 10_000


class Handled(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one call."""

    #: The call as the model made it; defaults filled in and paths absolute where its input fits the tool.
    call: Block
    #: The result for the model; None for a call that was put off.
    block: Mapping[str, Json] | None
    #: What hooks have to say to the model, behind the results of the turn.
    texts: tuple[str, ...] = ()
    stop: EndTurn | None = None
    #: A denial that breaks the turn off.
    interrupts: bool = False


async def handle(actor: Actor, call: Block) -> Handled:
    """Take a call from the model's words to its result."""
    tool, arguments = _known(actor, call), call["input"]
    if tool is None:
        return _without_running(actor, call, unknown_tool(call["name"]))
    problem = tool.problem(arguments)
    if problem is None:
        arguments = tool.normalise(arguments, actor.bench.cwd, actor.session.home)
        call = {**call, "input": arguments}
        problem = tool.objection(arguments) if tool.objection is not None else None
    if problem is not None:
        return _without_running(actor, call, never_ran(problem))

    pre = await actor.fire(_event(PreToolUse, actor, tool, call, arguments))
    about = CallContext(call["id"], tool.name, arguments)
    texts = actor.dialogue.record_firing(pre, call["id"], about)
    if isinstance(pre.decision, Defer):
        return Handled(call=call, block=None)
    if pre.stop is not None and not isinstance(pre.decision, Deny):
        return _without_running(actor, call, ToolResult(NOT_RUN, NOT_RUN, is_error=True), texts, pre.stop)
    consent = await permit(actor, ToolRequest(tool, call["id"], arguments), pre)
    if isinstance(consent, RefusedCall):
        return _refused(actor, call, consent, (*texts, *consent.texts), pre.stop)
    return await _run(actor, tool, call, consent, texts)


async def _run(actor: Actor, tool: Tool, call: Block, consent: Consent, texts: list[str]) -> Handled:
    """Run the tool, put its result on disk, then let hooks look at it."""
    started = time.monotonic()
    result = await _carry_out(actor, tool, consent.arguments, call["id"])
    milliseconds = round((time.monotonic() - started) * 1000)
    block = _block(call, result)
    actor.dialogue.keep_result(block, result.response)
    post = await actor.fire(_post_event(actor, tool, call, consent.arguments, result, milliseconds))
    if not result.is_error:
        block, result = _rewritten(actor, tool, call, post, block, result)
    texts = [*texts, *consent.texts, *actor.dialogue.record_firing(post, call["id"])]
    texts += after_tool(actor, tool, consent.arguments, result)
    actor.session.tell(ToolEnded(tool.name, block, result.response, actor.parent_tool_use_id))
    return Handled(call=call, block=block, texts=tuple(texts), stop=post.stop)


async def _carry_out(actor: Actor, tool: Tool, arguments: dict[str, Json], call_id: str) -> ToolResult:
    calling.set(Caller(actor, call_id))
    try:
        return await tool.run(arguments, actor.bench)
    except asyncio.CancelledError:
        raise
    except Exception as error:  # a tool may be anybody's; one that breaks is told to the model and ends nothing
        return failed(f"{type(error).__name__}: {error}")


# ── events ──────────────────────────────────────────────────────────────────


def _event(cls: Any, actor: Actor, tool: Tool, call: Block, arguments: Mapping[str, Json], **fields: Any) -> Any:
    server = actor.session.server_of(tool.name)
    return actor.event(
        cls,
        tool_name=tool.name,
        tool_input=dict(arguments),
        tool_use_id=call["id"],
        mcp_server=UNSET if server is None else server,
        **fields,
    )


def _post_event(
    actor: Actor, tool: Tool, call: Block, arguments: dict[str, Json], result: ToolResult, milliseconds: int
) -> PostToolUse | PostToolUseFailure:
    if not result.is_error:
        response = result.response
        found = _event(PostToolUse, actor, tool, call, arguments, tool_response=response, duration_ms=milliseconds)
        assert isinstance(found, PostToolUse)
        return found
    fields = {"error": _error_text(result), "is_interrupt": result.interrupted, "duration_ms": milliseconds}
    failure = _event(PostToolUseFailure, actor, tool, call, arguments, **fields)
    assert isinstance(failure, PostToolUseFailure)
    return failure


def _error_text(result: ToolResult) -> str:
    text = plain(result.text)
    if len(text) <= ERROR_LIMIT:
        return text
    half = ERROR_LIMIT // 2
    return f"{text[:half]}\n... [{len(text) - 2 * half} characters truncated] ...\n{text[-half:]}"


def plain(content: Json) -> str:
    """Give the text of a result, whichever way it was written."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content)


# ── results ─────────────────────────────────────────────────────────────────


def _known(actor: Actor, call: Block) -> Tool | None:
    return actor.tools.get(call["name"])


def _block(call: Block, result: ToolResult) -> dict[str, Json]:
    block = {"type": "tool_result", "tool_use_id": call["id"], "content": result.text}
    return {**block, "is_error": True} if result.is_error else block


def _without_running(
    actor: Actor, call: Block, result: ToolResult, texts: list[str] | None = None, stop: EndTurn | None = None
) -> Handled:
    block = _block(call, result)
    actor.dialogue.keep_result(block, result.response)
    actor.session.tell(ToolEnded(call["name"], block, result.response, actor.parent_tool_use_id))
    return Handled(call=call, block=block, texts=tuple(texts or ()), stop=stop)


def _refused(actor: Actor, call: Block, refusal: RefusedCall, texts: tuple[str, ...], stop: EndTurn | None) -> Handled:
    handled = _without_running(
        actor, call, ToolResult(f"Error: {refusal.text}", refusal.text, is_error=True), list(texts), stop
    )
    if refusal.counts:
        actor.session.denials.append(
            {"tool_name": call["name"], "tool_use_id": call["id"], "tool_input": dict(call["input"])}
        )
    return msgspec.structs.replace(handled, interrupts=refusal.interrupts)


def _rewritten(
    actor: Actor, tool: Tool, call: Block, post: Outcome, block: dict[str, Json], result: ToolResult
) -> tuple[dict[str, Json], ToolResult]:
    """Take up a hook's rewrite of the output, if it has the tool's own shape; else the original stays, reported."""
    if post.updated_output is None:
        return block, result
    problem = tool.fits(post.updated_output)
    if problem is not None:
        actor.session.complain(post, f"updatedToolOutput is not used: {problem}")
        return block, result
    text = tool.render(post.updated_output)
    actor.dialogue.transcript.replace_result(call["id"], text)
    return {**block, "content": text}, ToolResult(post.updated_output, text)
