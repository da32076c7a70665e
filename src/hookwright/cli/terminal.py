"""Colours for terminals."""

from __future__ import annotations

import os
from typing import TextIO


class Style:
    """Colours for text, or none."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    @classmethod
    def of(cls, stream: TextIO) -> Style:
        """Use colours on a terminal unless NO_COLOR or TERM=dumb is set; FORCE_COLOR always wins."""
        if os.environ.get("FORCE_COLOR"):
            return cls(True)
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return cls(stream.isatty() and not plain)

    def _wrap(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def bold(self, text: str) -> str:
        """Mark a text as important."""
        return self._wrap("1", text)

    def dim(self, text: str) -> str:
        """Mark a text as secondary."""
        return self._wrap("2", text)

    def good(self, text: str) -> str:
        """Mark a text as a success."""
        return self._wrap("32", text)

    def bad(self, text: str) -> str:
        """Mark a text as a refusal or a failure."""
        return self._wrap("31", text)

    def warn(self, text: str) -> str:
        """Mark a text as a warning."""
        return self._wrap("33", text)
