"""List the rules of `hookwright check`, or explain one with a bad and a good sample."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from hookwright.cli.terminal import Style, columns, folded
from hookwright.errors import ConfigError
from hookwright.lint import FAMILIES, RULES, LintRule, Sample
from hookwright.protocol.jsontext import Json
from hookwright.text import say

USAGE = 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("ids", nargs="*", metavar="ID", help="rule ID, name or ID prefix: HK401, exit-1-guard, HK4")
    parser.add_argument("--json", action="store_true", help="print the rules as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the table, or the requested rules."""
    chosen = [rule for word in args.ids for rule in _found(word)]
    if args.json:
        rules = chosen or list(RULES.values())
        print(json.dumps([_record(rule) for rule in rules], indent=2, ensure_ascii=False))
        return 0
    style = Style.of(sys.stdout)
    lines = [line for rule in chosen for line in _explained(rule, style)] if chosen else _table(style)
    say(folded(lines, columns(sys.stdout)), sys.stdout)
    return 0


def _found(word: str) -> list[LintRule]:
    named = [rule for rule in RULES.values() if word.lower() in (rule.id.lower(), rule.name.lower())]
    found = named or [rule for rule in RULES.values() if rule.id.startswith(word.upper())]
    if not found:
        raise ConfigError(f"`{word}` is not a rule or a rule prefix. `hookwright rules` lists all rules.")
    return found


def _table(style: Style) -> Iterator[str]:
    for title, rules in FAMILIES.items():
        yield style.bold(title)
        for rule in rules:
            mark = ("†" if rule.runs else "") + ("*" if rule.strict else "")
            yield f"  {rule.id}{mark:2} {rule.severity.value:8} {rule.name:26} {rule.summary}"
        yield ""
    yield style.dim("† found, or found more reliably, with `hookwright check --run`.")
    yield style.dim("* an opinion: only reported with `hookwright check --strict`, or when selected.")


def _explained(rule: LintRule, style: Style) -> Iterator[str]:
    yield style.bold(f"{rule.title} ({rule.severity.value})")
    yield f"  {rule.summary}"
    yield ""
    yield f"  {rule.why}"
    yield ""
    yield f"  {style.bold('Fix')}  {rule.fix}"
    if rule.needs:
        yield f"  {style.dim(f'Only found with {rule.needs}.')}"
    if rule.strict:
        yield f"  {style.dim('Only reported with --strict, or when selected.')}"
    yield from _sample("Bad", rule.bad, style.bad(" ←"), style)
    yield from _sample("Good", rule.good, "", style)
    yield ""


def _sample(title: str, sample: Sample, mark: str, style: Style) -> Iterator[str]:
    notes = [
        *([f"on {sample.event}"] if sample.event else []),
        *([sample.option] if sample.option else []),
    ]
    yield ""
    yield f"  {style.bold(title)}{' (' + ', '.join(notes) + ')' if notes else ''}"
    for name, lines in sample.marked(mark):
        yield f"    {style.dim(name)}"
        yield from (f"      {line}" for line in lines)


def _record(rule: LintRule) -> dict[str, Json]:
    return {
        "id": rule.id,
        "name": rule.name,
        "severity": rule.severity.value,
        "summary": rule.summary,
        "why": rule.why,
        "fix": rule.fix,
        "runs": rule.runs,
        "needs_target": rule.needs_target,
        "needs_agent": rule.needs_agent,
        "strict": rule.strict,
        "bad": dict(rule.bad.files),
        "good": dict(rule.good.files),
    }
