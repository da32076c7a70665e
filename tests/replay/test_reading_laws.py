"""Laws of reading the past: fast is equal, order does not matter, each call once."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.replay.past import Coverage, Past
from hookwright.replay.transcripts.lines import lines_of
from replay.histories import REJECTED, Line, call, error, line, past, progress, prompt, result, says, write

TOOLS = ("Bash", "Read", "Edit", "Task", "mcp__a__b")
NAMES = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact")
KINDS = ("prompt", "call", "call", "call", "text", "compact", "noise", "torn", "inner")
ENDS = (
    "ok",
    "Exit code 1",
    "<tool_use_error>No such tool</tool_use_error>",
    REJECTED,
    "PreToolUse:Bash hook error: no",
    "",
)

Step = tuple[str, str, str, bool]
STEPS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from(TOOLS), st.sampled_from(ENDS), st.booleans()), max_size=14
)


def lines_for(steps: list[Step], session: str, start: float) -> list[Line | bytes]:
    """Make the lines of a session; the results of calls may come late, and some never do."""
    out: list[Line | bytes] = []
    late: list[Line] = []
    for number, (kind, tool, end, flag) in enumerate(steps):
        at = start + number
        match kind:
            case "prompt":
                out.append(prompt(f"prompt {number}", at, "plan" if flag else None))
            case "call" | "inner":
                name = f"toolu_{session}_{number:016}"
                wrap = (lambda one: progress(one, "x", "outer")) if kind == "inner" else (lambda one: one)
                out.append(wrap(call(name, at, tool=tool, given={"file_path": "a.py"})))
                answer = result(name, at + 0.5) if end == "ok" else error(name, at + 0.5, end)
                if end:
                    (late if flag else out).append(wrap(answer))
            case "text":
                out.append(says(f"text {number}", at, "end_turn" if flag else None))
            case "compact":
                out.append(line("system", at, subtype="compact_boundary", compactMetadata={"trigger": "auto"}))
            case "noise":
                out.append(line("attachment", at, attachment={"type": "x", "text": '"type":"tool_use","tool_use_id"'}))
            case "torn":
                out.append(b'{"type":"assistant","message":{"content":[{"type":"tool_use"')
    out += late
    return [one if isinstance(one, bytes) else {**one, "sessionId": session} for one in out]


def facts(events: list[Past]) -> list[tuple[Any, ...]]:
    """Return everything about events but the folder they were read from."""
    return [
        (Path(one.place.file).name, one.place.line, one.time, one.fate, dict(one.provenance), _payload(one))
        for one in events
    ]


def _payload(one: Past) -> dict[str, Any]:
    found = msgspec.to_builtins(one.event)
    return {name: value for name, value in found.items() if name != "transcript_path"} | {"": one.event.event_name}


@given(STEPS, st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(("", "Agent", *TOOLS)))))
@settings(max_examples=60, deadline=None)
def test_what_no_handler_wants_changes_nothing_else(steps: list[Step], pairs: set[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "s1.jsonl", lines_for(steps, "s1", 0))
        full, fast = Coverage(), Coverage()
        everything = past(path, coverage=full)
        wanted = past(path, coverage=fast, wanted=lambda event, tool: (event, tool) in pairs)
    kept = [one for one in everything if (one.event.event_name, getattr(one.event, "tool_name", "")) in pairs]
    assert facts(wanted) == facts(kept)
    assert fast == full


@given(STEPS, STEPS, st.integers(0, 14), st.booleans())
@settings(max_examples=60, deadline=None)
def test_each_call_is_once_whatever_file_repeats_it(one: list[Step], two: list[Step], cut: int, swap: bool) -> None:
    first = lines_for(one, "s1", 0)
    copied = [
        line if isinstance(line, bytes) else {**line, "sessionId": "s2", "forkedFrom": {"sessionId": "s1"}}
        for line in first[:cut]
    ]
    second = [*copied, *lines_for(two, "s2", 100)]
    names = ("a", "b") if swap else ("b", "a")
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(Path(folder) / name / f"{name}.jsonl", [prompt("at the start", 0)]) for name in names]
        for path, lines in zip(paths, (first, second), strict=True):
            write(path, lines)
        coverage = Coverage()
        there, back = past(*paths, coverage=coverage), past(*reversed(paths))
        alone = past(paths[0])
    assert facts(there) == facts(back)
    calls = [found.call for found in there if found.event.event_name == "PreToolUse"]
    assert len(calls) == len(set(calls))
    repeated = sum(_calls(line) for line in copied)
    assert coverage.repeats == repeated
    if first and copied:
        assert [found for found in facts(there) if found in facts(alone)] == facts(alone)


def _calls(one: Line | bytes) -> int:
    return 0 if isinstance(one, bytes) else json.dumps(one).count('"type": "tool_use"')


@given(STEPS)
@settings(max_examples=40, deadline=None)
def test_white_space_between_the_parts_of_a_line_changes_nothing(steps: list[Step]) -> None:
    lines = lines_for(steps, "s1", 0)
    with tempfile.TemporaryDirectory() as folder:
        compact = write(Path(folder) / "a" / "s1.jsonl", lines)
        loose = [one if isinstance(one, bytes) else b" " + json.dumps(one).encode() + b"\r" for one in lines]
        spaced = write(Path(folder) / "b" / "s1.jsonl", loose)
        assert facts(past(compact)) == facts(past(spaced))
        only = frozenset({"PreToolUse"})
        assert facts(past(compact, events=only)) == facts(past(spaced, events=only))


class Slow(io.RawIOBase):
    """A stream that gives so many bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self._data = io.BytesIO(data)
        self._step = step

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(self._step, size))


PARTS = st.lists(st.sampled_from([b"{}", b"{x}", b"\n", b"\n", b"a", b" ", b"{", b"}", b"{longer}"]), max_size=30)


@given(PARTS, st.integers(1, 9), st.integers(3, 12))
@settings(max_examples=300, deadline=None)
def test_lines_do_not_depend_on_where_the_reading_stops(parts: list[bytes], step: int, limit: int) -> None:
    data = b"".join(parts)
    coverage = Coverage()
    found = list(lines_of(Slow(data, step), coverage, limit=limit))  # type: ignore[arg-type]
    whole = data.split(b"\n")
    whole = whole[:-1] if whole[-1] == b"" else whole
    lines = [(number, line, line.strip(b" \t\r")) for number, line in enumerate(whole, start=1)]
    short = [(at, text) for at, line, text in lines if len(line) <= limit]
    assert found == [(at, text) for at, text in short if text[:1] == b"{" and text[-1:] == b"}" and len(text) >= 2]
    assert coverage.lines == len(lines)
    assert coverage.bytes == len(data)
