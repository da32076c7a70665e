"""What a hook's program does, in one small language for shell, Python and JavaScript.

Only what the rules need is kept: what is printed on which stream, how the program exits, which tests lead there, what
it starts, and where a value comes from. Anything a reader does not understand becomes an unknown value or an unknown
call, and the rules report nothing about those.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec


class Language(enum.Enum):
    """A language that can be read."""

    SHELL = "shell"
    PYTHON = "Python"
    JAVASCRIPT = "JavaScript"


class TooLong(Exception):
    """A program takes more steps to read than any hook written by hand."""


class Steps:
    """Counts what is read, so that functions that call functions cannot grow without end."""

    def __init__(self, left: int = 5_000) -> None:
        self.left = left

    def take(self) -> None:
        """Count one statement; raise TooLong when there were too many."""
        self.left -= 1
        if self.left < 0:
            raise TooLong


class CodePlace(msgspec.Struct, frozen=True, order=True):
    """A position in a program's own text, from 1."""

    line: int = 1
    column: int = 1


# ── values ──────────────────────────────────────────────────────────────────


class Hole(msgspec.Struct, frozen=True):
    """A value that only a run knows; its origins are `event`, `event.tool_input.command`, `env.NAME`, …"""

    origins: frozenset[str] = frozenset()
    #: Its possible texts, if all of them are written in the program.
    choices: tuple[str, ...] = ()
    #: It went through something that makes it harmless in a shell (shlex.quote, @sh, printf %q).
    quoted: bool = False


class Object(msgspec.Struct, frozen=True):
    """A JSON object whose keys are known, or at least some of them when it is open."""

    items: Mapping[str, Value]
    open: bool = False


class Array(msgspec.Struct, frozen=True):
    """A JSON array."""

    items: tuple[Value, ...]


class Encoded(msgspec.Struct, frozen=True):
    """The JSON text of a value."""

    value: Value


Part: TypeAlias = str | Hole | Encoded


class Text(msgspec.Struct, frozen=True):
    """A text with unknown parts."""

    parts: tuple[Part, ...] = ()

    @property
    def constant(self) -> str | None:
        """The text, if all of it is known."""
        return "".join(map(str, self.parts)) if all(isinstance(part, str) for part in self.parts) else None

    @property
    def known(self) -> str:
        """The known parts, with one space for each unknown part."""
        return "".join(part if isinstance(part, str) else " " for part in self.parts)

    @property
    def holes(self) -> tuple[Hole, ...]:
        """List the unknown parts."""
        return tuple(part for part in self.parts if isinstance(part, Hole))

    @property
    def origins(self) -> frozenset[str]:
        """The origins of the unknown parts."""
        return frozenset(origin for hole in self.holes for origin in hole.origins)


Value: TypeAlias = Object | Array | Text | Hole | bool | int | float | None

UNKNOWN = Hole()


def text(*parts: Part | Text) -> Text:
    """Join parts into a text, neighbouring constants into one."""
    flat: list[Part] = []
    for part in parts:
        for piece in part.parts if isinstance(part, Text) else (part,):
            if isinstance(piece, str) and flat and isinstance(flat[-1], str):
                flat[-1] += piece
            elif piece != "":
                flat.append(piece)
    return Text(tuple(flat))


def origins_of(value: Value) -> frozenset[str]:
    """Return the origins of the unknown parts of any value."""
    match value:
        case Hole(origins=origins):
            return origins
        case Text():
            return value.origins
        case Object(items=items):
            return frozenset[str]().union(*(origins_of(item) for item in items.values()))
        case Array(items=elements):
            return frozenset[str]().union(*(origins_of(item) for item in elements))
    return frozenset()


# ── tests ───────────────────────────────────────────────────────────────────


class Asks(enum.Enum):
    """What a test asks."""

    EQUALS = "equals"
    CONTAINS = "contains"
    PREFIX = "begins with"
    SUFFIX = "ends with"
    GLOB = "glob"
    REGEX = "regular expression"
    EMPTY = "is empty"
    EXISTS = "is there"
    STATUS = "exit status of a command"
    ALL = "and"
    ANY = "or"
    OTHER = "something else"


class Test(msgspec.Struct, frozen=True):
    """A test on which the program branches."""

    place: CodePlace
    kind: Asks = Asks.OTHER
    origins: frozenset[str] = frozenset()
    patterns: tuple[str, ...] = ()
    negated: bool = False
    parts: tuple[Test, ...] = ()

    def atoms(self, negated: bool = False) -> Iterator[tuple[Test, bool]]:
        """List the single questions, each with whether a yes to it speaks against the branch."""
        flipped = negated is not self.negated
        if self.parts:
            for part in self.parts:
                yield from part.atoms(flipped)
        else:
            yield self, flipped


def origins_of_test(test: Test) -> frozenset[str]:
    """Return the origins of everything a test asks about."""
    return test.origins.union(*(origins_of_test(part) for part in test.parts))


# ── statements ──────────────────────────────────────────────────────────────


class Stream(enum.Enum):
    """Where output goes."""

    OUT = "stdout"
    ERR = "stderr"
    #: A file, /dev/null, a variable or another program.
    AWAY = "elsewhere"


class Stdin(enum.Enum):
    """What a started program reads."""

    EVENT = "the hook's own stdin"
    PIPE = "another program's output"
    HERE = "a here-document or here-string"
    FILE = "a file"


class How(enum.Enum):
    """How a program leaves."""

    EXIT = "exit"
    TEXT = "exit with a text"
    END = "its end"
    #: Only the function ends; the program continues.
    RETURN = "return"


class Say(msgspec.Struct, frozen=True):
    """Print something."""

    place: CodePlace
    stream: Stream
    text: Text


class Leave(msgspec.Struct, frozen=True):
    """End with a status; None when it is computed."""

    place: CodePlace
    code: int | None
    how: How = How.EXIT
    text: Text | None = None


class Call(msgspec.Struct, frozen=True):
    """Start another program, or call something that this reader does not know."""

    place: CodePlace
    words: tuple[Text, ...]
    stdin: Stdin = Stdin.EVENT
    out: Stream = Stream.OUT
    err: Stream = Stream.ERR
    #: Its status is checked, so a failure does not become the program's own.
    checked: bool = False
    #: The words are one shell command.
    shell: bool = False
    #: Nobody waits for it.
    background: bool = False
    #: It really is another program, not an unknown function.
    program: bool = True

    @property
    def name(self) -> str:
        """The program without its directory; empty when unknown."""
        first = self.words[0].constant if self.words else None
        return first.rsplit("/", 1)[-1] if first else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments, with a space for each unknown part."""
        return tuple(word.known for word in self.words[1:])


class Eat(msgspec.Struct, frozen=True):
    """Read the hook's own stdin to its end."""

    place: CodePlace
    by: str


class Arm(msgspec.Struct, frozen=True):
    """A test and what follows a yes."""

    test: Test
    body: Block


class Branch(msgspec.Struct, frozen=True):
    """The first arm whose test holds, or else the rest."""

    place: CodePlace
    arms: tuple[Arm, ...]
    otherwise: Block = ()


class Loop(msgspec.Struct, frozen=True):
    """Something that may happen any number of times."""

    place: CodePlace
    body: Block


class Catch(msgspec.Struct, frozen=True):
    """What happens on an exception; no names means all, the end of the program included."""

    place: CodePlace
    names: tuple[str, ...]
    body: Block


class Try(msgspec.Struct, frozen=True):
    """A body and its handlers."""

    place: CodePlace
    body: Block
    catches: tuple[Catch, ...] = ()
    final: Block = ()


class Inner(enum.Enum):
    """A place whose exit is not the program's own."""

    SUBSHELL = "a subshell"
    SUBSTITUTION = "a command substitution"
    PIPE = "a pipeline"
    CHILD = "a child program"
    BACKGROUND = "the background"


class Within(msgspec.Struct, frozen=True):
    """A body that leaves only itself."""

    place: CodePlace
    inner: Inner
    body: Block
    #: Its status is checked.
    checked: bool = False


Stmt: TypeAlias = Say | Leave | Call | Eat | Branch | Loop | Try | Within
Block: TypeAlias = tuple[Stmt, ...]


class EnvRead(msgspec.Struct, frozen=True):
    """A read of an environment variable; `fallback` when it has a default value."""

    place: CodePlace
    name: str
    fallback: bool = False
    #: The default is not a constant: the value is also looked for elsewhere.
    computed: bool = False


class FieldRead(msgspec.Struct, frozen=True):
    """A read of an event field; `fallback` when it is one of several alternatives."""

    place: CodePlace
    path: tuple[str, ...]
    fallback: bool = False


class Program(msgspec.Struct, frozen=True, eq=False):
    """One program of a hook, after reading."""

    language: Language
    text: str
    body: Block = ()
    env: tuple[EnvRead, ...] = ()
    fields: tuple[FieldRead, ...] = ()
    #: Variables the program itself sets.
    assigned: frozenset[str] = frozenset()
    #: `set -e`, and `set -o pipefail`.
    errexit: bool = False
    pipefail: bool = False
    #: It takes in other files, so that not everything about it is known.
    includes: bool = False
    #: Its file; empty for the command itself.
    path: str = ""
    #: Syntax that `sh` does not have: (place, what, effect in dash).
    bashisms: tuple[tuple[CodePlace, str, str], ...] = ()

    def mentions(self, word: str) -> bool:
        """Return whether a word occurs anywhere in the text; only for suppressing findings, never for making them."""
        return word in self.text
