"""Read files of cases: YAML or JSON, a list of cases or an object with `defaults` and `cases`.

A mistake is reported with its line, and no case of that file runs: a misunderstood case proves nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from hookwright.cases.case import DECISIONS, Absent, Case, Exactly, Expect, Expectation, Matching, Without
from hookwright.cases.firing import make_event
from hookwright.cases.inject import read_fault
from hookwright.config.files import read_bytes
from hookwright.config.frontmatter import InvalidYaml, parse_yaml
from hookwright.config.jsonfile import Broken, Path, Tree, parse_json
from hookwright.errors import HookwrightError, InvalidCase, InvalidEvent
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.samples import sample_fields
from hookwright.protocol.wire import encode
from hookwright.text import did_you_mean, short_path

ENDINGS = (".yaml", ".yml", ".json")
_CASE_KEYS = (
    *("name", "event", "tool", "sample", "input", "prompt", "fields", "settings", "files", "env", "inject", "model"),
    *("only", "sources", "expect"),
)
SOURCES = ("user", "project", "local")
_WISHES = ("reason", "context", "system_message", "env_file")
_EXPECT_KEYS = (
    *("decision", "reason", "context", "system_message", "stop", "updated_input", "updated_output", "fields", "ran"),
    *("skipped", "errors", "codes", "files", "env_file", "max_ms"),
)


def find_files(places: Iterable[str]) -> list[str]:
    """List the case files in files and folders, in a stable order; raise InvalidCase for a missing path."""
    found: list[str] = []
    for place in places:
        if os.path.isdir(place):
            names = sorted(os.listdir(place))
            found += [os.path.join(place, name) for name in names if name.endswith(ENDINGS)]
        elif os.path.isfile(place):
            found.append(place)
        else:
            raise InvalidCase(f"{place}: no such file or folder")
    return list(dict.fromkeys(os.path.abspath(path) for path in found))


def read_cases(path: str, cwd: str = "") -> list[Case]:
    """Read one file; raise InvalidCase with file and line for the first mistake."""
    shown = short_path(path, cwd or os.getcwd())
    tree = _tree(path, shown)
    reader = _CaseReader(shown, tree)
    return list(reader.cases())


def _tree(path: str, shown: str) -> Tree:
    try:
        data = read_bytes(path)
        if path.endswith(".json"):
            parsed = parse_json(data)
            if isinstance(parsed, Broken):
                fault = parsed.faults[0]
                raise InvalidCase(f"{shown}:{fault.line}: {fault.message}")
            return parsed
        return parse_yaml(data.decode())
    except InvalidYaml as error:
        raise InvalidCase(f"{shown}:{error.line}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidCase(f"{shown}: cannot be read: {error}") from None


class _CaseReader:
    """Reads the cases of one file."""

    def __init__(self, shown: str, tree: Tree) -> None:
        self.shown = shown
        self.tree = tree

    def wrong(self, at: Path, message: str) -> InvalidCase:
        """Return the error for one place."""
        return InvalidCase(f"{self.shown}:{self.tree.line(at)}: {message}")

    def cases(self) -> Iterator[Case]:
        """Yield every case, merged with the defaults of the file."""
        top = self.tree.value
        defaults: Mapping[str, Json] = {}
        at: Path = ()
        if isinstance(top, dict):
            self.keys(top, ("defaults", "cases"), ())
            defaults = self.typed(top, "defaults", dict, "an object", ()) or {}
            self.keys(defaults, _CASE_KEYS, ("defaults",))
            top, at = top.get("cases"), ("cases",)
        if not isinstance(top, list):
            raise self.wrong(at, "write a list of cases, or an object with `cases`")
        seen: set[str] = set()
        for index, written in enumerate(top):
            case = self.case(written, defaults, index, (*at, index))
            if case.name in seen:
                raise self.wrong((*at, index), f"two cases are named `{case.name}`; give each its own name")
            seen.add(case.name)
            yield case

    def case(self, written: Json, defaults: Mapping[str, Json], index: int, at: Path) -> Case:
        """Read one case."""
        if not isinstance(written, dict):
            raise self.wrong(at, "a case is an object with `name`, `event` and `expect`")
        self.keys(written, _CASE_KEYS, at)
        own = {**defaults, **written}
        expect = own.get("expect")
        if isinstance(expect, dict) and isinstance(defaults.get("expect"), dict):
            expect = {**defaults["expect"], **expect}
        event = self.typed(own, "event", str, "the name of an event", at)
        if event is None:
            raise self.wrong(at, "`event` is missing; write for example `event: PreToolUse`, here or under `defaults`")
        if event not in CATALOGUE:
            raise self.wrong((*at, "event"), f"`{event}` is not an event{did_you_mean(event, CATALOGUE)}")
        tool, sample = (self.typed(own, key, str, "a string", at) for key in ("tool", "sample"))
        fields, variant = self.fields(own, event, tool or sample, at)
        case = Case(
            name=self.typed(own, "name", str, "a string", at) or f"case {index + 1}",
            event=event,
            fields=fields,
            variant=variant,
            settings=self.typed(own, "settings", dict, "an object", at),
            sources=self.sources(own, at),
            only=tuple(self.listed(own, "only", at)),
            files=self.texts(own, "files", at),
            env=self.texts(own, "env", at),
            faults=tuple(self.checked(read_fault, text, (*at, "inject")) for text in self.listed(own, "inject", at)),
            model=_said(own.get("model")),
            expect=None if expect is None else self.expect(expect, (*at, "expect")),
            path=self.shown,
            index=index,
            line=self.tree.line(at),
        )
        make_event(case, "/", "/")
        return case

    def fields(
        self, own: Mapping[str, Json], event: str, variant: str | None, at: Path
    ) -> tuple[dict[str, Json], str | None]:
        """Return the event's fields; a tool without a sample needs its own input."""
        fields: dict[str, Json] = dict(self.typed(own, "fields", dict, "an object", at) or {})
        given = self.typed(own, "input", dict, "an object", at)
        if given is not None:
            fields["tool_input"] = given
        prompt = self.typed(own, "prompt", str, "a string", at)
        if prompt is not None:
            fields["prompt"] = prompt
        try:
            if variant is not None:
                sample_fields(event, "/", variant)
        except InvalidEvent as error:
            if given is None:
                raise self.wrong(at, str(error)) from None
            return {"tool_name": variant, **fields}, None
        return fields, variant

    def sources(self, own: Mapping[str, Json], at: Path) -> tuple[str, ...] | None:
        """Read the names of the settings to load."""
        found = tuple(self.listed(own, "sources", at)) if "sources" in own else None
        for name in found or ():
            if name not in SOURCES:
                raise self.wrong((*at, "sources"), f"`{name}` is not one of {', '.join(SOURCES)}")
        return found

    def expect(self, written: Json, at: Path) -> Expect:
        """Read the expectations."""
        if not isinstance(written, dict):
            raise self.wrong(at, "`expect` is an object, for example {decision: deny}")
        self.keys(written, _EXPECT_KEYS, at)
        found: dict[str, Json] = {key: self.wish(written[key], (*at, key)) for key in _WISHES if key in written}
        found |= {key: written[key] for key in ("updated_input", "updated_output") if key in written}
        if "decision" in written:
            found["decision"] = self.decision(written["decision"], (*at, "decision"))
        if "stop" in written:
            stop = written["stop"]
            found["stop"] = stop if isinstance(stop, bool) else self.wish(stop, (*at, "stop"))
        if "ran" in written:
            ran = written["ran"]
            found["ran"] = ran if isinstance(ran, int) else tuple(self.listed(written, "ran", at))
        if "skipped" in written:
            skipped = written["skipped"]
            names = skipped if isinstance(skipped, dict) else dict.fromkeys(self.listed(written, "skipped", at), "")
            found["skipped"] = {str(name): str(reason) for name, reason in names.items()}
        for key, shape, words in (("errors", int, "a number"), ("max_ms", (int, float), "a number")):
            if (value := self.typed(written, key, shape, words, at)) is not None:
                found[key] = value
        if "codes" in written:
            found["codes"] = tuple(self.listed(written, "codes", at))
        found["fields"] = self.typed(written, "fields", dict, "an object", at) or {}
        files = self.typed(written, "files", dict, "an object of paths and expectations", at) or {}
        found["files"] = {name: self.wish(text, (*at, "files", name)) for name, text in files.items()}
        return Expect(**found)

    # ── small shapes ────────────────────────────────────────────────────────

    def decision(self, value: Json, at: Path) -> str:
        """Read a decision; null means none."""
        word = "none" if value is None else str(value)
        if word not in DECISIONS:
            raise self.wrong(at, f"`{word}` is not one of {', '.join(DECISIONS)}{did_you_mean(word, DECISIONS)}")
        return word

    def wish(self, value: Json, at: Path) -> Expectation:
        """Read the expectation for a text: a pattern, several, null, {not: pattern} or {is: text}."""
        if value is None or value is False:
            return Absent()
        if value is True:
            return Matching((re.compile(""),))
        if isinstance(value, dict) and len(value) == 1:
            kind, text = next(iter(value.items()))
            if kind == "is":
                return Exactly(str(text))
            if kind == "not":
                return Without(self.pattern(text, at))
        patterns = value if isinstance(value, list) else [value]
        if any(isinstance(pattern, dict | list) for pattern in patterns):
            raise self.wrong(at, "write a pattern, a list of patterns, null, {not: pattern} or {is: text}")
        return Matching(tuple(self.pattern(pattern, at) for pattern in patterns))

    def pattern(self, text: Json, at: Path) -> re.Pattern[str]:
        """Compile a regular expression."""
        try:
            return re.compile(str(text), re.MULTILINE)
        except re.error as error:
            raise self.wrong(at, f"`{text}` is not a valid regular expression: {error}") from None

    def typed(self, own: Mapping[str, Json], key: str, shape: Json, words: str, at: Path) -> Any:
        """Read an optional key of one type."""
        value = own.get(key)
        if value is None or (isinstance(value, shape) and not isinstance(value, bool)):
            return value
        raise self.wrong((*at, key), f"`{key}` must be {words}")

    def texts(self, own: Mapping[str, Json], key: str, at: Path) -> dict[str, str]:
        """Read an object of strings."""
        found = self.typed(own, key, dict, "an object of names and strings", at) or {}
        return {str(name): "" if text is None else str(text) for name, text in found.items()}

    def listed(self, own: Mapping[str, Json], key: str, at: Path) -> list[str]:
        """Read one string or a list of strings."""
        value = own.get(key, [])
        texts = value if isinstance(value, list) else [value]
        if not all(isinstance(text, str) for text in texts):
            raise self.wrong((*at, key), f"`{key}` must be a string or a list of strings")
        return texts

    def keys(self, own: Json, known: tuple[str, ...], at: Path) -> None:
        """Refuse an unknown key."""
        for key in own:
            if key not in known:
                raise self.wrong((*at, key), f"unknown key `{key}`{did_you_mean(str(key), known)}")

    def checked(self, make: Callable[[str], Any], text: str, at: Path) -> Any:
        """Read a string with its own parser; report where it is when that fails."""
        try:
            return make(text)
        except HookwrightError as error:
            raise self.wrong(at, str(error)) from None


def _said(value: Json) -> str:
    """Return the model's answer as text; an object becomes JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return encode(value).decode()
