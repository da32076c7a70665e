"""Results in formats for other tools: TAP 14 and JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from hookwright.cases.case import CaseResult, decision_word
from hookwright.protocol.replies import Exited


def tap(results: Sequence[CaseResult]) -> Iterator[str]:
    """Yield TAP 14, with the differences as a YAML block."""
    yield "TAP version 14"
    yield f"1..{len(results)}"
    for number, result in enumerate(results, 1):
        mark = "ok" if result.passed else "not ok"
        yield f"{mark} {number} - {_tap_text(result.case.id)}"
        if not result.passed:
            yield "  ---"
            yield f"  at: {_quoted(f'{result.case.path}:{result.case.line}')}"
            yield f"  decision: {decision_word(result.outcome)}"
            yield "  problems:"
            yield from (f"    - {_quoted(str(problem))}" for problem in result.problems)
            yield "  ..."


def _tap_text(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("#", "\\#")


def _quoted(text: str) -> str:
    return "'" + " ".join(text.split()).replace("'", "''") + "'"


def junit(results: Sequence[CaseResult], seconds: float) -> Iterator[str]:
    """Yield JUnit XML, one suite per file."""
    failed = sum(not result.passed for result in results)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="hookwright" tests="{len(results)}" failures="{failed}" time="{seconds:.3f}">'
    for path, group in groupby(results, key=lambda result: result.case.path):
        members = list(group)
        bad = sum(not result.passed for result in members)
        time = sum(result.seconds for result in members)
        yield f'  <testsuite name={_attribute(path)} tests="{len(members)}" failures="{bad}" time="{time:.3f}">'
        for result in members:
            yield from _junit_case(result)
        yield "  </testsuite>"
    yield "</testsuites>"


def _junit_case(result: CaseResult) -> Iterator[str]:
    case = result.case
    head = (
        f"    <testcase classname={_attribute(case.path)} name={_attribute(case.name)}"
        f' file={_attribute(case.path)} line="{case.line}" time="{result.seconds:.3f}"'
    )
    if result.passed:
        yield f"{head}/>"
        return
    yield f"{head}>"
    text = _escaped("\n".join(map(str, result.problems)))
    yield f"      <failure message={_attribute(str(result.problems[0]))}>{text}</failure>"
    for tag in ("stdout", "stderr"):
        printed = _printed(result, tag)
        if printed:
            yield f"      <system-{tag[3:]}>{_escaped(printed)}</system-{tag[3:]}>"
    yield "    </testcase>"


def _printed(result: CaseResult, stream: str) -> str:
    """Return what the hooks of a case printed, each part after the hook's name."""
    parts = []
    for run in result.outcome.runs:
        data: bytes = getattr(run.reply, stream, b"") if isinstance(run.reply, Exited) else b""
        if data.strip():
            parts.append(f"[{run.handler.label}]\n{data.decode('utf-8', 'replace')}")
    return "\n".join(parts)


def _attribute(text: str) -> str:
    return '"' + _escaped(text).replace('"', "&quot;").replace("\n", "&#10;") + '"'


def _escaped(text: str) -> str:
    """Escape text for XML 1.0, which allows no control characters, not even escaped."""
    plain = "".join(letter if letter in "\t\n" or letter >= " " else "�" for letter in text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
