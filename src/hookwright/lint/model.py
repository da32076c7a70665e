"""The nouns of `check`: a rule with its samples, a finding with its place, a fix as edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from hookwright.protocol.diagnostics import Severity

__all__ = ["Edit", "Executable", "Finding", "Fix", "LintRule", "Position", "Sample", "Severity"]

#: From harmless to serious.
RANK = {Severity.INFO: 0, Severity.WARNING: 1, Severity.ERROR: 2}


class Position(msgspec.Struct, frozen=True):
    """A place in a file; lines and columns start at 1."""

    path: str
    line: int = 1
    column: int = 1
    #: The path of a value in a JSON or YAML file; empty in scripts.
    pointer: str = ""


class Edit(msgspec.Struct, frozen=True):
    """Replace part of a file's text, in characters."""

    path: str
    start: int
    end: int
    text: str


class Executable(msgspec.Struct, frozen=True):
    """Make a file executable."""

    path: str


Fix = tuple[Edit | Executable, ...]


class Finding(msgspec.Struct, frozen=True):
    """One rule at one place: what happens, and how to fix it."""

    rule: str
    at: Position
    what: str
    write: str
    severity: Severity
    fix: Fix = ()
    #: The agent a finding is about; empty for Claude Code and Hookwright.
    agent: str = ""


class Sample(msgspec.Struct, frozen=True):
    """A small project; the finding of a bad one is on the first line that contains `at`."""

    files: Mapping[str, str]
    at: str = ""
    #: Files without execute permission although they begin with `#!`.
    plain: tuple[str, ...] = ()
    #: `--target`, or `--for` where it names an agent.
    target: str = ""
    #: `--agent` for this sample.
    agent: str = ""
    #: The path to check, below the sample's root.
    path: str = "."
    #: Whether its hooks are run.
    trust: bool = False
    #: Shown instead of an ordinary settings file, where only the script matters.
    event: str = ""

    @property
    def option(self) -> str:
        """The option of `check` that this sample needs; empty if none."""
        if self.agent:
            return f"--agent {self.agent}"
        if not self.target:
            return ""
        return f"{'--for' if self.target.isalpha() and self.target != 'windows' else '--target'} {self.target}"

    @property
    def shown(self) -> Mapping[str, str]:
        """The files to show a reader."""
        return {name: text for name, text in self.files.items() if not (self.event and name.endswith("settings.json"))}

    def marked(self, mark: str) -> Iterator[tuple[str, list[str]]]:
        """Yield each shown file as lines, with a mark after the line of the finding."""
        open_ = bool(self.at)
        for name, text in self.shown.items():
            lines = text.rstrip("\n").split("\n")
            if open_ and self.at in text:
                open_ = False
                lines[text[: text.index(self.at)].count("\n")] += mark
            yield name, lines


class LintRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of `check`."""

    id: str
    name: str
    severity: Severity
    summary: str
    why: str
    fix: str
    bad: Sample
    good: Sample
    #: Found by running the hook, with `--run`.
    runs: bool = False
    #: Only found with `--target`.
    needs_target: bool = False
    #: Only found with `--for` or `--agent`.
    needs_agent: bool = False
    #: An opinion, or about other systems: only reported with `--strict`, or when selected.
    strict: bool = False

    @property
    def needs(self) -> str:
        """The option without which the rule finds nothing; empty if it needs none."""
        if self.needs_agent:
            return "--agent" if self.bad.agent else "--for"
        return "--target" if self.needs_target else ""

    @property
    def title(self) -> str:
        """Id and name."""
        return f"{self.id} {self.name}"
