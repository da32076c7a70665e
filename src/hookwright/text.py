"""Text for people: untrusted text made harmless, shortened texts and paths, the word that was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: Characters that reverse the direction of text, break lines or are invisible, so that a text reads as something it is
#: not. Those that join letters (U+200C, U+200D) belong to some languages and are kept.
_TURNING = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
#: The colours `Style` writes. On a terminal every other sequence that could move the cursor is shown as a picture.
_OURS = re.compile(r"(\x1b\[(?:0|1|2|31|32|33)m)")


def harmless(text: str) -> str:
    """Return a text with control characters as pictures, so that it cannot move the cursor or mislead the reader."""
    text = _CONTROL.sub(lambda found: chr(0x2400 + ord(found[0])) if ord(found[0]) < 0x20 else "␡", text)
    return text if text.isascii() else _TURNING.sub("\ufffd", text)


_UNSAFE = re.compile(f"[\x7f-\x9f]|{_TURNING.pattern}")


def escaped(text: str) -> str:
    """Return a JSON text with every character that could mislead a terminal or its reader as an escape.

    JSON has escapes for C0 itself; this adds DEL, C1 and what `harmless` replaces. The value stays the same.
    """
    return text if text.isascii() and "\x7f" not in text else _UNSAFE.sub(_as_escape, text)


def _as_escape(found: re.Match[str]) -> str:
    return "".join(f"\\u{unit[0]:02x}{unit[1]:02x}" for unit in _units(found[0].encode("utf-16-be")))


def _units(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 2] for at in range(0, len(data), 2))


def say(lines: Iterable[str], stream: TextIO) -> None:
    """Print lines; characters the stream cannot encode are replaced.

    Commands make untrusted text harmless wherever it goes. On a terminal this is done again for the whole line, in
    case a command forgot.
    """
    screen = stream.isatty()
    for line in lines:
        encoding = stream.encoding or "utf-8"
        shown = _with_our_colours(line) if screen else line
        stream.write(shown.encode(encoding, "replace").decode(encoding) + "\n")
    stream.flush()


def _with_our_colours(line: str) -> str:
    return "".join(part if _OURS.fullmatch(part) else harmless(part) for part in _OURS.split(line))


def flat(text: str) -> str:
    """Put a text on one line, without control characters."""
    return harmless(" ⏎ ".join(text.strip().splitlines()))


def one_line(text: str, limit: int = 200) -> str:
    """Put a text on one line of limited length, without control characters."""
    line = flat(text)
    return line if len(line) <= limit else line[: limit - 1] + "…"


#: A longer word is not a typing mistake, and comparing it would be slow.
LONGEST_WORD = 64


def closest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known word that was probably meant; case, `_` and `-` do not matter."""
    if len(word) > LONGEST_WORD:
        return None
    names = list(known)
    folded = {_folded(name): name for name in names}
    if (same := folded.get(_folded(word))) is not None:
        return same
    import difflib  # a message is rare, and this takes longer to import than all the rest

    lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=cutoff)
    return lower[near[0]] if near else None


def _folded(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the closest known word as the tail of a message, or nothing."""
    near = closest(word, known)
    return f". Did you mean `{near}`?" if near is not None else ""


def plural(count: int, word: str) -> str:
    """Write a count and its noun."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def short_path(path: str, cwd: str = "", home: str = "") -> str:
    """Write a path as the user would type it.

    Law: a path inside `cwd` is relative to it, one inside `home` begins with `~`, and any other is as it was; an empty
    `cwd` or `home` and the root directory contain nothing.
    """
    cwd, home = cwd.rstrip("/"), home.rstrip("/")
    if cwd and path.startswith(cwd + "/"):
        return path[len(cwd) + 1 :]
    if home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def cut_middle(text: str, limit: int) -> str:
    """Return a long text without its middle, where it matters least, and state how much was cut."""
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - head
    return f"{text[:head]}\n\n... [{len(text) - limit} characters truncated] ...\n\n{text[-tail:]}"


def system_reminder(text: str) -> str:
    """Mark a text as coming from the program, for a model that reads it inside a user message."""
    return f"<system-reminder>\n{text}\n</system-reminder>"


_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


def line_indent(text: str, offset: int) -> str:
    """Return the white space at the start of the line with an offset, up to the offset."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def indent_unit(text: str) -> str:
    """Return one step of the indentation of a text."""
    found = _INDENT.search(text)
    return found[1] if found is not None else "  "


def line_end(text: str) -> str:
    """Return how the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"
