"""An analysed shell command: its sub-commands, each without assignments, redirections and wrappers."""

import re
from collections.abc import Sequence
from functools import cached_property

import msgspec

UNKNOWN = "\0"
"""Marks, in the shape of a word, text that is only known when the command runs."""

_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_./:=@%+,~^-]+")
_EXPANDS_TO_FILES = re.compile(r"[*?]|\[.*\]?|\{.*\}?", re.DOTALL)
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


class Word(msgspec.Struct, frozen=True):
    """One word as written, and its value without quotes."""

    raw: str
    shape: str

    @property
    def plain(self) -> str:
        """The word without quotes, where it means the same without them."""
        return self.shape if _NEEDS_NO_QUOTES.fullmatch(self.shape) else self.raw


class Assignment(msgspec.Struct, frozen=True):
    """An assignment in front of a command."""

    name: str
    text: str


class Redirection(msgspec.Struct, frozen=True):
    """The operator and the file of a redirection; forms without a file (`2>&1`, here-documents) are not included."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the file is written."""
        return ">" in self.operator


class SubCommand(msgspec.Struct, frozen=True, dict=True):
    """One simple command.

    `source` is its whole text, `command` its text without assignments, and `core` the words that remain without
    wrappers such as `timeout 5`.
    """

    source: str
    command: str
    words: tuple[Word, ...]
    core: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The texts a pattern is compared with, from the whole command to its core."""
        texts = (self.source, self.command, spelled(self.words), spelled(self.core))
        return tuple(dict.fromkeys(texts))

    @cached_property
    def first(self) -> str:
        """The shape of the program's name; a glob that may become a file name is unknown."""
        first = self.core[0]
        if first.raw in ("[", "[["):
            return first.raw
        return _EXPANDS_TO_FILES.sub(UNKNOWN, first.shape) if first.raw == first.shape else first.shape

    @property
    def name(self) -> str | None:
        """The program that runs (of a lone assignment, the name before `=`), or None if only the shell knows."""
        assigned = _ASSIGNED.match(self.core[0].raw)
        if assigned:
            return assigned[0]
        return None if UNKNOWN in self.first else self.first

    @cached_property
    def shape(self) -> str:
        """The core with unknown parts marked; a word that may be empty includes its space."""
        rest = (UNKNOWN if word.shape == UNKNOWN else f" {word.shape}" for word in self.core[1:])
        return "".join((self.first, *rest))


class Analysis(msgspec.Struct, frozen=True):
    """The sub-commands of a command, at every depth.

    `expands` is true if it contains `$(…)`, backticks or `$VAR`. With a `problem` the list may be incomplete.
    """

    commands: tuple[SubCommand, ...]
    expands: bool = False
    problem: str | None = None
    redirections: tuple[Redirection, ...] = ()


def spelled(words: Sequence[Word]) -> str:
    """Return words joined by single spaces, without needless quotes."""
    return " ".join(word.plain for word in words)


_OPTIONS_WITH_VALUE = {
    "timeout": {"-k", "--kill-after", "-s", "--signal"},
    "nice": {"-n", "--adjustment"},
    "stdbuf": {"-i", "--input", "-o", "--output", "-e", "--error"},
}
_FLAGS = {
    "timeout": re.compile(r"-[ksv].*|--(kill-after|signal)=.*|--(preserve-status|foreground|verbose)"),
    "time": re.compile(r"-p|--"),
    "nice": re.compile(r"-n.+|-\d+|--adjustment=.*"),
    "stdbuf": re.compile(r"-[ioe].+|--(input|output|error)=.*"),
    "command": re.compile(r"-p|--"),
    "builtin": re.compile(r"--"),
    "nohup": re.compile(r"--"),
    "noglob": re.compile(r"(?!)"),
    "coproc": re.compile(r"(?!)"),
    "xargs": re.compile(r"(?!)"),
}
"""Wrappers to remove, with the options they may have: `command -v` and `xargs -n1` are not wrappers."""


def without_wrappers(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return a command without any of its wrappers."""
    while inner := _unwrapped(words):
        words = inner
    return words


def _unwrapped(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the command inside one wrapper, or nothing."""
    name = words[0].shape
    flags = _FLAGS.get(name)
    if flags is None:
        return ()
    at = 1
    while at < len(words) and words[at].shape.startswith("-"):
        option = words[at].shape
        if option in _OPTIONS_WITH_VALUE.get(name, ()):
            at += 2
        elif flags.fullmatch(option):
            at += 1
        else:
            return ()
    return words[at + 1 :] if name == "timeout" else words[at:]
