"""The specifier of a `Bash(…)` or `PowerShell(…)` rule, and how it matches the sub-commands of a command.

Law of a pattern: `*` matches any text, spaces and line ends included; without `*` the text must be equal. A single `*`
after a space at the end also matches nothing, together with the space: `ls *` matches `ls` and `ls -la`, not `lsof`.
`:*` at the end is another way to write ` *`.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import msgspec

from hookwright.matching.matchers import MATCH, NO_MATCH, Answer, Undecided
from hookwright.matching.shell.commands import (
    MARKS,
    SPLITS,
    UNKNOWN,
    WRAPPERS,
    Analysis,
    Redirection,
    SubCommand,
    spelled,
)

_TERMINAL = ("CLICOLOR", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "TERM")
_LOCALE = ("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_TIME", "TZ")
_REPORTING = ("CI", "NODE_ENV", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "RUST_BACKTRACE", "RUST_LOG")
SAFE_VARIABLES = frozenset([*_TERMINAL, *_LOCALE, *_REPORTING])
"""Variables that change the output of a program, not what it does: an allow rule ignores their assignment."""

_RUNS_ARGUMENTS = frozenset(["flock", "ionice", "setsid", "watch"])
_FIND_ACTIONS = re.compile(r"-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)")
_OPERATORS = re.compile(r"&&|\|\||[;|&\n]")
_NAME_ONLY = re.compile(r"[^\s*]+ \*")


class Wildcard(msgspec.Struct, frozen=True, dict=True):
    """A text in which `*` matches any text."""

    text: str

    @cached_property
    def pieces(self) -> list[str]:
        return re.sub(r"\*+", "*", self.text).split("*")

    def matches(self, subject: str) -> bool:
        """Return whether the whole subject matches."""
        first, *rest = self.pieces
        if not rest:
            return subject == first
        *middle, last = rest
        end = len(subject) - len(last)
        if not (subject.startswith(first) and subject.endswith(last) and len(first) <= end):
            return False
        at = len(first)
        for piece in middle:
            found = subject.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True

    def may_match(self, shape: str) -> bool:
        """Return whether some text for each unknown part of a shape makes the whole match."""
        tokens = "*".join(self.pieces)
        places: dict[str, int] = {}
        for at, token in enumerate(tokens):
            places[token] = places.get(token, 0) | 1 << at
        stars = places.pop("*", 0)
        # A bit means: the tokens before it match the text so far. A star may be skipped at any time.
        reached = 1 | (1 & stars) << 1
        for char in shape:
            if char in (UNKNOWN, SPLITS):
                reached = (1 << len(tokens) + 1) - (reached & -reached)
            else:
                reached = (reached & places.get(char, 0)) << 1 | reached & stars
                reached |= (reached & stars) << 1
        return bool(reached >> len(tokens) & 1)


class CommandPattern(msgspec.Struct, frozen=True, dict=True):
    """The command pattern of a rule."""

    text: str

    @cached_property
    def wildcard(self) -> Wildcard:
        return Wildcard(self.spelling)

    @cached_property
    def spelling(self) -> str:
        """The pattern with ` *` for `:*`."""
        return f"{self.text[:-2]} *" if self.text.endswith(":*") else self.text

    @property
    def exact(self) -> bool:
        """Whether the pattern matches only one text."""
        return "*" not in self.text

    @cached_property
    def name_only(self) -> bool:
        """Whether the pattern only names the program."""
        return _NAME_ONLY.fullmatch(self.spelling) is not None

    def matches(self, subject: str) -> bool:
        """Return whether one spelling of a command matches."""
        spelling = self.spelling
        bare = spelling[:-2] if spelling.endswith(" *") and spelling.count("*") == 1 else None
        return subject == bare or self.wildcard.matches(subject)

    def may_match(self, command: SubCommand) -> bool:
        """Return whether unknown parts of a command could make it match."""
        if MARKS.search(command.first) is None and UNKNOWN not in command.shape:
            return False
        if self.name_only:
            return Wildcard(self.spelling[:-2]).may_match(command.program)
        bare = command.program + command.shape[len(command.first) :]
        shapes = (command.shape, bare) if SPLITS not in command.first else (command.program + UNKNOWN,)
        return any(self.wildcard.may_match(text) for shape in shapes for text in (shape, f"{shape} "))

    def as_condition(self, command: str, analysis: Analysis) -> Answer:
        """Answer for an `if`: any sub-command is enough, and what cannot be decided is undecided.

        Law: a pattern that says more than a program's name is undecided for every command with `$(…)`, backticks or
        `$VAR`; every pattern is undecided for a command with a here-document that Bash expands.
        """
        if self._matches_any(command, analysis):
            return MATCH
        if analysis.expands_document:
            return Undecided("the command has a here-document without quotes around its delimiter")
        if analysis.expands and not self.name_only:
            return Undecided("the command has $(…), backticks or $VAR, and the rule has more than a program's name")
        return self._in_doubt(analysis)

    def as_guard(self, command: str, analysis: Analysis) -> Answer:
        """Answer for a deny or ask rule: any sub-command is enough; what an expansion could make match is undecided."""
        return MATCH if self._matches_any(command, analysis) else self._in_doubt(analysis)

    def _in_doubt(self, analysis: Analysis) -> Answer:
        """Answer for a command that does not match: whether it still might.

        Law: no match is certain only if the whole text was read, no text hides in it, and neither an expansion nor
        the words of a runner could make a command match.
        """
        if analysis.problem is not None:
            return Undecided(analysis.problem)
        if any(map(self.may_match, (*analysis.commands, *analysis.started, *analysis.may_start))):
            return Undecided("$(…), backticks or $VAR could make this command match")
        if any(self.matches(text) for found in analysis.may_start for text in found.guarded):
            return Undecided("a program may start a command that matches")
        return NO_MATCH if analysis.hidden is None else Undecided(analysis.hidden)

    def _matches_any(self, command: str, analysis: Analysis) -> bool:
        found = (*analysis.commands, *analysis.started)
        texts: Iterable[str] = (text for each in found for text in each.guarded)
        # No sub-command contains an operator, so a pattern with one can only match the whole command.
        whole = _OPERATORS.search(self.text) is not None and self.matches(command.strip())
        return whole or any(map(self.matches, texts))

    def allows(self, command: SubCommand) -> Answer:
        """Return the answer for one sub-command and an allow rule, which must cover everything the command does.

        Only a rule for the whole command approves writing a file, setting a variable (other than a safe one), or a
        program that runs its arguments.
        """
        if self.exact and self.text in (command.source, command.command):
            return MATCH if self.text == command.source else self._with_surroundings(command)
        if command.name is None:
            return Undecided("which program runs is only known when the command runs")
        unwrapped = (spelled(command.core), *([command.command] if command.core == command.words else []))
        if not any(map(self.matches, unwrapped)):
            return NO_MATCH
        if not self.exact and _runs_arguments(command):
            return NO_MATCH
        runs = command.name == "find" or command.name in WRAPPERS
        if not self.exact and runs and not all(word.known for word in command.core):
            return Undecided(f"{command.name} can run other programs, and not every word of it is known")
        if not self.name_only and not all(word.known for word in command.core):
            return Undecided("the command has $(…), backticks or $VAR, and the rule has more than a program's name")
        return self._with_surroundings(command)

    def _with_surroundings(self, command: SubCommand) -> Answer:
        for assignment in command.assignments:
            if assignment.name not in SAFE_VARIABLES:
                return Undecided(f"the rule does not cover the assignment {assignment.text}")
        return _without_writing(command.redirections)


def _without_writing(redirections: Iterable[Redirection]) -> Answer:
    for redirection in redirections:
        if redirection.writes and redirection.target.shape != "/dev/null":
            return Undecided(f"the rule does not cover writing to {redirection.target.raw}")
    return MATCH


def _runs_arguments(command: SubCommand) -> bool:
    """Return whether a command runs its own words."""
    if command.name == "find":
        return any(_FIND_ACTIONS.fullmatch(word.shape) for word in command.core)
    return command.name in _RUNS_ARGUMENTS


def allowed(patterns: Sequence[CommandPattern], analysis: Analysis) -> Answer:
    """Return the answer for several allow rules: each sub-command needs one of them."""
    if analysis.problem is not None:
        return Undecided(analysis.problem)
    if not analysis.commands:
        return NO_MATCH
    of_commands = [redirection for command in analysis.commands for redirection in command.redirections]
    doubt = _without_writing(found for found in analysis.redirections if found not in of_commands)
    for command in analysis.commands:
        answers = [pattern.allows(command) for pattern in patterns]
        if MATCH in answers:
            continue
        unsure = [answer for answer in answers if isinstance(answer, Undecided)]
        if not unsure:
            return NO_MATCH
        doubt = unsure[0]
    return doubt
