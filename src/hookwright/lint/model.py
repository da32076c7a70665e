"""The nouns of `check`: a rule with its samples, a finding with its place, a fix as edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from hookwright.protocol.diagnostics import Severity

__all__ = ["Edit", "Executable", "Finding", "Fix", "LintRule", "Position", "Sample", "Severity"]

#: From harmless to serious.
RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}


class Position(msgspec.Struct, frozen=True):
    """A place in a file; lines and columns count from 1."""

    path: str
    line: int = 1
    column: int = 1
    #: The way to a value in a JSON or YAML file; empty in scripts.
    pointer: str = ""


class Edit(msgspec.Struct, frozen=True):
    """Replace a part of a file's text, given in characters."""

    path: str
    start: int
    end: int
    text: str


class Executable(msgspec.Struct, frozen=True):
    """Give a file the right to be run."""

    path: str


Fix = tuple[Edit | Executable, ...]


class Finding(msgspec.Struct, frozen=True):
    """One rule at one place: what happens, and what to write."""

    rule: str
    at: Position
    what: str
    write: str
    severity: Severity
    fix: Fix = ()


class Sample(msgspec.Struct, frozen=True):
    """A small project; `at` is a text whose first line in any of its files is where a bad one is caught."""

    files: Mapping[str, str]
    at: str = ""
    #: Files that may not be executed although they begin with `#!`.
    plain: tuple[str, ...] = ()
    #: `--target` for this sample.
    target: str = ""
    #: The path that is checked, below the sample's root.
    path: str = "."
    #: Hooks are run, not only looked at.
    trust: bool = False
    #: Said in place of the settings file, where that is an ordinary one and the script is what counts.
    event: str = ""

    @property
    def shown(self) -> Mapping[str, str]:
        """Give the files that a reader must see."""
        return {name: text for name, text in self.files.items() if not (self.event and name.endswith("settings.json"))}

    def marked(self, mark: str) -> Iterator[tuple[str, list[str]]]:
        """Give each shown file as lines, the one that is caught with a mark behind it."""
        open_ = bool(self.at)
        for name, text in self.shown.items():
            lines = text.rstrip("\n").split("\n")
            if open_ and self.at in text:
                open_ = False
                lines[text[: text.index(self.at)].count("\n")] += mark
            yield name, lines


class LintRule(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that `check` knows."""

    id: str
    name: str
    severity: Severity
    summary: str
    why: str
    fix: str
    bad: Sample
    good: Sample
    #: Found by firing samples at the hook, with `--run`.
    runs: bool = False
    #: Found only with `--target`.
    needs_target: bool = False

    @property
    def title(self) -> str:
        """Show id and name together."""
        return f"{self.id} {self.name}"
