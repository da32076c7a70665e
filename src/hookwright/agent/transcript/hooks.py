"""Hook runs as transcript lines, and what the model read of them.

| attachment | written for |
|---|---|
| `hook_success` | a run that ended well |
| `hook_non_blocking_error`, `hook_error_during_execution`, `hook_cancelled` | a run without a usable answer |
| `hook_blocking_error` | a refusal |
| `hook_additional_context` | the contexts of one firing, together |
| `hook_system_message` | a message for the user |
| `hook_stopped_continuation` | a turn that a hook ended |
| `hook_permission_decision`, `hook_deferred_tool` | a decision about a call |
| `async_hook_response` | what a background hook said later |
| `program_note` | a text the agent itself added: a new working directory, a nested CLAUDE.md |

`hookwright.visibility` decides what the model reads of a firing. The last line of a firing keeps these texts under
`modelReads`, so that a resumed conversation is the one the model knew. `model_text` is for lines without that key: the
lines of older sessions and of Claude Code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hookwright.protocol.events import CATALOGUE, Exit2
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Defer, Deny, Ending, Late, Outcome, Run
from hookwright.protocol.replies import Exited, Failed, Failure, TimedOut
from hookwright.visibility import STOPPED

Attachment = dict[str, Json]

#: The key of the texts that the model reads of a firing, on its last line.
READS = "modelReads"


class CallContext(msgspec.Struct, frozen=True):
    """The tool call that an event is about."""

    id: str
    name: str
    input: Mapping[str, Json]


def attachments(outcome: Outcome, about: str, call: CallContext | None = None) -> tuple[Attachment, ...]:
    """Lay out one firing: each run in configuration order, then their combined effects.

    `about` is the id of the tool call, or a made-up one for events without. Background runs appear when they end.
    """
    out: list[Attachment] = []
    for run in outcome.runs:
        if run.label != "async":
            out.append(_of_run(run, outcome, about))
        if run.verdict.system_message is not None:
            said = {"content": run.verdict.system_message}
            out.append({"type": "hook_system_message", **said, **_head(outcome, about)})
    if outcome.context:
        name = outcome.event if CATALOGUE[outcome.event].rules.bare_context else outcome.hook_name
        head = {**_head(outcome, about), "hookName": name}
        out.append({"type": "hook_additional_context", "content": list(outcome.context), **head})
    out += _decision(outcome, about, call)
    if outcome.stop is not None:
        said = {"message": outcome.stop.reason or STOPPED}
        out.append({"type": "hook_stopped_continuation", **said, **_head(outcome, about)})
    return tuple(out)


def with_reads(lines: Sequence[Attachment], texts: Sequence[str]) -> tuple[Attachment, ...]:
    """Note on the lines of one firing what the model reads of it: all of it on the last line, nothing on the others."""
    return tuple({**line, READS: list(texts) if line is lines[-1] else []} for line in lines)


def program_note(text: str) -> Attachment:
    """Lay out a text that the agent itself adds for the model."""
    return {"type": "program_note", READS: [text]}


def texts_read(attachment: Mapping[str, Json]) -> list[str]:
    """Return what the model read of a line; lines without `modelReads` are read by their kind."""
    reads = attachment.get(READS)
    if isinstance(reads, list):
        return [text for text in reads if isinstance(text, str)]
    text = model_text(attachment)
    return [] if text is None else [text]


def _head(outcome: Outcome, about: str) -> Attachment:
    return {"hookName": outcome.hook_name, "toolUseID": about, "hookEvent": outcome.event}


def _of_run(run: Run, outcome: Outcome, about: str) -> Attachment:
    head, verdict = _head(outcome, about), run.verdict
    facts = {"command": run.handler.label, "durationMs": round(run.timing.seconds * 1000)}
    if run.would is not None:
        facts["shadow"] = "would refuse" if run.would_refuse else "would not refuse"
    if isinstance(run.reply, TimedOut):
        return {"type": "hook_cancelled", **head, **facts, "timedOut": True, "timeoutMs": round(run.reply.limit * 1000)}
    match verdict.ending:
        case Ending.SUCCESS:
            # A block of the same firing takes back the plain text of its other hooks.
            content = verdict.plain if verdict.plain is not None and verdict.plain in outcome.plain else ""
            return {"type": "hook_success", **head, "content": content, **_streams(run), **facts}
        case Ending.BLOCKING:
            reason = getattr(verdict.decision, "reason", None)
            error = {"blockingError": reason or "Blocked by hook", "command": run.handler.label}
            return {"type": "hook_blocking_error", **head, "blockingError": error}
        case Ending.ERROR if isinstance(run.reply, Failed) and run.reply.why is Failure.EXCEPTION:
            return {"type": "hook_error_during_execution", **head, "content": verdict.error or "", **facts}
        case Ending.ERROR:
            streams = {**_streams(run), "stderr": verdict.error or ""}
            return {"type": "hook_non_blocking_error", **head, **streams, **facts}
        case Ending.CANCELLED:
            return {"type": "hook_cancelled", **head, **facts, "timedOut": False}


def _streams(run: Run) -> Attachment:
    """Return what a process printed; `suppressOutput` hides its stdout (D10)."""
    if not isinstance(run.reply, Exited):
        return {"stdout": "", "stderr": "", "exitCode": getattr(run.reply, "status", None) or 0}
    stdout = "" if run.verdict.suppress_output else run.reply.stdout.decode("utf-8", "replace")
    return {"stdout": stdout, "stderr": run.reply.stderr.decode("utf-8", "replace"), "exitCode": run.reply.status}


def _decision(outcome: Outcome, about: str, call: CallContext | None) -> list[Attachment]:
    if not CATALOGUE[outcome.event].rules.permission:
        return []
    match outcome.decision:
        case Defer() if call is not None:
            tool = {"toolName": call.name, "toolInput": dict(call.input)}
            return [{"type": "hook_deferred_tool", "toolUseID": call.id, **tool, "hookEvent": outcome.event}]
        case Allow() | Ask() | Deny():
            word = type(outcome.decision).__name__.lower()
            head = {"decision": word, "toolUseID": about, "hookEvent": outcome.event}
            return [{"type": "hook_permission_decision", **head}]
        case _:
            return []


def late_attachment(late: Late, hook_name: str, about: str) -> Attachment:
    """Lay out the output of a background hook that ended after its event."""
    reply = late.reply
    exited = reply if isinstance(reply, Exited) else Exited(1)
    response: dict[str, Json] = {}
    if late.system_message is not None:
        response["systemMessage"] = late.system_message
    if late.context is not None:
        event = late.job.event.event_name
        response["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": late.context}
    return {
        "type": "async_hook_response",
        "processId": late.id,
        "hookName": hook_name,
        "toolUseID": about,
        "hookEvent": late.job.event.event_name,
        "response": response,
        "stdout": exited.stdout.decode("utf-8", "replace"),
        "stderr": exited.stderr.decode("utf-8", "replace"),
        "exitCode": exited.status,
    }


def stop_summary(outcome: Outcome, about: str) -> dict[str, Json]:
    """Return the fields of the `stop_hook_summary` line that follows the hooks of a stop."""
    infos = [{"command": run.handler.label, "durationMs": round(run.timing.seconds * 1000)} for run in outcome.runs]
    errors = [run.verdict.error for run in outcome.runs if run.verdict.error is not None]
    fields: dict[str, Json] = {
        "hookCount": len(outcome.runs),
        "hookInfos": infos,
        "hookErrors": errors,
        "preventedContinuation": outcome.stop is not None,
    }
    if outcome.stop is not None:
        fields["stopReason"] = outcome.stop.reason or ""
    spoke = any(isinstance(run.reply, Exited) and run.reply.stdout for run in outcome.runs)
    return {**fields, "hasOutput": spoke, "toolUseID": about}


def model_text(attachment: Mapping[str, Json]) -> str | None:
    """Return what a model reads of a line by its kind alone, None for nothing. The line may come from any program."""
    name, event = attachment.get("hookName"), attachment.get("hookEvent")
    match attachment.get("type"):
        case "hook_additional_context":
            content = attachment.get("content")
            texts = [text for text in content if isinstance(text, str)] if isinstance(content, list) else []
            return f"{name} hook additional context: " + "\n".join(texts) if texts else None
        case "hook_success":
            content = attachment.get("content")
            return f"{name} hook success: {content}" if isinstance(content, str) and content else None
        case "hook_blocking_error":
            return _blocking_text(str(name), str(event), attachment.get("blockingError"))
        case "hook_stopped_continuation":
            return f"{name} hook stopped continuation: {attachment.get('message')}"
        case "async_hook_response":
            return _late_text(attachment.get("response"))
        case _:
            return None


def _blocking_text(name: str, event: str, error: Any) -> str | None:
    if not isinstance(error, dict) or event not in CATALOGUE:
        return None
    command, reason = error.get("command"), str(error.get("blockingError"))
    rules = CATALOGUE[event].rules
    feedback = rules.exit_2 is Exit2.FEEDBACK
    if rules.echoed and not reason.startswith(f"[{command}]: "):
        return f'{event} hook blocking error from command: "{command}": {reason}'
    return f'{name} hook blocking error from command: "{command}": {reason}' if feedback else None


def _late_text(response: Json) -> str | None:
    if not isinstance(response, dict):
        return None
    specific = response.get("hookSpecificOutput")
    context = specific.get("additionalContext") if isinstance(specific, dict) else None
    texts = [text for text in (response.get("systemMessage"), context) if isinstance(text, str) and text]
    return "\n\n".join(texts) or None
