"""May a call run? The hooks' word, the rules and the mode, then PermissionRequest hooks and whoever can be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import assert_never

import msgspec
from msgspec import UNSET

from hookwright.agent.permissions import AskUser, By, Classify, Permit, Refuse, ToolCall
from hookwright.agent.state.actor import Actor
from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.agent.tools import Tool
from hookwright.protocol.events import PermissionDenied, PermissionRequest
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Deny, Outcome
from hookwright.protocol.sources import Scope
from hookwright.visibility import Form, Reader, for_reader

RETRY = "The PermissionDenied hook indicated you may retry this tool call."


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """The call may run, with these arguments."""

    arguments: dict[str, Json]
    #: What hooks on the way have to say to the model.
    texts: tuple[str, ...] = ()


class RefusedCall(msgspec.Struct, frozen=True, kw_only=True):
    """The call may not run; the model reads why."""

    text: str
    texts: tuple[str, ...] = ()
    #: Listed among the denials of the result; an administrator's denials are not.
    counts: bool = True
    interrupts: bool = False


class ToolRequest(msgspec.Struct, frozen=True):
    """A call that somebody must decide about."""

    tool: Tool
    id: str
    arguments: dict[str, Json]

    def at(self, cwd: str) -> ToolCall:
        """Describe it for the rules."""
        return ToolCall.of(self.tool, self.arguments, cwd)


async def permit(actor: Actor, wish: ToolRequest, pre: Outcome) -> Consent | RefusedCall:
    """Decide about a call on the input that hooks left it with.

    Law: a hook's denial stands in every mode; a hook's allow spares the question and nothing else, so deny and ask
    rules still count; a hook's ask asks, and where nobody can be asked it denies with its own reason.
    """
    if isinstance(pre.decision, Deny):
        return _denied_by_hook(pre)
    rewritten = _rewritten(actor, wish, pre.updated_input, "PreToolUse")
    if isinstance(rewritten, RefusedCall):
        return rewritten
    call = rewritten.at(actor.bench.cwd)
    verdict = actor.session.permissions.decide(call, pre.decision, actor.mode)
    match verdict:
        case Permit():
            return Consent(arguments=rewritten.arguments)
        case Refuse(text=text):
            return RefusedCall(text=text)
        case Classify():
            return await _classified(actor, rewritten)
        case AskUser():
            return await _asked(actor, rewritten, verdict, pre)
    assert_never(verdict)


def _denied_by_hook(pre: Outcome) -> RefusedCall:
    said = [message.text for message in for_reader(pre, Reader.MODEL) if message.form is Form.TOOL_ERROR]
    text = "\n".join(said)
    denying = [run for run in pre.runs if isinstance(run.verdict.decision, Deny)]
    if any(run.handler.source.scope is Scope.MANAGED for run in denying):
        return RefusedCall(text=f"<tool_use_error>{text}</tool_use_error>", counts=False)
    return RefusedCall(text=text)


def _rewritten(
    actor: Actor, wish: ToolRequest, update: Mapping[str, Json] | None, event: str
) -> ToolRequest | RefusedCall:
    """Check a hook's rewrite of the input as if the model had written it."""
    if update is None:
        return wish
    tool = wish.tool
    problem = tool.problem(dict(update))
    if problem is not None:
        return RefusedCall(
            text=f"{event} hook for {tool.name} returned updatedInput that failed schema validation: {problem}. The "
            "tool input from the model was valid; the hook's rewrite of it was not."
        )
    return ToolRequest(tool, wish.id, tool.normalise(dict(update), actor.bench.cwd, actor.session.home))


# ── asking ──────────────────────────────────────────────────────────────────


async def _asked(actor: Actor, wish: ToolRequest, verdict: AskUser, pre: Outcome) -> Consent | RefusedCall:
    """Let PermissionRequest hooks answer, then the person; nobody to ask is a denial."""
    session = actor.session
    if verdict.by is By.HOOK and session.person.permit is None:
        return RefusedCall(text=verdict.reason)
    outcome = await actor.fire(
        actor.event(
            PermissionRequest,
            tool_name=wish.tool.name,
            tool_input=wish.arguments,
            permission_suggestions=list(verdict.suggestions) if verdict.suggestions else UNSET,
            mcp_server=session.server_of(wish.tool.name) or UNSET,
        )
    )
    texts = tuple(actor.dialogue.record_firing(outcome, wish.id))
    match outcome.decision:
        case Deny(reason=reason, interrupt=interrupt):
            return RefusedCall(text=reason, texts=texts, interrupts=interrupt)
        case Allow():
            allowed = _allowed(actor, wish, outcome, texts)
            if not isinstance(allowed, AskUser):
                return allowed
            verdict = allowed
    if session.person.permit is None:
        return RefusedCall(text=verdict.reason, texts=texts)
    reply = await _noticed(actor, _question(actor, wish, verdict, pre))
    return _replied(actor, wish, reply, texts)


def _allowed(
    actor: Actor, wish: ToolRequest, outcome: Outcome, texts: tuple[str, ...]
) -> Consent | RefusedCall | AskUser:
    """A hook said yes: deny and ask rules are above it, also over its rewrite; its updates count from now on."""
    rewritten = _rewritten(actor, wish, outcome.updated_input, "PermissionRequest")
    if isinstance(rewritten, RefusedCall):
        return rewritten
    held = actor.session.permissions.guard(rewritten.at(actor.bench.cwd))
    if isinstance(held, Refuse):
        return RefusedCall(text=held.text, texts=texts)
    if held is not None:
        return held
    actor.session.update_permissions_of_hook(outcome.fields.get("updated_permissions", ()))
    return Consent(arguments=rewritten.arguments, texts=texts)


def _question(actor: Actor, wish: ToolRequest, verdict: AskUser, pre: Outcome) -> PermissionQuestion:
    asked = [message.text for message in for_reader(pre, Reader.USER) if message.form is Form.QUESTION]
    return PermissionQuestion(
        tool_name=wish.tool.name,
        tool_input=wish.arguments,
        tool_use_id=wish.id,
        reason="\n".join(asked) or verdict.reason,
        suggestions=verdict.suggestions,
        agent_id=actor.identity.agent_id if actor.identity is not None else None,
    )


async def _noticed(actor: Actor, question: PermissionQuestion) -> Permission:
    """Ask the person, and send a notification when the question is left waiting (R-345)."""
    session = actor.session
    assert session.person.permit is not None

    async def nudge() -> None:
        await asyncio.sleep(session.options.question_notice)
        session.notify(f"Hookwright needs your permission to use {question.tool_name}", "permission_prompt")

    waiting = asyncio.ensure_future(nudge())
    try:
        return await session.person.permit(question)
    finally:
        waiting.cancel()


def _replied(actor: Actor, wish: ToolRequest, reply: Permission, texts: tuple[str, ...]) -> Consent | RefusedCall:
    if not reply.allow:
        text = reply.message or "The user does not want this tool call to be carried out."
        return RefusedCall(text=text, texts=texts, interrupts=reply.interrupt)
    actor.session.update_permissions_of_person(reply.updated_permissions)
    if reply.updated_input is None or dict(reply.updated_input) == wish.arguments:
        return Consent(arguments=wish.arguments, texts=texts)
    tool, update = wish.tool, dict(reply.updated_input)
    problem = tool.problem(update)
    if problem is not None:
        return RefusedCall(
            text=f"The host changed the input of {tool.name}, and it does not fit: {problem}", texts=texts
        )
    return Consent(arguments=tool.normalise(update, actor.bench.cwd, actor.session.home), texts=texts)


async def _classified(actor: Actor, wish: ToolRequest) -> Consent | RefusedCall:
    """Let auto mode's classifier decide; a denial goes to PermissionDenied hooks, which may let the model retry."""
    verdict = await actor.session.permissions.classify(wish.at(actor.bench.cwd))
    if isinstance(verdict, Permit):
        return Consent(arguments=wish.arguments)
    outcome = await actor.fire(
        actor.event(
            PermissionDenied,
            tool_name=wish.tool.name,
            tool_input=wish.arguments,
            tool_use_id=wish.id,
            reason=verdict.text,
            mcp_server=actor.session.server_of(wish.tool.name) or UNSET,
        )
    )
    texts = actor.dialogue.record_firing(outcome, wish.id)
    if outcome.fields.get("retry"):
        texts.append(RETRY)
    text = f"Permission for this action was denied in auto mode. Reason: {verdict.text}"
    return RefusedCall(text=text, texts=tuple(texts))
