"""Colour where it is wanted."""

from __future__ import annotations

import os
from typing import TextIO


class Style:
    """Wraps words in colour, or leaves them alone."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    @classmethod
    def of(cls, stream: TextIO) -> Style:
        """Colour on a terminal, unless NO_COLOR or TERM=dumb says otherwise; FORCE_COLOR overrides."""
        if os.environ.get("FORCE_COLOR"):
            return cls(True)
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return cls(stream.isatty() and not plain)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def bold(self, text: str) -> str:
        """Stress a text."""
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        """Step back."""
        return self._wrap("2", text)

    def good(self, text: str) -> str:
        """Say that all is well."""
        return self._wrap("32", text)

    def bad(self, text: str) -> str:
        """Say that something was refused or broke."""
        return self._wrap("31", text)

    def warn(self, text: str) -> str:
        """Call for attention."""
        return self._wrap("33", text)
