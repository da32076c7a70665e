"""Compare an outcome with the expected result; every difference is one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, assert_never

from msgspec import UNSET, UnsetType

from hookwright.cases.case import Absent, Exactly, Expect, Expectation, Matching, Problem, Without, decision_word
from hookwright.cases.files import inside
from hookwright.cases.firing import PROJECT, absolute, fill
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Ending, Outcome, Run
from hookwright.protocol.wire import encode


def compare(expect: Expect, outcome: Outcome, cwd: str, files: Mapping[str, str | None]) -> Iterator[Problem]:
    """Yield each unmet expectation, worst first."""
    yield from _decision(expect, outcome)
    yield from _texts(expect, outcome, cwd)
    yield from _values(expect, outcome, cwd)
    yield from _handlers(expect, outcome)
    for name, wish in expect.files.items():
        yield from check(f"files.{name}", placed(wish, cwd), files[name])


def _decision(expect: Expect, outcome: Outcome) -> Iterator[Problem]:
    got = decision_word(outcome)
    if expect.decision is not UNSET and got != expect.decision:
        said = f": {_short(outcome.reason)}" if outcome.reason else ""
        why = "" if outcome.runs else "; no hook ran"
        yield Problem("decision", f"expected {expect.decision}, got {got}{said}{why}")
    if isinstance(expect.stop, bool):
        if expect.stop is not (outcome.stop is not None):
            yield Problem("stop", f"expected {str(expect.stop).lower()}, got {str(not expect.stop).lower()}")
    else:
        yield from check(
            "stop", expect.stop, None if outcome.stop is None else outcome.stop.reason or "no reason given"
        )


def _texts(expect: Expect, outcome: Outcome, cwd: str) -> Iterator[Problem]:
    stop = outcome.stop.reason if outcome.stop is not None else None
    said = [*outcome.reasons, *([stop] if stop and not outcome.reasons else [])]
    yield from check("reason", placed(expect.reason, cwd), _joined(said))
    yield from check("context", placed(expect.context, cwd), _joined([*outcome.context, *outcome.plain]))
    yield from check("system_message", placed(expect.system_message, cwd), _joined(outcome.system_messages))


def check(name: str, wish: Expectation, text: str | None) -> Iterator[Problem]:
    """Compare one text with its expectation."""
    match wish:
        case UnsetType():
            return
        case Absent():
            if text is not None:
                yield Problem(name, f"expected none, got {_short(text)}")
        case Exactly(text=exact):
            if text != exact:
                yield Problem(name, f"expected {_short(exact)}, got {_short(text)}")
        case Matching(patterns=patterns):
            for pattern in patterns:
                if text is None or pattern.search(text) is None:
                    yield Problem(name, f"expected /{pattern.pattern}/, got {_short(text)}")
        case Without(pattern=pattern):
            if text is not None and pattern.search(text) is not None:
                yield Problem(name, f"expected nothing like /{pattern.pattern}/, got {_short(text)}")
        case _:
            assert_never(wish)


def placed(wish: Expectation, cwd: str) -> Expectation:
    """Replace the project placeholder in an expected text."""
    match wish:
        case Exactly(text=text):
            return Exactly(text.replace(PROJECT, cwd))
        case Matching(patterns=patterns):
            return Matching(tuple(_pattern(pattern, cwd) for pattern in patterns))
        case Without(pattern=pattern):
            return Without(_pattern(pattern, cwd))
        case _:
            return wish


def _pattern(pattern: re.Pattern[str], cwd: str) -> re.Pattern[str]:
    if PROJECT not in pattern.pattern:
        return pattern
    return re.compile(pattern.pattern.replace(PROJECT, re.escape(cwd)), re.MULTILINE)


def _values(expect: Expect, outcome: Outcome, cwd: str) -> Iterator[Problem]:
    if expect.updated_input is not UNSET:
        wanted = fill(expect.updated_input, cwd)
        wanted = absolute(wanted, cwd) if isinstance(wanted, dict) else wanted
        got = dict(outcome.updated_input) if outcome.updated_input is not None else None
        if got != wanted:
            yield Problem("updated_input", f"expected {_json(wanted)}, got {_json(got)}")
    if expect.updated_output is not UNSET:
        yield from _output(fill(expect.updated_output, cwd), outcome.updated_output)
    for name, wanted in fill(dict(expect.fields), cwd).items():
        if outcome.fields.get(name) != wanted:
            yield Problem(f"fields.{name}", f"expected {_json(wanted)}, got {_json(outcome.fields.get(name))}")


def _output(wanted: Any, got: Any) -> Iterator[Problem]:
    """Compare a rewritten output: a string is a pattern, any other value must be equal."""
    if isinstance(wanted, str):
        text = got if isinstance(got, str) else None if got is None else _json(got)
        yield from check("updated_output", Matching((re.compile(wanted, re.MULTILINE),)), text)
    elif got != wanted:
        yield Problem("updated_output", f"expected {_json(wanted)}, got {_json(got)}")


def _handlers(expect: Expect, outcome: Outcome) -> Iterator[Problem]:
    labels = [run.handler.label for run in outcome.runs]
    if isinstance(expect.ran, int):
        if expect.ran != len(labels):
            yield Problem("ran", f"expected {expect.ran}, got {len(labels)}: {_listed(labels)}")
    elif expect.ran is not UNSET:
        yield from _exactly_these(expect.ran, labels)
    skipped = {skip.handler.label: skip.reason.value for skip in outcome.skips}
    for pattern, reason in expect.skipped.items():
        found = [word for label, word in skipped.items() if names(pattern, label)]
        if not found or (reason and reason not in found):
            got = ", ".join(f"{label} ({word})" for label, word in skipped.items()) or "nothing"
            yield Problem("skipped", f"expected {pattern}{f' ({reason})' if reason else ''}, got {_short(got)}")
    if outcome.errors != expect.errors:
        yield Problem("errors", f"expected {expect.errors}, got {outcome.errors}{_first_error(outcome.runs)}")
    codes = [diagnostic.code for diagnostic in outcome.diagnostics]
    missing = [code for code in expect.codes if code not in codes]
    if missing:
        yield Problem("codes", f"expected {', '.join(missing)}, got {', '.join(codes) or 'none'}")


def _exactly_these(patterns: Sequence[str], labels: Sequence[str]) -> Iterator[Problem]:
    missing = [pattern for pattern in patterns if not any(names(pattern, label) for label in labels)]
    surplus = [label for label in labels if not any(names(pattern, label) for pattern in patterns)]
    if missing:
        yield Problem("ran", f"expected {', '.join(missing)}, got {_listed(labels)}")
    if surplus:
        yield Problem("ran", f"unexpected: {_listed(surplus)}")


def names(pattern: str, label: str) -> bool:
    """Return whether a pattern names a handler: it occurs in the command, or matches it as a glob."""
    return pattern in label or fnmatchcase(label, pattern)


def read_files(expect: Expect | None, cwd: str) -> dict[str, str | None]:
    """Read the files a case compares; raise InvalidCase for one outside the scratch copy."""
    found: dict[str, str | None] = {}
    for name in expect.files if expect is not None else ():
        try:
            with open(inside(cwd, name), encoding="utf-8", errors="replace") as file:
                found[name] = file.read()
        except OSError:
            found[name] = None
    return found


def _first_error(runs: Sequence[Run]) -> str:
    for run in runs:
        if run.verdict.ending in (Ending.ERROR, Ending.CANCELLED):
            return f": {_short(run.verdict.error or run.label)}"
    return ""


def _joined(texts: Sequence[str]) -> str | None:
    return "\n".join(texts) if texts else None


def _listed(labels: Sequence[str]) -> str:
    return _short(", ".join(labels) or "nothing")


def _json(value: Json) -> str:
    return encode(value).decode()


def _short(text: str | None, limit: int = 300) -> str:
    if text is None:
        return "none"
    flat = " ⏎ ".join(text.strip().splitlines())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
