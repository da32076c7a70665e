"""jq inside a shell program: the event fields it reads, and what it prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookwright.lint.programs.ir import (
    CodePlace,
    Eat,
    Encoded,
    FieldRead,
    Hole,
    Object,
    Say,
    Stdin,
    Stmt,
    Stream,
    Text,
    Value,
    text,
)
from hookwright.lint.programs.shell import jq

if TYPE_CHECKING:
    from hookwright.lint.programs.shell.reader import ShellReader

Words = Sequence[Text]


def run_jq(reader: ShellReader, words: Words, place: CodePlace) -> list[Stmt]:
    """Read a jq call: the event fields it reads, and what it prints."""
    asked = _JqCall(words[1:])
    if asked.filter is None:
        return [*eats(reader, "jq", place, unless=asked.without_input), Say(place, Stream.OUT, text(Hole()))]
    given = _given(reader, asked)
    if "event" in given.origins:
        for found in jq.field_paths(asked.filter):
            reader.fields.append(FieldRead(place, found.path, found.fallback))
    eaten = eats(reader, "jq", place, unless=asked.without_input or bool(asked.files))
    return [*eaten, Say(place, Stream.OUT, _jq_output(asked, given))]


def _given(reader: ShellReader, asked: _JqCall) -> Hole:
    """Return the value of the filter's dot."""
    if asked.without_input or asked.files:
        return Hole()
    origins = reader.input.text.origins
    if reader.input.text.parts and isinstance(reader.input.text.parts[0], str):
        origins = frozenset()
    return Hole(origins)


def _jq_output(asked: _JqCall, given: Hole) -> Text:
    assert asked.filter is not None
    path = jq.single_path(asked.filter)
    if path is not None:
        return text(Hole(frozenset(".".join((origin, *path)) for origin in given.origins)), "\n")
    value = jq.build(asked.filter, asked.variables, given)
    if isinstance(value, Object):
        return text(Encoded(value), "\n")
    if isinstance(value, Text) and asked.raw:
        return text(value, "\n")
    if isinstance(value, Text):
        return text(Encoded(value), "\n")
    quoted = "@sh" in asked.filter or "@json" in asked.filter
    return text(
        Hole(given.origins | frozenset(o for v in asked.variables.values() for o in _value_origins(v)), quoted=quoted)
    )


def _value_origins(value: Value) -> frozenset[str]:
    return value.origins if isinstance(value, Text | Hole) else frozenset()


class _JqCall:
    """The options of one call of jq."""

    def __init__(self, words: Words) -> None:
        self.filter: str | None = None
        self.files: list[Text] = []
        self.variables: dict[str, Value] = {}
        self.without_input = False
        self.raw = False
        rest = list(words)
        seen = False
        while rest:
            word = rest.pop(0)
            known = word.constant
            if known in ("--arg", "--argjson", "--slurpfile", "--rawfile") and len(rest) > 1:
                name, value = rest.pop(0).known, rest.pop(0)
                self.variables[name] = value if known == "--arg" else Hole(value.origins)
            elif known is not None and known.startswith("-") and len(known) > 1:
                short = not known.startswith("--")
                self.without_input |= (short and "n" in known) or known == "--null-input"
                self.raw |= (short and bool(set(known) & {"r", "j"})) or known == "--raw-output"
            elif not seen:
                seen = True
                self.filter = known
            else:
                self.files.append(word)


def eats(reader: ShellReader, name: str, place: CodePlace, *, unless: bool = False) -> list[Stmt]:
    """Record that a command reads the hook's stdin to its end."""
    return [Eat(place, name)] if reader.input.kind is Stdin.EVENT and not unless else []
