"""Hook runs as transcript lines, and the text that the model reads of them, live and after a resume.

| attachment | written for | the model reads |
|---|---|---|
| `hook_success` | a run that ended well | plain stdout where the event takes it (`content`) |
| `hook_non_blocking_error`, `hook_error_during_execution`, `hook_cancelled` | a run without a usable answer | – |
| `hook_blocking_error` | a refusal | the reason, where the event gives it as feedback |
| `hook_additional_context` | the contexts of one firing, together | the contexts |
| `hook_system_message` | a message for the user | – |
| `hook_stopped_continuation` | a turn that a hook ended | the reason, in the next request |
| `hook_permission_decision`, `hook_deferred_tool` | a decision about a call | – |
| `async_hook_response` | what a background hook said later | its context and message, bare |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hookwright.background import Late
from hookwright.protocol.events import CATALOGUE, Exit2
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Defer, Deny, Ending, Outcome, Run
from hookwright.protocol.replies import Exited, Failed, Failure, TimedOut

Attachment = dict[str, Json]


class CallContext(msgspec.Struct, frozen=True):
    """The tool call that an event is about."""

    id: str
    name: str
    input: Mapping[str, Json]


def attachments(outcome: Outcome, about: str, call: CallContext | None = None) -> tuple[Attachment, ...]:
    """Lay out one firing: each run in configuration order, then what the runs come to.

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
        said = {"message": outcome.stop.reason or "Execution stopped by hook"}
        out.append({"type": "hook_stopped_continuation", **said, **_head(outcome, about)})
    return tuple(out)


def _head(outcome: Outcome, about: str) -> Attachment:
    return {"hookName": outcome.hook_name, "toolUseID": about, "hookEvent": outcome.event}


def _of_run(run: Run, outcome: Outcome, about: str) -> Attachment:
    head, verdict = _head(outcome, about), run.verdict
    facts = {"command": run.handler.label, "durationMs": round(run.timing.seconds * 1000)}
    if isinstance(run.reply, TimedOut):
        return {"type": "hook_cancelled", **head, **facts, "timedOut": True, "timeoutMs": round(run.reply.limit * 1000)}
    match verdict.ending:
        case Ending.SUCCESS:
            # A block of the same firing takes back what the others said.
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
    """Show what a process printed; `suppressOutput` hides its stdout (D10)."""
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
    """Lay out what a background hook said after its event was over."""
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
    """Give the fields of the `stop_hook_summary` line that follows the hooks of a stop."""
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
    """Say what the model reads of an attachment; None where it reads nothing. Attachments may be anybody's."""
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
