"""The life of a tool call: schema, PreToolUse, permission, the tool, PostToolUse or PostToolUseFailure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import msgspec

from hookwright.agent.permissions.commands import only_reads_there
from hookwright.agent.state.actor import Actor, Caller, calling
from hookwright.agent.state.updates import CallDenied, ToolEnded
from hookwright.agent.tools import Effect, ToolResult, failed, never_ran, unknown_tool
from hookwright.agent.transcript import CallContext
from hookwright.agent.turn.consent import RefusedCall, ToolRequest, denied_file, permit, rewrite
from hookwright.agent.turn.surroundings import after_tool
from hookwright.models.types import Block
from hookwright.protocol.events import PostToolUse, PostToolUseFailure, PreToolUse
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Defer, Deny, EndTurn, Outcome
from hookwright.visibility import NOT_RUN

#: An error text for hooks is cut in the middle when it is longer.
ERROR_LIMIT = 10_000
#: Tools that the list of denials has under another name.
_LISTED = {"Agent": "Task"}


class Handled(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call."""

    #: The call as the model made it, with defaults filled in where its input fits the tool.
    call: Block
    #: The result for the model; None for a deferred call.
    block: Mapping[str, Json] | None
    stop: EndTurn | None = None
    #: A denial that interrupts the turn.
    interrupts: bool = False


def changes_nothing(actor: Actor, call: Block) -> bool:
    """Return whether a call may run beside others like it: it only reads, after `cd` or not, or it names no tool."""
    tool = actor.tools.get(call["name"])
    if tool is None or tool.effect is Effect.READ or tool.concurrent:
        return True
    command = call["input"].get("command") if isinstance(call["input"], dict) else None
    if tool.effect is not Effect.SHELL or not isinstance(command, str):
        return False
    return only_reads_there(command, actor.context.cwd, actor.session.permissions.workspace)


async def handle(actor: Actor, call: Block) -> Handled:
    """Take a call from the model's request to its result."""
    request = _checked(actor, call)
    if isinstance(request, Handled):
        return request
    pre = await actor.fire(request.event(PreToolUse))
    context = CallContext(request.id, request.tool.name, request.arguments)
    if _is_void(request, pre):
        actor.dialogue.record_unread(pre, request.id, context)
    else:
        request.record(pre, context)
    if isinstance(pre.decision, Defer):
        return Handled(call=request.call, block=None)
    if pre.stop is not None and not isinstance(pre.decision, Deny):
        result = ToolResult(NOT_RUN, NOT_RUN, is_error=True)
        return _without_running(actor, request.call, result, pre.stop, "hook")
    permitted = await permit(request, pre)
    if isinstance(permitted, RefusedCall):
        return _refused(request, permitted, pre.stop)
    return await _run(permitted)


def _is_void(request: ToolRequest, pre: Outcome) -> bool:
    """Return whether a rewrite that does not fit the tool refuses the call; nothing else of the hooks then applies."""
    if isinstance(pre.decision, Deny | Defer):
        return False
    return isinstance(rewrite(request, pre.updated_input, "PreToolUse"), RefusedCall)


def _checked(actor: Actor, call: Block) -> ToolRequest | Handled:
    """Check the call against the tool's schema; no hook sees a call that does not pass."""
    tool, arguments = actor.tools.get(call["name"]), call["input"]
    if tool is None:
        return _without_running(actor, call, unknown_tool(call["name"]))
    arguments = tool.coerced(arguments)
    problem = tool.problem(arguments)
    if problem is not None:
        return _without_running(actor, call, never_ran(problem))
    arguments = tool.with_defaults(arguments)
    request = ToolRequest(actor, tool, {**call, "input": arguments}, arguments, actor.context.cwd)
    problem = denied_file(request)
    if problem is not None:
        _list_denial(request)
    elif tool.objection is not None:
        problem = tool.objection(request.resolved)
    if problem is not None:
        return _without_running(actor, request.call, never_ran(problem))
    return request


async def _run(request: ToolRequest) -> Handled:
    """Run the tool, write its result to disk, then fire its hooks."""
    actor, tool = request.actor, request.tool
    started = time.monotonic()
    result = await _call_tool(request)
    milliseconds = round((time.monotonic() - started) * 1000)
    block = _block(request.call, result)
    name = actor.dialogue.keep_result(block, result.response)
    original = block
    post = await actor.fire(_post_event(request, result, milliseconds))
    if not result.is_error:
        block, result = _rewritten(request, post, block, result)
    if result.instructions:
        actor.dialogue.add_note(result.instructions)
    request.record(post)
    for text in after_tool(actor, tool, request.arguments, result):
        actor.dialogue.add_note(text)
    parent = actor.role.parent_tool_use_id
    # Of an MCP tool hosts see what the server answered; the model reads what hooks made of it.
    shown = block if actor.session.server_of(tool.name) is None else original
    actor.session.tell(ToolEnded(tool.name, shown, result.response, parent, name, result.instructions))
    return Handled(call=request.call, block=block, stop=post.stop)


async def _call_tool(request: ToolRequest) -> ToolResult:
    calling.set(Caller(request.actor, request.id))
    try:
        with request.actor.context.at(request.cwd) as context:
            result = await request.tool.run(request.resolved, context)
        return request.tool.echoed(result, request.written)
    except asyncio.CancelledError:
        raise
    except Exception as error:  # a tool may be third-party code; its failure is a result for the model
        return failed(f"{type(error).__name__}: {error}")


# ── events ──────────────────────────────────────────────────────────────────


def _post_event(request: ToolRequest, result: ToolResult, milliseconds: int) -> PostToolUse | PostToolUseFailure:
    if not result.is_error:
        return request.event(PostToolUse, tool_response=result.response, duration_ms=milliseconds)
    return request.event(
        PostToolUseFailure, error=_error_text(result), is_interrupt=result.interrupted, duration_ms=milliseconds
    )


def _error_text(result: ToolResult) -> str:
    text = plain(result.text)
    if len(text) <= ERROR_LIMIT:
        return text
    half = ERROR_LIMIT // 2
    return f"{text[:half]}\n... [{len(text) - 2 * half} characters truncated] ...\n{text[-half:]}"


def plain(content: Json) -> str:
    """Return the text of a result, whichever way it was written."""
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text", "")) for block in content)


# ── results ─────────────────────────────────────────────────────────────────


def _block(call: Block, result: ToolResult) -> dict[str, Json]:
    block = {"type": "tool_result", "tool_use_id": call["id"], "content": result.text}
    return {**block, "is_error": True} if result.is_error else block


def _without_running(
    actor: Actor, call: Block, result: ToolResult, stop: EndTurn | None = None, refused_by: str | None = None
) -> Handled:
    block = _block(call, result)
    name = actor.dialogue.keep_result(block, result.response, refused_by)
    actor.session.tell(ToolEnded(call["name"], block, result.response, actor.role.parent_tool_use_id, name))
    return Handled(call=call, block=block, stop=stop)


def _refused(request: ToolRequest, refusal: RefusedCall, stop: EndTurn | None) -> Handled:
    actor, call = request.actor, request.call
    result = ToolResult(f"Error: {refusal.text}", refusal.text, is_error=True)
    if refusal.by is not None and refusal.told:
        identity = actor.identity
        denied = CallDenied(
            tool_name=call["name"],
            tool_use_id=call["id"],
            by=refusal.by,
            message=refusal.text,
            agent_id=identity.agent_id if identity is not None else None,
        )
        actor.session.tell(denied)
    handled = _without_running(actor, call, result, stop, refusal.source)
    if refusal.counts:
        _list_denial(request, refusal.input)
    return msgspec.structs.replace(handled, interrupts=refusal.interrupts)


def _list_denial(request: ToolRequest, refused: Mapping[str, Json] | None = None) -> None:
    name, arguments = request.tool.name, request.arguments if refused is None else dict(refused)
    denied = {"tool_name": _LISTED.get(name, name), "tool_use_id": request.id, "tool_input": arguments}
    request.actor.session.state.deny(denied)


def _rewritten(
    request: ToolRequest, post: Outcome, block: dict[str, Json], result: ToolResult
) -> tuple[dict[str, Json], ToolResult]:
    """Apply a hook's rewrite of the output if it has the tool's own shape; else keep the original and report it."""
    if post.updated_output is None:
        return block, result
    tool, actor = request.tool, request.actor
    problem = tool.fits(post.updated_output)
    if problem is not None:
        actor.session.complain(post, f"updatedToolOutput is not used: {problem}")
        return block, result
    text = tool.render(post.updated_output)
    actor.dialogue.transcript.replace_result(request.id, text)
    return {**block, "content": text}, msgspec.structs.replace(result, response=post.updated_output, text=text)
