"""The levels of isolation: what each does and what it does not cover."""

from __future__ import annotations

import enum

import msgspec

_USE = "processor time, memory and disk space"
_PIPES = "named pipes outside the project, the home directory and the temporary folders"


class Name(enum.Enum):
    """The name of a level, best first; the first that works is used."""

    OVERLAY = "overlay"
    LANDLOCK = "landlock"
    BWRAP = "bwrap"
    NONE = "none"


class IsolationLevel(msgspec.Struct, frozen=True):
    """A level of isolation, for reports."""

    name: Name
    #: What hooks can do, in a sentence.
    covers: str
    #: What is not kept from them.
    gaps: tuple[str, ...]

    @property
    def isolated(self) -> bool:
        """Whether hooks are kept from anything; what they are refused must become a doubt."""
        return self.name is not Name.NONE


OVERLAY = IsolationLevel(
    Name.OVERLAY,
    "Hooks write to copies of files in memory, have no network, and see no process but their own.",
    (_USE, _PIPES),
)
LANDLOCK = IsolationLevel(
    Name.LANDLOCK,
    "Hooks work in a copy of the project and an empty temporary folder, can write nowhere else, and have no network.",
    (
        "settings of your other processes, such as their priority",
        _USE,
        "hooks that write elsewhere are refused, which live hooks are not",
        "changes of modes, owners and times have no effect, not even in the copy",
    ),
)
BWRAP = IsolationLevel(
    Name.BWRAP,
    "Hooks work in a copy of the project and an empty temporary folder, can write nowhere else, have no network, and "
    "see no process but their own.",
    (_USE, _PIPES, "hooks that write elsewhere are refused, which live hooks are not"),
)
NONE = IsolationLevel(
    Name.NONE,
    "Hooks run with all your rights: they change files, use the network and signal processes.",
    ("everything",),
)
LEVELS = (OVERLAY, LANDLOCK, BWRAP, NONE)
