"""Write to a terminal or a pipe: colour where it is wanted, control characters of others never."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TextIO

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: Characters that turn the direction of text around, break lines or are not seen at all, so that a text reads as
#: something else than it is. Those that join letters (U+200C, U+200D) are part of languages and stay.
_TURNING = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
#: The colours that `Style` writes; on a terminal everything else that could move the cursor is shown as a picture.
_OURS = re.compile(r"(\x1b\[(?:0|1|2|31|32|33)m)")


def harmless(text: str) -> str:
    """Show control characters as pictures, so that a hook's output cannot move the user's cursor or fool the eye."""
    text = _CONTROL.sub(lambda found: chr(0x2400 + ord(found[0])) if ord(found[0]) < 0x20 else "␡", text)
    return text if text.isascii() else _TURNING.sub("\ufffd", text)


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


def say(lines: Iterable[str], stream: TextIO) -> None:
    """Print lines; what cannot be encoded is replaced, never an error.

    Commands make harmless what others wrote, wherever it goes. On a terminal this is done once more for the whole
    line, so that a text which one of them forgot still cannot do anything but be read.
    """
    screen = stream.isatty()
    for line in lines:
        line = (
            "".join(part if _OURS.fullmatch(part) else harmless(part) for part in _OURS.split(line)) if screen else line
        )
        encoding = stream.encoding or "utf-8"
        stream.write(line.encode(encoding, "replace").decode(encoding) + "\n")
    stream.flush()
