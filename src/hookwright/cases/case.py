"""The nouns: a case, what it expects, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from msgspec import UNSET, UnsetType

from hookwright.cases.inject import Fault
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome

#: The words for what all hooks together decided.
DECISIONS = ("allow", "deny", "ask", "defer", "block", "stop", "none")


class Absent(msgspec.Struct, frozen=True):
    """There must be no text."""


class Exactly(msgspec.Struct, frozen=True):
    """The text must be this one."""

    text: str


class Matching(msgspec.Struct, frozen=True):
    """Each pattern must be found somewhere in the text."""

    patterns: tuple[re.Pattern[str], ...]


class Without(msgspec.Struct, frozen=True):
    """The pattern must not be found."""

    pattern: re.Pattern[str]


#: What is expected of a text; UNSET expects nothing.
Expectation = Absent | Exactly | Matching | Without | UnsetType


class Expect(msgspec.Struct, frozen=True, kw_only=True):
    """What must come of a case; what is UNSET is not looked at."""

    decision: str | UnsetType = UNSET
    reason: Expectation = UNSET
    context: Expectation = UNSET
    system_message: Expectation = UNSET
    stop: Expectation | bool = UNSET
    updated_input: Mapping[str, Json] | UnsetType | None = UNSET
    updated_output: Json = UNSET
    #: The event's own answer fields: session_title, watch_paths, retry, …
    fields: Mapping[str, Json] = msgspec.field(default_factory=dict)
    #: How many hooks ran, or patterns for exactly those that ran.
    ran: int | tuple[str, ...] | UnsetType = UNSET
    #: Patterns for hooks that were skipped, each with its reason or an empty text.
    skipped: Mapping[str, str] = msgspec.field(default_factory=dict)
    #: Hooks that gave no verdict; a case that says nothing expects none.
    errors: int = 0
    codes: tuple[str, ...] = ()
    files: Mapping[str, Expectation] = msgspec.field(default_factory=dict)
    env_file: Expectation = UNSET
    max_ms: float | UnsetType = UNSET


class Problem(msgspec.Struct, frozen=True):
    """One expectation that does not hold."""

    #: The key of `expect`, for files with the path behind a dot.
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.key}: {self.text}"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One event with its surroundings, and what must come of it."""

    name: str
    event: str
    #: The event's own fields, placeholders not yet filled in.
    fields: Mapping[str, Json] = msgspec.field(default_factory=dict)
    #: A tool, or a value of the matcher, that the plain sample is made for.
    variant: str | None = None
    settings: Mapping[str, Json] | None = None
    files: Mapping[str, str] = msgspec.field(default_factory=dict)
    #: `$NAME` stands for a variable of the surroundings.
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    #: What the model answers to prompt and agent hooks, again and again; empty when a real one is asked.
    model: str = ""
    #: None when the case says nothing, which is never a success.
    expect: Expect | None = None
    path: str = ""
    index: int = 0
    line: int = 0

    @property
    def id(self) -> str:
        """Name the case in reports and filters."""
        return f"{self.path}::{self.name}"

    @property
    def brings_code(self) -> bool:
        """Tell whether the case itself supplies something that is run: hooks, scripts, or files where hooks live."""
        hooks = self.settings is not None and "hooks" in self.settings
        return hooks or any(path.split("/")[0] == ".claude" or text[:2] == "#!" for path, text in self.files.items())

    @property
    def needs_scratch(self) -> bool:
        """Tell whether the case writes files, or looks at files that hooks write."""
        return bool(self.files or (self.expect is not None and self.expect.files))


class CaseResult(msgspec.Struct, frozen=True, kw_only=True):
    """A case that was run: what came of it and what is wrong with that."""

    case: Case
    outcome: Outcome
    seconds: float
    problems: tuple[Problem, ...] = ()
    #: The files that the case looks at, as the hooks left them; None where there is none.
    files: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    #: What hooks wrote to their env files.
    env_file: str = ""
    #: The directory that the case ran in, for placeholders.
    cwd: str = ""

    @property
    def passed(self) -> bool:
        """Tell whether everything came as expected."""
        return not self.problems

    @property
    def vacuous(self) -> bool:
        """Tell whether the case passed although no hook ran and it did not say so."""
        expect = self.case.expect
        return self.passed and not self.outcome.runs and expect is not None and expect.ran is UNSET


def decision_word(outcome: Outcome) -> str:
    """Say in one word what the hooks decided."""
    word = type(outcome.decision).__name__.lower()
    if word != "noopinion":
        return word
    return "stop" if outcome.stop is not None else "none"
