"""OpenTelemetry: a span per event, a child span per run, a span per late end; the host chooses the SDK and exporter."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookwright.errors import MissingExtra
from hookwright.observers import EventEnded, LateEnded, Notice
from hookwright.observers.journal import decision_of
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.handlers import Handler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Ending, Run, Timing
from hookwright.protocol.replies import Backgrounded
from hookwright.protocol.secrets import redact

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_NS = 1_000_000_000


class Telemetry:
    """An observer that writes spans of finished events; hook output and reasons are never attributes."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise MissingExtra("telemetry", "otel") from None
        self._trace = trace
        self._tracer = tracer if tracer is not None else trace.get_tracer("hookwright")

    def __call__(self, notice: Notice) -> None:
        """Write spans once everything about them is known, with the times at which things happened."""
        match notice:
            case EventEnded():
                self._event(notice)
            case LateEnded():
                self._late(notice)

    def _event(self, notice: EventEnded) -> None:
        end = time.time_ns()
        start = end - int(notice.seconds * _NS)
        outcome = notice.outcome
        decision, _ = decision_of(outcome.decision)
        attributes: dict[str, Json] = {
            "hookwright.event": outcome.event,
            "hookwright.decision": decision or "none",
            "hookwright.blocked": outcome.blocked,
            "hookwright.stop": outcome.stop is not None,
            "hookwright.ran": len(outcome.runs),
            "hookwright.skipped": len(outcome.skips),
            "hookwright.errors": outcome.errors,
            "session.id": notice.event.session_id,
        }
        if outcome.matched is not None:
            attributes["hookwright.matched"] = outcome.matched
        span = self._tracer.start_span(f"hooks {outcome.hook_name}", start_time=start, attributes=attributes)
        parent = self._trace.set_span_in_context(span)
        for run in outcome.runs:
            begun = int(run.timing.started * _NS)
            child = self._tracer.start_span(
                f"hook {run.handler.kind.value}", context=parent, start_time=begun, attributes=_of_run(run)
            )
            self._mark(child, run.verdict.ending)
            child.end(end_time=begun + int(run.timing.seconds * _NS))
        span.end(end_time=end)

    def _late(self, notice: LateEnded) -> None:
        """Write a span from the start of a background hook to its end, under the span that was current when it fired.

        Its event's span has usually ended by then: `hookwright.background` names the same hook in both.
        """
        late, timing = notice.late, notice.timing
        begun = int(timing.started * _NS)
        attributes = _common(late.job.handler, late.label, late.diagnostics, timing)
        attributes |= {"hookwright.event": late.job.event.event_name, "hookwright.background": late.id}
        kind = late.job.handler.kind.value
        span = self._tracer.start_span(f"hook {kind} in the background", start_time=begun, attributes=attributes)
        self._mark(span, late.ending)
        span.end(end_time=begun + int(timing.seconds * _NS))

    def _mark(self, span: Span, ending: Ending) -> None:
        if ending in (Ending.ERROR, Ending.CANCELLED):
            span.set_status(self._trace.StatusCode.ERROR, ending.value)


def _of_run(run: Run) -> dict[str, Json]:
    decision, _ = decision_of(run.verdict.decision)
    found = _common(run.handler, run.label, run.verdict.diagnostics, run.timing)
    found["hookwright.decision"] = decision or "none"
    if isinstance(run.reply, Backgrounded):
        found["hookwright.background"] = run.reply.id
    return found


def _common(handler: Handler, label: str, diagnostics: Sequence[Diagnostic], timing: Timing) -> dict[str, Json]:
    return {
        "hookwright.handler": redact(_first_word(handler)),
        "hookwright.handler.type": handler.kind.value,
        "hookwright.handler.source": str(handler.source),
        "hookwright.outcome": label,
        "hookwright.reason_codes": [diagnostic.code for diagnostic in diagnostics],
        "hookwright.duration_ms": round(timing.seconds * 1000, 3),
    }


def _first_word(handler: Handler) -> str:
    return handler.label.split("\n", 1)[0][:200]
