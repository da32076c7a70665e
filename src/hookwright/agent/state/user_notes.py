"""What the user is shown of a firing: messages, failures, and calls that went unchecked."""

from __future__ import annotations

from hookwright.agent.state.updates import Note
from hookwright.protocol.outcome import Block, Ending, Outcome, Run, SkipReason
from hookwright.protocol.replies import Exited, Failed, Failure, TimedOut
from hookwright.text import flat, one_line
from hookwright.visibility import Form, Reader, messages

NO_VERDICT = "hook_no_verdict"
HOOK_CHANGED = "hook_changed"
_UNUSABLE = "A hook gave no usable answer, so it didn't check this action."
_TOO_LATE = "A hook didn't answer in time, so it didn't check this action."

_MOVED = "working-directory-moved"
#: Statuses of a shell that could not start a command.
_NOT_STARTED = (126, 127)
_LEVELS = {Form.SAYS: "warning", Form.NOTICE: "error", Form.STOP: "warning", Form.BLOCKED: "warning"}


def notes(outcome: Outcome) -> list[Note]:
    """List the notes for the user, in configuration order, then each hook that left a call unchecked."""
    if not outcome.runs:
        return []
    found = [
        Note(message.text, level=_LEVELS.get(message.form, "info"), tag=message.form.value)
        for message in messages(outcome)
        if message.reader is Reader.USER
    ]
    why = [Note(text, level="warning", tag=NO_VERDICT) for text in _moved(outcome)]
    return [*found, *why, *_unchecked(outcome)]


def changed_hooks(outcome: Outcome) -> dict[str, Note]:
    """Return a warning for each hook that was not run because it changed after it was trusted, by where it is declared.

    A model that may edit files can switch a guard off this way, so every output shows it.
    """
    return {
        f"{skip.handler.source}: {skip.detail}": Note(
            f"{one_line(skip.handler.label)} was not run: {flat(skip.detail)}", level="warning", tag=HOOK_CHANGED
        )
        for skip in outcome.skips
        if skip.reason in (SkipReason.CHANGED, SkipReason.GUARD_CHANGED)
    }


def failed_closed(outcome: Outcome) -> bool:
    """Return whether hooks blocked an event only because they failed."""
    blocking = [run.verdict for run in outcome.runs if isinstance(run.verdict.decision, Block)]
    return bool(blocking) and all(verdict.error is not None for verdict in blocking)


def _unchecked(outcome: Outcome) -> list[Note]:
    """Return a warning for each hook that may refuse and gave no verdict; an ordinary failing status gets none.

    Only PreToolUse leaves a call unchecked: without an answer to a PermissionRequest, the person is asked or it is no.
    """
    if outcome.event != "PreToolUse":
        return []
    return [
        Note(
            _TOO_LATE if isinstance(run.reply, TimedOut) else _UNUSABLE,
            level="warning",
            tag=NO_VERDICT,
            about=run.handler.label,
        )
        for run in outcome.runs
        if _gave_no_verdict(run)
    ]


def _moved(outcome: Outcome) -> list[str]:
    """Return which hooks were not found because the session's directory moved, and what to write instead."""
    runs = (run.verdict.diagnostics for run in outcome.runs)
    return [flat(one.message) for notes in runs for one in notes if one.code == _MOVED]


def _gave_no_verdict(run: Run) -> bool:
    if run.verdict.ending not in (Ending.ERROR, Ending.CANCELLED):
        return False
    reply = run.reply
    if isinstance(reply, Failed):
        return reply.why is not Failure.UNSUPPORTED
    if not isinstance(reply, Exited) or reply.status == 0:
        return True
    codes = {diagnostic.code for diagnostic in run.verdict.diagnostics}
    unchecked = {"broken-json", "invalid-answer", _MOVED}
    return reply.status in _NOT_STARTED or reply.status >= 129 or bool(codes & unchecked)
