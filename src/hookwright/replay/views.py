"""What hooks see of the machine during a replay, and what is known of what they wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol


class View(Protocol):
    """The files hooks see, with their writes kept apart."""

    @property
    def isolated(self) -> bool:
        """Whether writes outside the view and the network are refused."""
        ...

    @property
    def env(self) -> Mapping[str, str]:
        """The variables hooks need to find their way in the view: HOME, TMPDIR."""
        ...

    def written(self) -> Sequence[str] | None:
        """Return what hooks wrote since the last renewal; None if that is not known."""
        ...

    def renew(self) -> None:
        """Forget what was written: the next hook sees the files as they are outside."""
        ...


class OpenView:
    """The machine itself: hooks write where they like, and nothing is known about it."""

    isolated = False

    def __init__(self, home: str) -> None:
        self.env = {"HOME": home}

    def written(self) -> None:
        """Return that it is not known."""

    def renew(self) -> None:
        """Change nothing: there is nothing to forget."""


#: The levels of isolation that can be asked for; `auto` is the first of them that works.
LEVELS = ("none",)


@contextmanager
def opened(level: str, project: str, home: str) -> Iterator[View]:
    """Enter a view of the machine in this process; it ends with the context."""
    yield OpenView(home)
