"""Findings as text, one line each, JSON, SARIF and GitHub annotations."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence, Sized
from itertools import islice
from typing import Protocol

import msgspec

from hookwright._version import __version__
from hookwright.cli.terminal import Style, folded
from hookwright.lint import RULES, Finding
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.jsontext import Json
from hookwright.text import escaped, flat, harmless, short_path

#: The width of text that goes to a file or a pipe.
_WIDTH = 100
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Checked(Protocol):
    """What was checked, to be counted."""

    @property
    def documents(self) -> Sized:
        """The files."""
        ...

    @property
    def hooks(self) -> Sized:
        """The hooks in them."""
        ...


class Page(msgspec.Struct, frozen=True):
    """How findings are written as text: from where, how wide, in which colours."""

    cwd: str
    style: Style
    width: int | None = None


def text_lines(findings: Sequence[Finding], subject: Checked, page: Page) -> Iterator[str]:
    """Print each finding: place, rule, what happens, the line itself, why it matters, how to fix it."""
    style, width = page.style, page.width or _WIDTH
    for found in findings:
        rule = RULES[found.rule]
        place = f"{short_path(found.at.path, page.cwd)}:{found.at.line}:{found.at.column}"
        head = f"{style.bold(flat(place))} {_coloured(found.severity, style)} {style.bold(rule.title)}"
        why = f"  why: {rule.why}" if _adds(rule.why, found.what) else ""
        yield from folded([head, f"  {flat(found.what)}"], width)
        yield from _frame(found, width, style)
        yield from (style.dim(line) for line in folded([why] if why else [], width))
        yield from folded([f"  fix: {flat(found.write)}"], width)
        yield ""
    yield from folded([_summary(findings, subject, style)], width)


def concise_lines(findings: Sequence[Finding], subject: Checked, page: Page) -> Iterator[str]:
    """Print one line for each finding."""
    for found in findings:
        place = f"{short_path(found.at.path, page.cwd)}:{found.at.line}:{found.at.column}"
        level = _coloured(found.severity, page.style)
        yield f"{flat(place)}: {level} {page.style.bold(found.rule)} {' '.join(flat(found.what).split())}"
    yield _summary(findings, subject, page.style)


def _adds(why: str, what: str) -> bool:
    """Return whether the reason of a rule says something that the finding does not say already."""
    known = set(re.findall(r"\w+", what.lower()))
    words = [word for word in re.findall(r"\w+", why.lower()) if len(word) > 3]
    return sum(word not in known for word in words) * 2 > len(words)


def _frame(found: Finding, width: int, style: Style) -> Iterator[str]:
    """Print the line of a finding with a mark under its column; nothing where it cannot be read."""
    try:
        with open(found.at.path, encoding="utf-8", errors="replace") as file:
            line = next(islice(file, found.at.line - 1, None), "").rstrip("\n")
    except OSError:
        return
    if not line.strip():
        return
    number = str(found.at.line)
    room = max(20, width - len(number) - 6)
    start = max(0, min(found.at.column - 1 - room // 2, len(line) - room)) if len(line) > room else 0
    shown = harmless(line[start : start + room].replace("\t", " "))
    mark = " " * (found.at.column - 1 - start) + "^"
    yield style.dim(f"  {number} | ") + shown
    yield style.dim(f"  {' ' * len(number)} | ") + _paint(found.severity, style)(mark)


def _paint(severity: Severity, style: Style) -> Callable[[str], str]:
    return {Severity.ERROR: style.bad, Severity.WARNING: style.warn, Severity.INFO: style.dim}[severity]


def _coloured(severity: Severity, style: Style) -> str:
    return _paint(severity, style)(severity.value)


def _summary(findings: Sequence[Finding], subject: Checked, style: Style) -> str:
    hooks, files = len(subject.hooks), len(subject.documents)
    looked = f"{hooks} hook{'s' if hooks != 1 else ''} in {files} file{'s' if files != 1 else ''}"
    if not files:
        return "Nothing to check: no settings file, plugin, skill or agent with hooks found."
    if not findings:
        return style.good(f"No findings: {looked}.")
    counts = [(severity, sum(found.severity is severity for found in findings)) for severity in Severity]
    words = [f"{count} {severity.value}{'s' if count != 1 else ''}" for severity, count in counts if count]
    fixable = sum(bool(found.fix) for found in findings)
    return ", ".join(words) + (f"; {fixable} fixable with --fix" if fixable else "") + "."


def records(findings: Sequence[Finding], cwd: str) -> list[dict[str, Json]]:
    """Return findings as plain values."""
    return [
        {
            "id": found.rule,
            "name": RULES[found.rule].name,
            "severity": found.severity.value,
            "path": short_path(found.at.path, cwd),
            "line": found.at.line,
            "column": found.at.column,
            "pointer": found.at.pointer,
            "what": found.what,
            "why": RULES[found.rule].why,
            "write": found.write,
            "fixable": bool(found.fix),
            **({"agent": found.agent} if found.agent else {}),
        }
        for found in findings
    ]


def as_json(findings: Sequence[Finding], cwd: str) -> str:
    """Return findings as one JSON array."""
    return escaped(json.dumps(records(findings, cwd), indent=2, ensure_ascii=False))


def as_sarif(findings: Sequence[Finding], cwd: str) -> str:
    """Return findings as SARIF 2.1.0, for code scanning."""
    used = sorted({found.rule for found in findings})
    driver = {
        "name": "hookwright",
        "version": __version__,
        "rules": [_sarif_rule(rule) for rule in used],
    }
    results = [_sarif_result(found, used.index(found.rule), cwd) for found in findings]
    report = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return escaped(json.dumps(report, indent=2, ensure_ascii=False))


def _sarif_rule(name: str) -> dict[str, Json]:
    rule = RULES[name]
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": rule.fix},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _sarif_result(found: Finding, index: int, cwd: str) -> dict[str, Json]:
    region = {"startLine": found.at.line, "startColumn": found.at.column}
    place = {"artifactLocation": {"uri": short_path(found.at.path, cwd).replace(os.sep, "/")}, "region": region}
    return {
        "ruleId": found.rule,
        "ruleIndex": index,
        "level": _LEVELS[found.severity],
        "message": {"text": f"{found.what} Fix: {found.write}"},
        "locations": [{"physicalLocation": place}],
    }


def github_lines(findings: Sequence[Finding], cwd: str) -> Iterator[str]:
    """Return findings as workflow commands, which GitHub shows next to the lines."""
    for found in findings:
        title = _property(RULES[found.rule].title)
        place = f"file={_property(short_path(found.at.path, cwd))},line={found.at.line},col={found.at.column}"
        yield f"::{_GITHUB[found.severity]} {place},title={title}::{_data(f'{found.what} Fix: {found.write}')}"


def _data(text: str) -> str:
    return harmless(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
