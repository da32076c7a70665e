"""The JSON that `hookwright fire --json` prints: the output contract of the conformance kit, with additions."""

from __future__ import annotations

from hookwright.observers.journal import decision_of, handler_record
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Defer, Deny, Outcome, Run, Skip
from hookwright.protocol.replies import Exited
from hookwright.visibility import messages


def contract(outcome: Outcome) -> dict[str, Json]:
    """Write an outcome in the keys of the contract; `skipped`, `seen` and `diagnostics` are additions."""
    return {
        "event": outcome.event,
        "ran": [_run(run) for run in outcome.runs],
        "permission": _permission(outcome),
        "blocked": outcome.blocked,
        "reason": outcome.reason if isinstance(outcome.decision, Ask) or outcome.blocked else None,
        "updated_input": outcome.updated_input,
        "updated_output": outcome.updated_output,
        "context": list(outcome.context),
        "plain_stdout_to_model": list(outcome.plain),
        "stop": outcome.stop is not None,
        "stop_reason": outcome.stop.reason if outcome.stop is not None else None,
        "system_messages": list(outcome.system_messages),
        "errors": outcome.errors,
        "fields": dict(outcome.fields),
        "skipped": [_skip(skip) for skip in outcome.skips],
        "seen": [
            {"reader": message.reader.value, "form": message.form.value, "text": message.text}
            for message in messages(outcome)
        ],
        "diagnostics": [
            {"code": d.code, "severity": d.severity.value, "message": d.message, "source": str(d.source or "")}
            for d in outcome.diagnostics
        ],
    }


def _permission(outcome: Outcome) -> str | None:
    """Return the word for the host's permission answer; None on events without one."""
    if not CATALOGUE[outcome.event].rules.permission:
        return None
    decision = outcome.decision
    return type(decision).__name__.lower() if isinstance(decision, Allow | Ask | Defer | Deny) else None


def _run(run: Run) -> dict[str, Json]:
    decision, reason = decision_of(run.verdict.decision)
    record: dict[str, Json] = {
        "command": run.handler.label,
        "outcome": run.label,
        "type": run.handler.kind.value,
        "source": str(run.handler.source),
        "decision": decision,
        "reason": reason,
        "error": run.verdict.error,
        "ms": round(run.timing.seconds * 1000, 3),
    }
    if run.would is not None:
        would, why = decision_of(run.would.decision)
        record["shadow"] = {"would": would, "reason": why, "error": run.would.error}
    if isinstance(run.reply, Exited):
        record["exit_code"] = run.reply.status
        record["stdout"] = "" if run.verdict.suppress_output else run.reply.stdout.decode("utf-8", "replace")
        record["stderr"] = run.reply.stderr.decode("utf-8", "replace")
    return record


def _skip(skip: Skip) -> dict[str, Json]:
    record = handler_record(skip.handler)
    return {
        "command": skip.handler.label,
        "type": record["type"],
        "source": str(skip.handler.source),
        "reason": skip.reason.value,
        "detail": skip.detail,
    }
