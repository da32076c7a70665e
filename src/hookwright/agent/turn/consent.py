"""Whether a call may run: the hooks' decision, the rules and the mode, then PermissionRequest hooks and the person."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, TypeVar, assert_never

import msgspec
from msgspec import UNSET

from hookwright.agent.permissions import AskUser, By, Classify, Permit, Refuse, ToolCall, hook_suggestions
from hookwright.agent.state.actor import Actor
from hookwright.agent.state.session import AskPermission, Permission, PermissionQuestion, Session
from hookwright.agent.tools import Effect, Tool
from hookwright.agent.tools.tool import INVALID
from hookwright.agent.transcript import CallContext
from hookwright.models.types import Block
from hookwright.protocol.events import Event, PermissionDenied, PermissionRequest, PreToolUse
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Defer, Deny, Outcome
from hookwright.protocol.sources import Scope
from hookwright.visibility import NOT_RUN, Form, Place, Reader, for_reader, model_texts

E = TypeVar("E", bound=Event)


class ToolRequest(msgspec.Struct, frozen=True):
    """A call whose input fits its tool. Hooks and the user may replace the arguments, never the call."""

    actor: Actor
    tool: Tool
    #: The call as the model made it, with defaults filled in.
    call: Block
    #: The input in force as the model or a hook wrote it.
    written: dict[str, Json]
    #: Where the call was made: its paths stay the same, whatever a call beside it does.
    cwd: str

    @property
    def arguments(self) -> dict[str, Json]:
        """The input as hooks see it: `file_path` absolute, defaults filled in."""
        return self.tool.normalise(self.written, self.cwd, self.actor.session.home)

    @property
    def resolved(self) -> dict[str, Json]:
        """The input as rules see it and the tool runs with it: every path absolute."""
        return self.tool.resolve(self.arguments, self.cwd, self.actor.session.home)

    @property
    def id(self) -> str:
        """The id of the call."""
        return str(self.call["id"])

    def using(self, arguments: dict[str, Json]) -> ToolRequest:
        """Return the request with another input."""
        return msgspec.structs.replace(self, written=self.tool.with_defaults(arguments))

    def record(self, outcome: Outcome, context: CallContext | None = None) -> None:
        """Write a firing about this call to disk."""
        self.actor.dialogue.record_firing(outcome, self.id, context)

    def event(self, cls: type[E], **fields: Any) -> E:
        """Build an event about this call."""
        return self.actor.event(
            cls,
            tool_name=self.tool.name,
            tool_input=dict(self.arguments),
            mcp_server=self.actor.session.server_of(self.tool.name) or UNSET,
            **({"tool_use_id": self.id} if "tool_use_id" in cls.__struct_fields__ else {}),
            **fields,
        )

    def for_rules(self) -> ToolCall:
        """Return the call as permission rules see it."""
        cwd, really = self.actor.context.cwd, self.tool.really
        return ToolCall.of(self.tool, self.resolved if really is None else really(self.resolved, cwd), cwd)


class RefusedCall(msgspec.Struct, frozen=True, kw_only=True):
    """The call may not run; the model reads why."""

    text: str
    #: Listed among the denials of the result; an administrator's denials are not.
    counts: bool = True
    #: The input that was refused, as hooks left it; None where it is the model's own.
    input: Mapping[str, Json] | None = None
    interrupts: bool = False
    #: What refused: `rule`, `hook`, `classifier` or `other`; None for a PreToolUse hook and for the user.
    by: str | None = None
    #: The stream has a line about it.
    told: bool = True
    #: The person said no, or changed the input to one that does not fit.
    by_person: bool = False

    @property
    def source(self) -> str:
        """What refused, as a transcript names it: `user`, `hook` or `config`."""
        if self.by_person:
            return "user"
        return "hook" if self.by in (None, "hook") else "config"


async def permit(request: ToolRequest, pre: Outcome) -> ToolRequest | RefusedCall:
    """Decide about a call, on the input that hooks left it with; return the request to run.

    Law: a hook's denial holds in every mode; a hook's allow spares the question and nothing else, so deny and ask
    rules still apply; a hook's ask asks the person, and without a person it denies with its own reason. Whichever
    hook or host rewrites the input, guards and deny rules judge the input the tool would run with.
    """
    if isinstance(pre.decision, Deny):
        return _denied_by_hook(pre)
    rewritten = rewrite(request, pre.updated_input, "PreToolUse")
    if isinstance(rewritten, RefusedCall):
        return rewritten
    actor, decision = request.actor, pre.decision
    if pre.updated_input is not None and rewritten.arguments != dict(pre.updated_input):
        held = await _rechecked(rewritten, pre)
        if isinstance(held, RefusedCall):
            return held
        decision = held.decision if isinstance(held, Asked) else decision
    ruling = actor.session.permissions.decide(rewritten.for_rules(), decision, actor.role.mode, actor.role.readable)
    match ruling:
        case Permit():
            return rewritten
        case Refuse(text=text, by=By.CLASSIFIER):
            await _announce_denial(rewritten, text)
            return RefusedCall(text=text, by=By.CLASSIFIER.value, input=rewritten.arguments)
        case Refuse(text=text, by=by):
            told = not isinstance(decision, Allow)  # a hook that allowed it has no line about what a rule refused
            return RefusedCall(text=text, by=by.value, told=told, input=rewritten.arguments)
        case Classify():
            return await _classified(rewritten)
        case AskUser():
            return await _asked(rewritten, ruling, pre)
    assert_never(ruling)


def _denied_by_hook(pre: Outcome) -> RefusedCall:
    denying = [run for run in pre.runs if isinstance(run.verdict.decision, Deny)]
    managed = any(run.handler.source.scope is Scope.MANAGED for run in denying)
    return RefusedCall(text=_error(pre), counts=not managed)


def _error(outcome: Outcome) -> str:
    return "\n".join(model_texts(outcome, Place.ERROR))


def rewrite(request: ToolRequest, update: Mapping[str, Json] | None, event: str) -> ToolRequest | RefusedCall:
    """Apply a hook's rewrite of the input.

    Law: keys the tool does not have are left out, and the rest is checked as if the model had written it; the input of
    an MCP tool is passed on as it is, for its server to check.
    """
    if update is None:
        return request
    tool = request.tool
    if request.actor.session.server_of(tool.name) is not None:
        return request.using(dict(update))
    update = tool.coerced(tool.without_unknown(dict(update)))
    problem = tool.problem(update)
    if problem is not None:
        return RefusedCall(
            text=f"{event} hook for {tool.name} returned updatedInput that failed schema validation: "
            f"{problem.removeprefix(INVALID)}\nThe tool input from the model was valid; "
            "the hook's rewrite of it was not."
        )
    return request.using(dict(update))


class Asked(msgspec.Struct, frozen=True):
    """A guard wants the person to confirm an input that was rewritten."""

    decision: Ask


async def _rechecked(request: ToolRequest, pre: Outcome) -> RefusedCall | Asked | None:
    """Let guards judge an input that they have not seen."""
    outcome = await request.actor.recheck(request.event(PreToolUse), pre.runs)
    if outcome.runs:
        request.record(outcome)
    match outcome.decision:
        case Deny():
            return _denied_by_hook(outcome)
        case Defer(reason=reason):
            return RefusedCall(text=reason or "A hook defers a call whose input was rewritten; it does not run.")
        case Ask() as ask:
            return Asked(ask)
    return RefusedCall(text=NOT_RUN, interrupts=True) if outcome.stop is not None else None


def denied_file(request: ToolRequest) -> str | None:
    """Return why a deny rule keeps a file from this call, before any hook runs; a rule for Read covers changes too."""
    tool = request.tool
    if "file_path" not in tool.paths:
        return None
    permissions = request.actor.session.permissions
    if tool.effect is Effect.EDIT and permissions.hides(request.for_rules().path):
        done = "edited" if tool.name == "Edit" else "written"
        return f"File is covered by a Read deny rule in your permission settings and cannot be {done}."
    if isinstance(permissions.guard(request.for_rules()), Refuse):
        return "File is in a directory that is denied by your permission settings."
    return None


# ── asking ──────────────────────────────────────────────────────────────────


async def _asked(request: ToolRequest, ruling: AskUser, pre: Outcome) -> ToolRequest | RefusedCall:
    """Let PermissionRequest hooks answer, then the person; without a person the call is denied."""
    actor, person = request.actor, request.actor.session.person
    if ruling.by is By.HOOK and person.permit is None:
        return RefusedCall(text=ruling.reason, by="hook", input=request.arguments)
    suggested = hook_suggestions(request.for_rules(), actor.session.permissions.workspace)
    suggestions = list(suggested) if ruling.suggestions else UNSET
    outcome = await actor.fire(request.event(PermissionRequest, permission_suggestions=suggestions))
    request.record(outcome)
    match outcome.decision:
        case Deny(interrupt=interrupt):
            return RefusedCall(text=_error(outcome), interrupts=interrupt, by="hook", input=request.arguments)
        case Allow():
            allowed = await _allowed(request, outcome, pre)
            if not isinstance(allowed, AskUser):
                return allowed
            ruling = allowed
    if person.permit is None:
        return RefusedCall(text=ruling.reason, by="other", input=request.arguments)
    answer = await _noticed(actor.session, person.permit, _question(request, ruling, pre))
    return await _answered(request, answer, pre)


async def _allowed(request: ToolRequest, outcome: Outcome, pre: Outcome) -> ToolRequest | RefusedCall | AskUser:
    """Apply a hook's allow: deny rules outrank it, and over its rewrite ask rules too; its updates apply from now on.

    The question of an ask rule about the input as it was is the one that the hook answered.
    """
    rewritten = rewrite(request, outcome.updated_input, "PermissionRequest")
    if isinstance(rewritten, RefusedCall):
        return rewritten
    session = request.actor.session
    held = session.permissions.guard(rewritten.for_rules())
    if isinstance(held, Refuse):
        return RefusedCall(text=held.text, by="rule")
    if rewritten.arguments != request.arguments:
        if held is not None:
            return held
        judged = await _rechecked(rewritten, pre)
        if isinstance(judged, RefusedCall):
            return judged
        if judged is not None:
            return AskUser(judged.decision.reason, By.HOOK)
    session.update_permissions_of_hook(outcome.fields.get("updated_permissions", ()))
    return rewritten


def _question(request: ToolRequest, ruling: AskUser, pre: Outcome) -> PermissionQuestion:
    asked = [message.text for message in for_reader(pre, Reader.USER) if message.form is Form.QUESTION]
    identity, path = request.actor.identity, request.for_rules().path
    outside = path and not request.actor.session.permissions.workspace.readable_path(path)
    return PermissionQuestion(
        tool_name=request.tool.name,
        tool_input=request.arguments,
        tool_use_id=request.id,
        reason="\n".join(asked) or ruling.reason,
        suggestions=ruling.suggestions,
        agent_id=identity.agent_id if identity is not None else None,
        blocked_path=path if outside else None,
    )


async def _noticed(session: Session, ask: AskPermission, question: PermissionQuestion) -> Permission:
    """Ask the person, and send a notification when the question is left waiting (R-345)."""

    async def nudge() -> None:
        await asyncio.sleep(session.options.question_notice)
        session.notify(f"Hookwright needs your permission to use {question.tool_name}", "permission_prompt")

    waiting = asyncio.ensure_future(nudge())
    try:
        return await ask(question)
    finally:
        waiting.cancel()


async def _answered(request: ToolRequest, answer: Permission, pre: Outcome) -> ToolRequest | RefusedCall:
    """Apply the person's answer; deny rules and guards outrank an input the person or the host changed."""
    if not answer.allow:
        text = answer.message or "The user denied this tool call."
        return RefusedCall(text=text, interrupts=answer.interrupt, by_person=True)
    request.actor.session.update_permissions_of_person(answer.updated_permissions)
    if answer.updated_input is None or dict(answer.updated_input) == request.arguments:
        return request
    tool, update = request.tool, request.tool.coerced(dict(answer.updated_input))
    problem = tool.problem(update)
    if problem is not None:
        text = f"The host changed the input of {tool.name} to one that does not fit: {problem}"
        return RefusedCall(text=text, by_person=True)
    changed = request.using(update)
    held = request.actor.session.permissions.guard(changed.for_rules())
    if isinstance(held, Refuse):
        return RefusedCall(text=held.text, by="rule")
    judged = await _rechecked(changed, pre)  # a guard that asks has its answer: the person wrote this input
    return judged if isinstance(judged, RefusedCall) else changed


async def _classified(request: ToolRequest) -> ToolRequest | RefusedCall:
    """Ask auto mode's classifier; a denial goes to PermissionDenied hooks, which may let the model retry."""
    actor = request.actor
    ruling = await actor.session.permissions.classify(request.for_rules())
    if isinstance(ruling, Permit):
        return request
    await _announce_denial(request, ruling.text)
    text = f"Permission for this action was denied in auto mode. Reason: {ruling.text}"
    return RefusedCall(text=text, by="classifier")


async def _announce_denial(request: ToolRequest, reason: str) -> None:
    """Fire PermissionDenied, whose hooks may let the model retry."""
    actor = request.actor
    outcome = await actor.fire(request.event(PermissionDenied, reason=reason))
    request.record(outcome)
    for text in model_texts(outcome, Place.USER):
        actor.dialogue.remind_later(text, outcome.hook_name)
