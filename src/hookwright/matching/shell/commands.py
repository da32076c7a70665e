"""An analysed shell command: its sub-commands, each without assignments, redirections and wrappers."""

import posixpath
import re
from collections.abc import Sequence
from functools import cached_property

import msgspec

UNKNOWN = "\0"
"""Marks, in a word's shape, text that is known only when the command runs."""

SPLITS = "\1"
"""Marks text that is known only when the command runs and that may come to several words, or to none."""

MARKS = re.compile("[\0\1]")

_NEEDS_NO_QUOTES = re.compile(r"[A-Za-z0-9_./:=@%+,~^-]+")
_EXPANDS_TO_FILES = re.compile(r"[*?]|\[.*\]?|\{.*\}?|[@+!]\(.*", re.DOTALL)
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


class Word(msgspec.Struct, frozen=True):
    """One word as it was written, and its text without quotes."""

    raw: str
    shape: str
    #: Whether it contains an unquoted `*`, `?` or `[`, and so may become the names of files.
    globs: bool = False

    @property
    def plain(self) -> str:
        """The word without quotes, if it would mean the same without them."""
        return self.shape if _NEEDS_NO_QUOTES.fullmatch(self.shape) else self.raw

    @property
    def known(self) -> bool:
        """Whether the word is the same in every run."""
        return not self.globs and MARKS.search(self.shape) is None


class Assignment(msgspec.Struct, frozen=True):
    """An assignment in front of a command."""

    name: str
    text: str


class Redirection(msgspec.Struct, frozen=True):
    """The operator and the file of a redirection; forms without a file (`2>&1`, here-documents) are not listed."""

    operator: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether the file is written."""
        return ">" in self.operator


class SubCommand(msgspec.Struct, frozen=True, dict=True):
    """One simple command.

    `source` is its text with everything around it. `command` is its text without assignments and `core` the words
    that remain without wrappers such as `timeout 5`.
    """

    source: str
    command: str
    words: tuple[Word, ...]
    core: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    redirections: tuple[Redirection, ...] = ()

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The texts that a pattern may mean, from the whole command to its core."""
        texts = (self.source, self.command, spelled(self.words), spelled(self.core))
        return tuple(dict.fromkeys(texts))

    @cached_property
    def guarded(self) -> tuple[str, ...]:
        """The texts that a guard compares: all spellings, also without quotes, and with the program's bare name."""
        words, core = ([word.shape for word in words] for words in (self.words, self.core))
        bare = [posixpath.basename(core[0]), *core[1:]]
        unquoted = (" ".join(words), " ".join(core), " ".join(bare))
        named = spelled((Word(bare[0], bare[0]), *self.core[1:]))
        known = (text for text in (*unquoted, named) if MARKS.search(text) is None)
        return tuple(dict.fromkeys((*self.spellings, *known)))

    @cached_property
    def first(self) -> str:
        """The shape of the program's name; names that depend on files or on the home directory are not known."""
        first = self.core[0]
        if first.raw in ("[", "[["):
            return first.raw
        shape = _EXPANDS_TO_FILES.sub(UNKNOWN, first.shape) if first.globs else first.shape
        return UNKNOWN + "".join(shape.partition("/")[1:]) if first.raw.startswith("~") else shape

    @property
    def name(self) -> str | None:
        """The program that runs (of a lone assignment, the text before `=`), or None if only the shell knows."""
        assigned = _ASSIGNED.match(self.core[0].raw)
        if assigned:
            return assigned[0]
        return None if MARKS.search(self.first) else self.first

    @cached_property
    def program(self) -> str:
        """The last part of the program's name; text after an expansion that may split is not part of it."""
        name, splits, _ = self.first.partition(SPLITS)
        return posixpath.basename(name) + (UNKNOWN if splits else "")

    @cached_property
    def shape(self) -> str:
        """The core with unknown parts marked; a word that may vanish takes its space with it."""
        rest = (UNKNOWN if word.shape == SPLITS else f" {word.shape}" for word in self.core[1:])
        return "".join((self.first, *rest)).replace(SPLITS, UNKNOWN)


class Analysis(msgspec.Struct, frozen=True):
    """The sub-commands of a command, at any depth.

    With a `problem` the list may be incomplete: guards are undecided, and nothing is allowed.
    """

    commands: tuple[SubCommand, ...]
    #: Whether there is a `$(…)`, a backtick or a `$VAR`.
    expands: bool = False
    problem: str | None = None
    redirections: tuple[Redirection, ...] = ()
    #: Whether there is a here-document that Bash expands.
    expands_document: bool = False
    #: Commands that the sub-commands start in their turn (`sh -c '…'`, `env x`, `find -exec x`): guards apply to them.
    started: tuple[SubCommand, ...] = ()
    #: Commands that they may start, by their words: guards may apply to them.
    may_start: tuple[SubCommand, ...] = ()
    #: Why other commands may be started that the text does not show; guards are undecided.
    hidden: str | None = None
    #: Whether a command at the top level runs in the background, with `&`.
    defers: bool = False


def spelled(words: Sequence[Word]) -> str:
    """Return words joined by single spaces, without needless quotes."""
    return " ".join(word.plain for word in words)


class Wrapper(msgspec.Struct, frozen=True):
    """A program that runs the command in its words: options it may have, those with a value, operands of its own."""

    flags: re.Pattern[str]
    valued: frozenset[str] = frozenset()
    operands: int = 0

    def inside(self, words: Sequence[Word]) -> tuple[Word, ...] | None:
        """Return the words of the wrapped command; None if an option or a word before it is not known."""
        at = 1
        while at < len(words) and words[at].shape.startswith("-"):
            option = words[at].shape
            if option in self.valued:
                at += 2
            elif self.flags.fullmatch(option):
                at += 1
            else:
                return None
        at += self.operands
        return tuple(words[at:]) if all(word.known for word in words[:at]) else None


def wrapper(flags: str, valued: str = "", operands: int = 0) -> Wrapper:
    """Describe a wrapper."""
    return Wrapper(re.compile(flags), frozenset(valued.split()), operands)


WRAPPERS = {
    "timeout": wrapper(
        r"-[ks].+|-v|--(kill-after|signal)=.*|--(preserve-status|foreground|verbose)",
        "-k --kill-after -s --signal",
        operands=1,
    ),
    "time": wrapper(r"-p|--"),
    "nice": wrapper(r"-n.+|-\d+|--adjustment=.*", "-n --adjustment"),
    "stdbuf": wrapper(r"-[ioe].+|--(input|output|error)=.*", "-i --input -o --output -e --error"),
    "command": wrapper(r"-p|--"),
    "builtin": wrapper(r"--"),
    "nohup": wrapper(r"--"),
    "coproc": wrapper(r"(?!)"),
}
"""The wrappers that are taken off, with the options that keep them wrappers: `command -v` is not one.

Every word of the wrapped command is in the text. Programs such as `xargs`, which add words, are not in this table.
"""


def without_wrappers(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Remove the wrappers in front of a command, as often as there are any."""
    while (known := WRAPPERS.get(words[0].shape)) and (inside := known.inside(words)):
        words = inside
    return words
