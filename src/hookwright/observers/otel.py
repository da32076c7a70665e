"""OpenTelemetry: each event a span, each run a child span; the host chooses the SDK and where spans go."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hookwright.errors import MissingExtra
from hookwright.observers import EventEnded, Notice
from hookwright.observers.journal import decision_of, redact
from hookwright.protocol.handlers import Handler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Ending, Run

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_NS = 1_000_000_000


class Telemetry:
    """An observer that tells finished events to a tracer; what was printed and said is never an attribute."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        try:
            from opentelemetry import trace
        except ImportError:
            raise MissingExtra("telemetry", "otel") from None
        self._trace = trace
        self._tracer = tracer if tracer is not None else trace.get_tracer("hookwright")

    def __call__(self, notice: Notice) -> None:
        """Write the spans of an event once all of it is known, with the times at which things happened."""
        if not isinstance(notice, EventEnded):
            return
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
            self._mark(child, run)
            child.end(end_time=begun + int(run.timing.seconds * _NS))
        span.end(end_time=end)

    def _mark(self, span: Span, run: Run) -> None:
        if run.verdict.ending in (Ending.ERROR, Ending.CANCELLED):
            span.set_status(self._trace.StatusCode.ERROR, run.verdict.ending.value)


def _of_run(run: Run) -> dict[str, Json]:
    decision, _ = decision_of(run.verdict.decision)
    codes = [diagnostic.code for diagnostic in run.verdict.diagnostics]
    return {
        "hookwright.handler": redact(_first_word(run.handler)),
        "hookwright.handler.type": run.handler.kind.value,
        "hookwright.handler.source": str(run.handler.source),
        "hookwright.protocol.outcome": run.label,
        "hookwright.decision": decision or "none",
        "hookwright.reason_codes": codes,
        "hookwright.duration_ms": round(run.timing.seconds * 1000, 3),
    }


def _first_word(handler: Handler) -> str:
    return handler.label.split("\n", 1)[0][:200]
