"""Turn one reply into one verdict, by the rules of the event and never by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, assert_never

import msgspec

from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import Event, EventRules, Exit2, Plain, Refusal
from hookwright.protocol.exitnotes import exit_notes, first_line
from hookwright.protocol.handlers import (
    AgentHandler,
    CallbackHandler,
    CommandHandler,
    Handler,
    McpToolHandler,
    OnFailure,
    PromptHandler,
)
from hookwright.protocol.job import Job
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import hook_name, matched_value
from hookwright.protocol.outcome import (
    NO_OPINION,
    SILENT,
    Allow,
    Ask,
    Block,
    Decision,
    Defer,
    Deny,
    Ending,
    EndTurn,
    Late,
    Verdict,
    stricter,
)
from hookwright.protocol.replies import (
    Answered,
    Backgrounded,
    Exited,
    Failed,
    Failure,
    Judged,
    NoAnswer,
    Reply,
    TimedOut,
)
from hookwright.protocol.wire import (
    Output,
    PlainText,
    UnusableOutput,
    async_request,
    looks_like_answer,
    read_answer,
    read_late,
    read_stdout,
    request_decision,
)

#: Bytes of truncated output that are read as an answer, and as context for the model.
_HEAD = 65_536
_TEXT = 2 * 1024 * 1024
NO_STDERR = "No stderr output"
BLOCKED = "Blocked by hook"
#: What shells and interpreters say about a script that is gone.
_MISSING_FILE = re.compile("no such file|can't open file", re.IGNORECASE)
_NON_BLOCKING = "Failed with non-blocking status code"


def interpret(reply: Reply, handler: Handler, event: Event) -> Verdict:
    """Decide what a reply means.

    Law (requirements 13 to 16):
    exit 0 is a success whose stdout is read; exit 2 refuses, whatever the JSON says, and JSON that refuses itself
    gives the reason; on every other status valid JSON is obeyed and anything else is a non-blocking error;
    an answer with one wrong field is void; a timeout or a failure decides nothing, unless the event, the kind of
    handler (a callback whose host is gone is like one that never answers) or `onFailure: block` makes it refuse, or
    the guard was trusted to fail closed and has changed.
    """
    verdict = _meaning(reply, handler, event)
    notes = reply.notes if isinstance(reply, (Exited, Answered, Failed)) else ()  # a tuple is faster than a union
    if not notes:
        return verdict
    unfilled = tuple(Diagnostic("asked-without", note, handler.source, Severity.WARNING) for note in notes)
    return _with_notes(verdict, unfilled)


def _meaning(reply: Reply, handler: Handler, event: Event) -> Verdict:
    match reply:
        case Exited():
            return _of_exit(reply, handler, event)
        case Answered(output=output):
            return _of_answer(output, handler, event)
        case Judged():
            return _of_judgement(reply, handler, event)
        case TimedOut(limit=limit):
            return _of_timeout(limit, handler, event)
        case Failed():
            return _of_failure(reply, handler, event)
        case Backgrounded(stdout=said):
            return Verdict(diagnostics=_left(handler, event)) if said else Verdict()
        case NoAnswer(message=message):
            return _failure(handler, event, message, Ending.CANCELLED, "model-failed")
    assert_never(reply)


# ── the background ──────────────────────────────────────────────────────────


def interpret_late(id: str, job: Job, reply: Reply) -> Late:  # noqa: A002 - the protocol's own word
    """Decide what the end of a background hook means.

    Law (R-170, R-171): of its output only `additionalContext` and `systemMessage` have an effect; decisions, plain text
    and exit codes have none, except that exit 2 of an `asyncRewake` hook wakes the model with its stderr, or with its
    stdout where that is empty. It ends as a success on exit 0 alone, as cancelled at its time limit and at the end of
    the session, else as an error, or as blocking where it wakes the model. In shadow mode nothing of it has an effect.
    """
    if not isinstance(reply, Exited):
        return _late_without_exit(id, job, reply)
    handler = job.handler
    if handler.shadow:
        return Late(id=id, job=job, reply=reply, ending=Ending.SUCCESS if reply.status == 0 else Ending.ERROR)
    stderr = reply.stderr.decode("utf-8", "replace").strip()
    output = read_late(reply.stdout.decode("utf-8", "replace"), job.event.event_name)
    notes = exit_notes(reply, handler, stderr)
    late = Late(
        id=id, job=job, reply=reply, context=output.context, system_message=output.system_message, diagnostics=notes
    )
    if reply.status == 0:
        return late
    if reply.status == 2 and isinstance(handler, CommandHandler) and handler.async_rewake:
        said = stderr or reply.stdout.decode("utf-8", "replace").strip()
        return msgspec.structs.replace(late, ending=Ending.BLOCKING, rewake=said or NO_STDERR)
    code = "exit-2-no-effect" if reply.status == 2 else _status_code(reply.status)
    error = f"{_NON_BLOCKING}: {stderr or NO_STDERR}"
    diagnostics = (_diagnostic(handler, code, error), *notes)
    return msgspec.structs.replace(late, ending=Ending.ERROR, error=error, diagnostics=diagnostics)


def _late_without_exit(id: str, job: Job, reply: Reply) -> Late:  # noqa: A002 - the protocol's own word
    match reply:
        case TimedOut(limit=limit):
            ending, error, code = Ending.CANCELLED, f"timed out after {limit:g} s", "timeout"
        case Failed(why=why, message=message):
            ending = Ending.CANCELLED if why is Failure.INTERRUPTED else Ending.ERROR
            error, code = message, _FAILURE_CODES[why]
        case _:
            return Late(id=id, job=job, reply=reply)
    notes = (_diagnostic(job.handler, code, error),)
    return Late(id=id, job=job, reply=reply, ending=ending, error=error, diagnostics=notes)


# ── processes ───────────────────────────────────────────────────────────────


def _of_exit(reply: Exited, handler: Handler, event: Event) -> Verdict:
    rules = event.rules
    if reply.status == 0 and not reply.stdout and not reply.lost and rules.plain is not Plain.PATH:
        return SILENT
    # Truncated output is not an answer: its head is enough, and a flood does not use its memory twice.
    looked_at = len(reply.stdout) if not reply.dropped else _TEXT if rules.plain is Plain.CONTEXT else _HEAD
    stdout = reply.stdout[:looked_at].decode("utf-8", "replace")
    stderr = reply.stderr.decode("utf-8", "replace").strip()
    if rules.plain is Plain.PATH:
        return _of_path(reply, stdout, stderr, handler, event)
    if reply.lost and reply.status == 0 and not stdout.strip():
        return _failure(handler, event, reply.lost, Ending.ERROR, "working-directory-moved")
    notes = (*exit_notes(reply, handler, stderr), *_awaited(reply, handler, event))
    answer: PlainText | Output | UnusableOutput = read_stdout(stdout, event.event_name, rules)
    awaited = reply.status == 0 and _fails_closed(handler, rules)
    if reply.dropped and (awaited or not isinstance(answer, PlainText) or answer.text.startswith("{")):
        # Without its end it is unknown whether it was an answer, and a guard's answer must not pass as plain text.
        answer = UnusableOutput("output-too-large", f"the answer is over the limit; {reply.dropped} bytes were dropped")
    if reply.status == 2:
        verdict = _of_exit_2(answer, stdout, stderr, handler, event)
    elif reply.status == 0:
        verdict = _of_text(answer, 0, handler, event)
    else:
        verdict = _of_other_status(reply.status, answer, stderr, handler, event)
    return _with_notes(verdict, notes)


def _of_text(answer: PlainText | Output | UnusableOutput, status: int, handler: Handler, event: Event) -> Verdict:
    match answer:
        case PlainText(text=text):
            if event.rules.on_failure and looks_like_answer(text):
                return _almost_an_answer(text, handler, event)
            return Verdict(plain=text if text and event.rules.plain is Plain.CONTEXT else None)
        case Output():
            return _apply(answer, status, handler, event)
        case UnusableOutput(code=code, message=message):
            return _failure(handler, event, message, Ending.ERROR, code)
    assert_never(answer)


def _awaited(reply: Exited, handler: Handler, event: Event) -> tuple[Diagnostic, ...]:
    """Report a request for the background that was not granted."""
    first = reply.stdout[:_HEAD].lstrip().partition(b"\n")[0] if b'"async"' in reply.stdout[:_HEAD] else b""
    if not event.rules.on_failure or handler.background or not first or async_request(first) is None:
        return ()
    text = "asked for the background by its first line, where that could undo a guard, and was awaited"
    return (_diagnostic(handler, "background-refused", text),)


_ALMOST = "printed an answer with something around it, so it is plain text; print the JSON object alone"


def _almost_an_answer(text: str, handler: Handler, event: Event) -> Verdict:
    """Report a text that was meant as an answer; a guard that fails closed refuses."""
    if _fails_closed(handler, event.rules):
        return _failure(handler, event, _ALMOST, Ending.ERROR, "looks-like-an-answer")
    note = _diagnostic(handler, "looks-like-an-answer", _ALMOST)
    return Verdict(plain=text if event.rules.plain is Plain.CONTEXT else None, diagnostics=(note,))


def _left(handler: Handler, event: Event) -> tuple[Diagnostic, ...]:
    """Report a hook that left for the background by its own word, on an event that it could have refused."""
    if not event.rules.on_failure:
        return ()
    text = 'asked for the background by its first line and refuses nothing from there; write "async": true in its entry'
    return (_diagnostic(handler, "left-for-background", text),)


def _of_exit_2(
    answer: PlainText | Output | UnusableOutput, stdout: str, stderr: str, handler: Handler, event: Event
) -> Verdict:
    rules = event.rules
    text = f"[{handler.label}]: {stderr or NO_STDERR}"
    spoken = _apply(answer, 2, handler, event) if isinstance(answer, Output) else Verdict()
    of_plugin = rules.missing_plugin_file_is_error and handler.source.plugin is not None
    excused = rules.missing_file_is_error or of_plugin
    if excused and not stdout.strip() and _MISSING_FILE.search(stderr):
        return _error(handler, "launch-failed", f"{stderr}; the script is missing, so this exit 2 does not block")
    if rules.exit_2 is Exit2.NOTHING or not _blockable(event):
        error = _error(handler, "exit-2-no-effect", f"{stderr or NO_STDERR}; exit 2 has no effect on this event")
        return msgspec.structs.replace(error, context=spoken.context, fields=spoken.fields)
    own = _own_reason(spoken)
    refused = refuse(rules, own if own is not None else text)
    return msgspec.structs.replace(
        refused,
        context=spoken.context,
        system_message=spoken.system_message,
        stop=spoken.stop or refused.stop,
        updated_output=spoken.updated_output,
        fields=spoken.fields,
        suppress_output=spoken.suppress_output,
        diagnostics=spoken.diagnostics,
    )


def _own_reason(spoken: Verdict) -> str | None:
    """Return the reason of an answer that refuses, also the default one."""
    return spoken.decision.reason if isinstance(spoken.decision, Deny | Block) else None


def _of_other_status(
    status: int, answer: PlainText | Output | UnusableOutput, stderr: str, handler: Handler, event: Event
) -> Verdict:
    if event.rules.exit_2 is Exit2.FAIL:
        return refuse(event.rules, f"[{handler.label}]: exit status {status}: {stderr or NO_STDERR}")
    if isinstance(answer, UnusableOutput):
        return _failure(handler, event, answer.message, Ending.ERROR, answer.code)
    if isinstance(answer, Output) and not _fails_closed(handler, event.rules):
        return _apply(answer, status, handler, event)
    text = f"{_NON_BLOCKING}: {stderr or NO_STDERR}"
    return _failure(handler, event, text, Ending.ERROR, _status_code(status), detail=stderr or NO_STDERR)


def _status_code(status: int) -> str:
    return "launch-failed" if status in (126, 127) else "killed" if status > 128 else "exit-status"


def _of_path(reply: Exited, stdout: str, stderr: str, handler: Handler, event: Event) -> Verdict:
    if reply.status != 0:
        return refuse(event.rules, f"[{handler.label}]: exit status {reply.status}: {stderr or NO_STDERR}")
    if reply.dropped:
        return refuse(event.rules, f"[{handler.label}]: printed {reply.dropped} bytes too many before its path")
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", stdout)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    if not lines:
        return refuse(event.rules, f"[{handler.label}]: printed no path; print the path of the new worktree")
    return Verdict(fields={"worktree_path": lines[-1]})


# ── answers ─────────────────────────────────────────────────────────────────


def _of_answer(output: Mapping[str, Json], handler: Handler, event: Event) -> Verdict:
    if not output and event.rules.plain is not Plain.PATH:
        return SILENT
    answer = read_answer(output, event.event_name, event.rules)
    if isinstance(answer, UnusableOutput):
        return _failure(handler, event, answer.message, Ending.ERROR, answer.code)
    verdict = _apply(answer, 0, handler, event)
    if event.rules.plain is Plain.PATH and "worktree_path" not in verdict.fields:
        return refuse(event.rules, f"[{handler.label}]: answered without worktreePath")
    return verdict


def _apply(output: Output, status: int, handler: Handler, event: Event) -> Verdict:
    """Apply a valid answer; fields the event does not read have no effect."""
    rules = event.rules
    if output.is_async or output.misplaced:
        if _fails_closed(handler, rules):
            return _failure(handler, event, _undecided(output), Ending.ERROR, "invalid-answer")
        if output.is_async:
            return Verdict()
    specific = {} if status != 0 and rules.fields_at_exit_0 else dict(output.specific)
    specific = {name: value for name, value in specific.items() if name not in rules.discarded}
    legacy = _legacy_decision(output, event)
    modern, taken = _specific_decision(specific, output.reason, event)
    decision = modern if isinstance(modern, Deny | Block) else stricter(legacy, modern)
    deferred = isinstance(decision, Defer)
    updated_input = taken.pop("updated_input", None)
    stops = rules.stops and (rules.stop_needs is None or isinstance(getattr(event, rules.stop_needs), str))
    stop = EndTurn(output.stop_reason) if stops and not output.continue_ else None
    if isinstance(decision, Block) and rules.exit_2 is Exit2.STOP:
        stop = stop or EndTurn(decision.reason)
        decision = NO_OPINION
    return Verdict(
        ending=Ending.BLOCKING if isinstance(decision, Deny | Block) else Ending.SUCCESS,
        decision=decision,
        stop=stop,
        context=None if deferred else taken.pop("additional_context", None) or None,
        system_message=(output.system_message or None) if rules.system_message else None,
        updated_input=None if deferred else updated_input,
        updated_output=_updated_output(taken, event),
        suppress_output=output.suppress_output,
        terminal_sequence=output.terminal_sequence,
        fields=taken,
        diagnostics=_notes_on_answer(output, rules, handler),
    )


def _undecided(output: Output) -> str:
    """Return why an answer of a guard that fails closed decides nothing."""
    if output.is_async:
        return "answered `async`, which a hook that fails closed cannot do"
    return f"answered {', '.join(f'`{key}`' for key in output.misplaced)} at a level where it has no effect"


def _legacy_decision(output: Output, event: Event) -> Decision:
    """Read `decision`: `approve` allows and `block` refuses where the event reads them; `reason` alone does nothing."""
    if output.decision is None or output.decision not in event.rules.decisions:
        return NO_OPINION
    if output.decision == "approve":
        return Allow(output.reason)
    if not _blockable(event):
        return NO_OPINION
    reason = output.reason or BLOCKED
    return Deny(reason) if event.rules.exit_2 is Exit2.DENY else Block(reason)


def _specific_decision(specific: dict[str, Json], other: str | None, event: Event) -> tuple[Decision, dict[str, Json]]:
    """Split the event's own fields into a decision and the rest; a denial without a reason has the top-level one."""
    rest = dict(specific)
    request = rest.pop("decision", None)
    if request is not None:
        spoken = request_decision(request)
        if not spoken.allow:
            return Deny(spoken.message or "Permission denied by hook", spoken.interrupt), rest
        if spoken.updated_permissions:
            rest["updated_permissions"] = spoken.updated_permissions
        if spoken.updated_input is not None:
            rest["updated_input"] = spoken.updated_input
        return Allow(), rest
    word = rest.pop("permission_decision", None)
    reason = rest.pop("permission_decision_reason", None) or None
    match word:
        case "allow":
            return Allow(reason), rest
        case "ask":
            return Ask(reason or f"Hook {hook_name(event)} asked for confirmation for this tool"), rest
        case "defer":
            return Defer(reason), rest
        case "deny":
            reason = reason or other or BLOCKED
            return Deny(reason) if event.rules.exit_2 is Exit2.DENY else Block(reason), rest
    return NO_OPINION, rest


def _updated_output(taken: dict[str, Json], event: Event) -> Any:
    """Return the rewritten output; the field for any tool wins over the older one, for MCP tools alone (R-249)."""
    modern = taken.pop("updated_tool_output", None)
    older = taken.pop("updated_mcp_tool_output", None)
    if modern is not None:
        return modern
    return older if (matched_value(event) or "").startswith("mcp__") else None


def _notes_on_answer(output: Output, rules: EventRules, handler: Handler) -> tuple[Diagnostic, ...]:
    notes = [Diagnostic("unknown-answer-key", note, handler.source, Severity.WARNING) for note in output.unknown]
    unread = []
    if output.decision == "block" and not rules.decisions:
        unread.append("decision")
    if not output.continue_ and not rules.stops:
        unread.append("continue: false")
    if output.system_message and not rules.system_message:
        unread.append("systemMessage")
    notes += [
        Diagnostic("duplicate-key", f"`{key}` appears twice in the answer; the last one is used", handler.source)
        for key in output.repeated
    ]
    notes += [
        Diagnostic("no-effect", f"`{name}` has no effect on this event", handler.source, Severity.WARNING)
        for name in unread
    ]
    return tuple(notes)


# ── judgements, timeouts, failures ──────────────────────────────────────────


def _of_judgement(reply: Judged, handler: Handler, event: Event) -> Verdict:
    """Apply yes or no: yes grants nothing; no refuses as the event says, separately for prompt hooks (R-129)."""
    rules = event.rules
    message = reply.system_message if rules.system_message else None
    if reply.ok or (reply.impossible and rules.impossible_lifts):
        return Verdict(system_message=message)
    if not isinstance(handler, PromptHandler):
        prefix = "Agent hook condition was not met: " if isinstance(handler, AgentHandler) else ""
        return refuse(rules, prefix + (reply.reason or "no reason given"))
    text = f"Prompt hook condition was not met: {reply.reason or 'no reason given'}"
    refused = refuse(rules, text)
    match rules.refusal:
        case Refusal.NOTHING:
            return Verdict(system_message=message)
        case Refusal.STOP if not handler.continue_on_block:
            verdict = Verdict(stop=EndTurn(reply.stop_reason or reply.reason), ending=Ending.BLOCKING)
        case Refusal.DENY_AND_STOP if not handler.continue_on_block:
            verdict = msgspec.structs.replace(refused, stop=EndTurn(reply.stop_reason or reply.reason))
        case _:
            verdict = refused
    return msgspec.structs.replace(verdict, system_message=message)


def _of_timeout(limit: float, handler: Handler, event: Event) -> Verdict:
    text = f"timed out after {limit:g} s"
    rules = event.rules
    if rules.timeout_blocks or _must_answer(handler, rules) or rules.exit_2 is Exit2.FAIL:
        return msgspec.structs.replace(
            refuse(rules, f"[{handler.label}]: {text}"), diagnostics=(_diagnostic(handler, "timeout", text),)
        )
    return _failure(handler, event, text, Ending.CANCELLED, "timeout", verb="timed out", detail="")


def _must_answer(handler: Handler, rules: EventRules) -> bool:
    """Return whether silence refuses: a callback on an event it can guard that times out or cannot be asked."""
    return isinstance(handler, CallbackHandler) and rules.callback_timeout_blocks


_FAILURE_CODES = {
    Failure.LAUNCH: "launch-failed",
    Failure.CONNECTION: "http-failed",
    Failure.STATUS: "http-failed",
    Failure.ANSWER: "invalid-answer",
    Failure.MODEL: "model-failed",
    Failure.EXCEPTION: "callback-failed",
    Failure.UNSUPPORTED: "unsupported-kind",
    Failure.FORBIDDEN: "http-forbidden",
    Failure.INTERRUPTED: "interrupted",
    Failure.CHANGED: "changed-since-trusted",
    Failure.GUARD: "changed-since-trusted",
}


def _of_failure(reply: Failed, handler: Handler, event: Event) -> Verdict:
    ending = Ending.CANCELLED if reply.why is Failure.INTERRUPTED else Ending.ERROR
    if event.rules.exit_2 is Exit2.FAIL:
        return refuse(event.rules, f"[{handler.label}]: {reply.message}")
    if reply.why is Failure.GUARD:  # it was trusted to fail closed, whatever its entry says now
        handler = msgspec.structs.replace(handler, on_failure=OnFailure.BLOCK)
    code = _FAILURE_CODES[reply.why]
    if isinstance(handler, CallbackHandler) and reply.why is Failure.CONNECTION:
        code = "callback-failed"
        if _must_answer(handler, event.rules) and not _fails_closed(handler, event.rules):
            found = (_diagnostic(handler, code, reply.message),)
            return msgspec.structs.replace(
                refuse(event.rules, f"[{handler.label}]: {reply.message}"), diagnostics=found
            )
    if isinstance(handler, McpToolHandler) and code in ("http-failed", "callback-failed"):
        code = "mcp-failed"
    return _failure(handler, event, reply.message, ending, code)


def refuse(rules: EventRules, reason: str) -> Verdict:
    """Build the event's own form of refusal: a denied call, a block, feedback or the end of the turn."""
    match rules.exit_2:
        case Exit2.DENY:
            return Verdict(ending=Ending.BLOCKING, decision=Deny(reason))
        case Exit2.BLOCK | Exit2.FAIL | Exit2.FEEDBACK:
            return Verdict(ending=Ending.BLOCKING, decision=Block(reason))
        case Exit2.STOP:
            return Verdict(ending=Ending.BLOCKING, stop=EndTurn(reason))
        case Exit2.NOTHING:
            return Verdict(ending=Ending.ERROR, error=reason)
    assert_never(rules.exit_2)


def _failure(
    handler: Handler,
    event: Event,
    message: str,
    ending: Ending,
    code: str,
    *,
    verb: str = "failed",
    detail: str | None = None,
) -> Verdict:
    """Build the verdict of a failure: it refuses if the handler fails closed and the event can be refused."""
    diagnostic = _diagnostic(handler, code, message)
    if not _fails_closed(handler, event.rules) or not _blockable(event):
        return Verdict(ending=ending, error=message, diagnostics=(diagnostic,))
    tail = message if detail is None else detail
    reason = f'[{handler.label}]: {verb}; blocking because onFailure is "block"' + (f"\n{tail}" if tail else "")
    return msgspec.structs.replace(refuse(event.rules, reason), error=message, diagnostics=(diagnostic,))


def _fails_closed(handler: Handler, rules: EventRules) -> bool:
    return handler.on_failure is OnFailure.BLOCK and rules.on_failure and not handler.background


def _blockable(event: Event) -> bool:
    return not event.rules.unblockable or matched_value(event) not in event.rules.unblockable


def _error(handler: Handler, code: str, message: str) -> Verdict:
    return Verdict(ending=Ending.ERROR, error=message, diagnostics=(_diagnostic(handler, code, message),))


def _diagnostic(handler: Handler, code: str, message: str) -> Diagnostic:
    return Diagnostic(code, f"`{first_line(handler.label)}` {first_line(message)}", handler.source, Severity.WARNING)


def _with_notes(verdict: Verdict, notes: tuple[Diagnostic, ...]) -> Verdict:
    return msgspec.structs.replace(verdict, diagnostics=(*verdict.diagnostics, *notes)) if notes else verdict
