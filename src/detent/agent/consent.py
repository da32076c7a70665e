"""May a call run? The hooks' word, the rules and the mode, then PermissionRequest hooks and whoever can be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, assert_never

import msgspec
from msgspec import UNSET

from detent.agent.actor import Actor
from detent.agent.classifier import classify
from detent.agent.permissions import AskUser, Classify, Permit, Refuse
from detent.agent.session import Question, Reply
from detent.agent.tools import Tool
from detent.events import PermissionDenied, PermissionRequest
from detent.outcome import Allow, Ask, Deny, Outcome
from detent.sources import Scope
from detent.visibility import Form, Reader, for_reader

RETRY = "The PermissionDenied hook indicated you may retry this tool call."


class Consent(msgspec.Struct, frozen=True, kw_only=True):
    """The call may run, with these arguments."""

    arguments: dict[str, Any]
    texts: tuple[str, ...] = ()


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """The call may not run; the model reads why."""

    text: str
    texts: tuple[str, ...] = ()
    #: Listed among the denials of the result; an administrator's denials are not.
    counts: bool = True
    interrupts: bool = False


async def permit(actor: Actor, tool: Tool, call_id: str, given: dict[str, Any], pre: Outcome) -> Consent | Refusal:
    """Decide about a call on the input that hooks left it with.

    Law: a hook's denial stands in every mode; a hook's allow spares the question and nothing else, so deny and ask
    rules still count; a hook's ask asks, and where nobody can be asked it denies with its own reason.
    """
    if isinstance(pre.decision, Deny):
        return _denied_by_hook(pre)
    arguments = _rewritten(actor, tool, given, pre.updated_input, "PreToolUse")
    if isinstance(arguments, Refusal):
        return arguments
    verdict = actor.judge(tool, arguments, pre.decision)
    match verdict:
        case Permit():
            return Consent(arguments=arguments)
        case Refuse(text=text):
            return Refusal(text=text)
        case Classify():
            return await _classified(actor, tool, call_id, arguments)
        case AskUser():
            return await _asked(actor, tool, call_id, arguments, verdict, pre)
    assert_never(verdict)


def _denied_by_hook(pre: Outcome) -> Refusal:
    said = [message.text for message in for_reader(pre, Reader.MODEL) if message.form is Form.TOOL_ERROR]
    text = "\n".join(said)
    denying = [run for run in pre.runs if isinstance(run.verdict.decision, Deny)]
    if any(run.handler.source.scope is Scope.MANAGED for run in denying):
        return Refusal(text=f"<tool_use_error>{text}</tool_use_error>", counts=False)
    return Refusal(text=text)


def _rewritten(
    actor: Actor, tool: Tool, given: dict[str, Any], update: Mapping[str, Any] | None, event: str
) -> dict[str, Any] | Refusal:
    """Check a hook's rewrite of the input as if the model had written it."""
    if update is None:
        return given
    problem = tool.problem(dict(update))
    if problem is not None:
        return Refusal(
            text=f"{event} hook for {tool.name} returned updatedInput that failed schema validation: {problem}. The "
            "tool input from the model was valid; the hook's rewrite of it was not."
        )
    return tool.normalise(dict(update), actor.bench.cwd, actor.session.home)


# ── asking ──────────────────────────────────────────────────────────────────


async def _asked(
    actor: Actor, tool: Tool, call_id: str, arguments: dict[str, Any], verdict: AskUser, pre: Outcome
) -> Consent | Refusal:
    """Let PermissionRequest hooks answer, then the person; nobody to ask is a denial."""
    person = actor.session.person.permit
    by_hook = isinstance(pre.decision, Ask)
    if by_hook and person is None:
        return Refusal(text=pre.reason or verdict.reason)
    outcome = await actor.fire(
        actor.event(
            PermissionRequest,
            tool_name=tool.name,
            tool_input=arguments,
            permission_suggestions=list(verdict.suggestions) if verdict.suggestions else UNSET,
            mcp_server=actor.session.server_of(tool.name) or UNSET,
        )
    )
    texts = tuple(actor.dialogue.keep_hooks(outcome, call_id))
    match outcome.decision:
        case Deny(reason=reason, interrupt=interrupt):
            return Refusal(text=reason, texts=texts, interrupts=interrupt)
        case Allow():
            return _allowed(actor, tool, arguments, outcome, texts)
    if person is None:
        return Refusal(text=verdict.reason, texts=texts)
    question = Question(
        tool_name=tool.name,
        tool_input=arguments,
        tool_use_id=call_id,
        reason=_question_text(pre, verdict),
        suggestions=verdict.suggestions,
        agent_id=actor.identity.agent_id if actor.identity is not None else None,
    )
    reply = await _noticed(actor, question)
    return _replied(actor, tool, arguments, reply, texts)


def _question_text(pre: Outcome, verdict: AskUser) -> str | None:
    asked = [message.text for message in for_reader(pre, Reader.USER) if message.form is Form.QUESTION]
    return "\n".join(asked) or verdict.reason


def _allowed(
    actor: Actor, tool: Tool, arguments: dict[str, Any], outcome: Outcome, texts: tuple[str, ...]
) -> Consent | Refusal:
    """A hook said yes: its rewrite is held against the rules once more, its updates count from now on."""
    rewritten = _rewritten(actor, tool, arguments, outcome.updated_input, "PermissionRequest")
    if isinstance(rewritten, Refusal):
        return rewritten
    if rewritten is not arguments:
        again = actor.judge(tool, rewritten, Allow())
        if isinstance(again, Refuse):
            return Refusal(text=again.text, texts=texts)
    actor.session.update_permissions(outcome.fields.get("updated_permissions", ()))
    return Consent(arguments=rewritten, texts=texts)


async def _noticed(actor: Actor, question: Question) -> Reply:
    """Ask the person, and send a notification when the question is left waiting (R-345)."""
    session = actor.session
    assert session.person.permit is not None

    async def nudge() -> None:
        await asyncio.sleep(session.options.question_notice)
        session.notify(f"Detent needs your permission to use {question.tool_name}", "permission_prompt")

    waiting = asyncio.ensure_future(nudge())
    try:
        return await session.person.permit(question)
    finally:
        waiting.cancel()


def _replied(
    actor: Actor, tool: Tool, arguments: dict[str, Any], reply: Reply, texts: tuple[str, ...]
) -> Consent | Refusal:
    if not reply.allow:
        text = reply.message or "The user does not want this tool call to be carried out."
        return Refusal(text=text, texts=texts, interrupts=reply.interrupt)
    actor.session.update_permissions(reply.updated_permissions)
    if reply.updated_input is None or dict(reply.updated_input) == arguments:
        return Consent(arguments=arguments, texts=texts)
    problem = tool.problem(dict(reply.updated_input))
    if problem is not None:
        return Refusal(text=f"The host changed the input of {tool.name}, and it does not fit: {problem}", texts=texts)
    return Consent(
        arguments=tool.normalise(dict(reply.updated_input), actor.bench.cwd, actor.session.home), texts=texts
    )


async def _classified(actor: Actor, tool: Tool, call_id: str, arguments: dict[str, Any]) -> Consent | Refusal:
    """Let auto mode's classifier decide; a denial goes to PermissionDenied hooks, which may let the model retry."""
    reason = await classify(actor, tool, arguments)
    if reason is None:
        return Consent(arguments=arguments)
    outcome = await actor.fire(
        actor.event(
            PermissionDenied,
            tool_name=tool.name,
            tool_input=arguments,
            tool_use_id=call_id,
            reason=reason,
            mcp_server=actor.session.server_of(tool.name) or UNSET,
        )
    )
    texts = actor.dialogue.keep_hooks(outcome, call_id)
    if outcome.fields.get("retry"):
        texts.append(RETRY)
    return Refusal(text=f"Permission for this action was denied in auto mode. Reason: {reason}", texts=tuple(texts))
