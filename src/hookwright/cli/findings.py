"""Findings as text, JSON, SARIF and GitHub annotations."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator, Sequence

from hookwright._version import __version__
from hookwright.cli.terminal import Style
from hookwright.lint import RULES, Finding, Subject
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.jsontext import Json
from hookwright.text import escaped, flat, harmless, short_path

_WIDTH = 100
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text_lines(findings: Sequence[Finding], subject: Subject, cwd: str, style: Style) -> Iterator[str]:
    """Print each finding: place, rule, what happens, why it matters, how to fix it."""
    for found in findings:
        rule = RULES[found.rule]
        place = f"{short_path(found.at.path, cwd)}:{found.at.line}:{found.at.column}"
        yield f"{style.bold(flat(place))} {_coloured(found.severity, style)} {style.bold(rule.title)}"
        for label, words in (("", found.what), ("why", rule.why), ("fix", found.write)):
            yield from _paragraph(label, harmless(words), style)
        yield ""
    yield _summary(findings, subject, style)


def _coloured(severity: Severity, style: Style) -> str:
    paint = {Severity.ERROR: style.bad, Severity.WARNING: style.warn, Severity.INFO: style.dim}[severity]
    return paint(severity.value)


def _paragraph(label: str, words: str, style: Style) -> Iterator[str]:
    head = f"{label}: " if label else ""
    lines = textwrap.wrap(head + words, _WIDTH, break_long_words=False, break_on_hyphens=False)
    for line in lines:
        yield "  " + (style.dim(line) if label == "why" else line)


def _summary(findings: Sequence[Finding], subject: Subject, style: Style) -> str:
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
