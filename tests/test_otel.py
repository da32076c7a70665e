"""Spans as an exporter gets them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from hookwright.observers.otel import Telemetry
from support import command
from test_engine import at, engine, group


def test_an_event_is_a_span_and_each_run_a_child(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    secret = "token=abcdef123456"
    made = engine(
        tmp_path,
        group("PreToolUse", command("sleep 0.05; echo no >&2; exit 2"), command(f"exit 1 # {secret}"), command("true")),
        observers=[Telemetry(tracer)],
    )

    async def main() -> None:
        with tracer.start_as_current_span("turn"):
            await made.fire(at("PreToolUse", tmp_path))

    asyncio.run(main())
    spans = {span.name: span for span in exporter.get_finished_spans() if not span.name.startswith("hook command")}
    runs = [span for span in exporter.get_finished_spans() if span.name == "hook command"]
    whole, turn = spans["hooks PreToolUse:Bash"], spans["turn"]
    assert whole.parent is not None
    assert whole.parent.span_id == turn.context.span_id
    assert all(run.parent is not None and run.parent.span_id == whole.context.span_id for run in runs)
    assert whole.attributes is not None
    assert (whole.attributes["hookwright.decision"], whole.attributes["hookwright.ran"]) == ("deny", 3)
    kinds = [(run.attributes["hookwright.decision"], run.status.status_code) for run in runs if run.attributes]
    assert kinds == [("deny", StatusCode.UNSET), ("none", StatusCode.ERROR), ("none", StatusCode.UNSET)]
    assert runs[1].attributes is not None
    assert runs[1].attributes["hookwright.reason_codes"] == ("exit-status",)
    assert runs[0].end_time is not None
    assert runs[0].start_time is not None
    assert runs[0].end_time - runs[0].start_time >= 50_000_000
    assert "abcdef123456" not in str([run.attributes for run in runs])


def test_the_end_of_a_background_hook_is_a_span_with_its_times_and_status(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    handler = command("sleep 0.1; exit 7", is_async=True)
    made = engine(tmp_path, group("PreToolUse", handler), observers=[Telemetry(tracer)])

    async def main() -> None:
        with tracer.start_as_current_span("turn"):
            await made.fire(at("PreToolUse", tmp_path))
        assert made.background is not None
        await made.background.wait()

    asyncio.run(main())
    spans = {span.name: span for span in exporter.get_finished_spans()}
    begun, late = spans["hook command"], spans["hook command in the background"]
    assert begun.attributes is not None
    assert late.attributes is not None
    assert begun.attributes["hookwright.background"] == late.attributes["hookwright.background"]
    assert begun.status.status_code is StatusCode.UNSET
    assert (late.status.status_code, late.status.description) == (StatusCode.ERROR, "non-blocking error")
    assert late.attributes["hookwright.reason_codes"] == ("exit-status",)
    assert late.start_time is not None
    assert late.end_time is not None
    assert late.end_time - late.start_time >= 100_000_000
    assert late.parent is not None
    turn = spans["turn"].context
    assert turn is not None
    assert late.parent.span_id == turn.span_id
