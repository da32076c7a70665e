"""The nouns: a case, its expectations, and its result."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from msgspec import UNSET, UnsetType

from hookwright.cases.inject import Fault
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome

#: The names of the combined decision of all hooks.
DECISIONS = ("allow", "deny", "ask", "defer", "block", "stop", "none")


class Absent(msgspec.Struct, frozen=True):
    """There must be no text."""


class Exactly(msgspec.Struct, frozen=True):
    """The text must equal this one."""

    text: str


class Matching(msgspec.Struct, frozen=True):
    """Each pattern must match somewhere in the text."""

    patterns: tuple[re.Pattern[str], ...]


class Without(msgspec.Struct, frozen=True):
    """The pattern must not match."""

    pattern: re.Pattern[str]


#: The expectation for a text; UNSET expects nothing.
Expectation = Absent | Exactly | Matching | Without | UnsetType


class Expect(msgspec.Struct, frozen=True, kw_only=True):
    """The expected result of a case; UNSET fields are not compared."""

    decision: str | UnsetType = UNSET
    reason: Expectation = UNSET
    context: Expectation = UNSET
    system_message: Expectation = UNSET
    stop: Expectation | bool = UNSET
    updated_input: Mapping[str, Json] | UnsetType | None = UNSET
    updated_output: Json = UNSET
    #: The event's own answer fields: session_title, watch_paths, retry, …
    fields: Mapping[str, Json] = msgspec.field(default_factory=dict)
    #: The number of hooks that ran, or patterns for exactly those.
    ran: int | tuple[str, ...] | UnsetType = UNSET
    #: Patterns for hooks that were skipped, each with its reason or an empty string.
    skipped: Mapping[str, str] = msgspec.field(default_factory=dict)
    #: Hooks without a verdict; none by default.
    errors: int = 0
    codes: tuple[str, ...] = ()
    files: Mapping[str, Expectation] = msgspec.field(default_factory=dict)
    env_file: Expectation = UNSET
    max_ms: float | UnsetType = UNSET


class Problem(msgspec.Struct, frozen=True):
    """One expectation that does not hold."""

    #: The key of `expect`; for files followed by a dot and the path.
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.key}: {self.text}"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One event with its surroundings and its expected result."""

    name: str
    event: str
    #: The event's own fields, with placeholders.
    fields: Mapping[str, Json] = msgspec.field(default_factory=dict)
    #: The tool or matcher value of the default sample.
    variant: str | None = None
    settings: Mapping[str, Json] | None = None
    #: The settings to load: some of user, project and local; None for those that the file's place implies.
    sources: tuple[str, ...] | None = None
    #: Patterns for the hooks that take part; empty for all.
    only: tuple[str, ...] = ()
    files: Mapping[str, str] = msgspec.field(default_factory=dict)
    #: `$NAME` is replaced by an environment variable.
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    #: The model's answer to every prompt and agent hook; empty to ask a real model.
    model: str = ""
    #: None when the case expects nothing, which is never a success.
    expect: Expect | None = None
    path: str = ""
    index: int = 0
    line: int = 0

    @property
    def id(self) -> str:
        """The case's name in reports and filters."""
        return f"{self.path}::{self.name}"

    @property
    def brings_code(self) -> bool:
        """Whether the case itself supplies code: hooks, scripts, or files in the hooks' folders."""
        hooks = self.settings is not None and "hooks" in self.settings
        return hooks or any(path.split("/")[0] == ".claude" or text[:2] == "#!" for path, text in self.files.items())

    @property
    def needs_scratch(self) -> bool:
        """Whether the case writes files, or compares files written by hooks."""
        return bool(self.files or (self.expect is not None and self.expect.files))


class CaseResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one case and its problems."""

    case: Case
    outcome: Outcome
    seconds: float
    problems: tuple[Problem, ...] = ()
    #: The compared files as the hooks left them; None for a missing file.
    files: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    #: What hooks wrote to their env files.
    env_file: str = ""
    #: The case's working directory, for placeholders.
    cwd: str = ""
    #: Whether the event was fired; a case that names no hook or no possible event fails without that.
    fired: bool = True

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.problems

    @property
    def vacuous(self) -> bool:
        """Whether the case passed although no hook ran and it did not expect that."""
        expect = self.case.expect
        return self.passed and not self.outcome.runs and expect is not None and expect.ran is UNSET


def decision_word(outcome: Outcome) -> str:
    """Return the hooks' decision in one word."""
    word = type(outcome.decision).__name__.lower()
    if word != "noopinion":
        return word
    return "stop" if outcome.stop is not None else "none"
