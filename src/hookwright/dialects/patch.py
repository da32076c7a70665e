"""Patches in the form of `apply_patch`: every path that a patch touches, or the reason why it cannot be read."""

from __future__ import annotations

import enum

import msgspec

from hookwright.protocol.jsontext import Json

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE, _MOVE = "*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: "
_EOF = "*** End of File"
_HEREDOCS = ("<<EOF", "<<'EOF'", '<<"EOF"')


class Action(enum.Enum):
    """What a patch does to a path."""

    ADD = "add"
    UPDATE = "update"
    DELETE = "delete"
    #: The path a file is moved to.
    ARRIVE = "arrive"


class Touch(msgspec.Struct, frozen=True):
    """One path of a patch: the text that is removed or kept around it, and the text that takes its place."""

    path: str
    action: Action
    old: str = ""
    new: str = ""


class BrokenPatch(msgspec.Struct, frozen=True):
    """A text that is not a patch, with the line where reading it failed."""

    reason: str


def touch_call(touch: Touch, path: str) -> tuple[str, dict[str, Json]]:
    """Return one path of a patch as a call of Write or Edit; the removal of a file is an Edit without text."""
    if touch.action in (Action.ADD, Action.ARRIVE):
        return "Write", {"file_path": path, "content": touch.new}
    return "Edit", {"file_path": path, "old_string": touch.old, "new_string": touch.new}


def read_patch(text: str) -> tuple[Touch, ...] | BrokenPatch:
    """Return every path of a patch in order.

    Law: every line belongs to the grammar, or the patch is broken; a line that an agent could take for a header and
    that was read as content makes it broken as well. So no path is missed: a patch is read whole or not at all. Lines
    end at LF or CRLF alone, since that is where agents end them.
    """
    lines = [line.removesuffix("\r") for line in text.strip().split("\n")]
    if lines[0].strip() in _HEREDOCS and len(lines) > 3 and lines[-1].strip() == "EOF":
        lines = [line.removesuffix("\r") for line in "\n".join(lines[1:-1]).strip().split("\n")]
    if lines[0].strip() != _BEGIN:
        return BrokenPatch(f"line 1: a patch begins with `{_BEGIN}`")
    if lines[-1].strip() != _END or len(lines) < 2:
        return BrokenPatch(f"the last line is not `{_END}`")
    return _Reader(lines[1:-1]).read()


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._headers = 0

    def read(self) -> tuple[Touch, ...] | BrokenPatch:
        touched: list[Touch] = []
        while self._at < len(self._lines):
            if not self._lines[self._at].strip():
                self._at += 1
                continue
            found = self._section(self._lines[self._at].strip())
            if isinstance(found, BrokenPatch):
                return found
            touched += found
        if not touched:
            return BrokenPatch("it touches no file")
        if self._headers != sum(map(_like_header, self._lines)):
            return BrokenPatch("a line of a file's content looks like the header of another file")
        return tuple(touched)

    def _section(self, header: str) -> list[Touch] | BrokenPatch:
        kind = next((kind for kind in (_ADD, _DELETE, _UPDATE) if header.startswith(kind)), None)
        path = header.removeprefix(kind or "").strip()
        if kind is None or not _is_path(path):
            return BrokenPatch(f"line {self._at + 2}: {header[:80]!r} is not a header with a path")
        self._at += 1
        self._headers += 1
        if kind == _ADD:
            return [Touch(path, Action.ADD, new=self._added())]
        return [Touch(path, Action.DELETE)] if kind == _DELETE else self._updated(path)

    def _added(self) -> str:
        text = ""
        while self._at < len(self._lines) and self._lines[self._at].startswith("+"):
            text += self._lines[self._at][1:] + "\n"
            self._at += 1
        return text

    def _updated(self, path: str) -> list[Touch] | BrokenPatch:
        moved = ""
        if self._at < len(self._lines) and self._lines[self._at].strip().startswith(_MOVE.strip()):
            moved = self._lines[self._at].strip().removeprefix(_MOVE.strip()).strip()
            if not _is_path(moved):
                return BrokenPatch(f"line {self._at + 2}: a move without a path")
            self._at += 1
            self._headers += 1
        old, new = self._hunks()
        changed = Touch(path, Action.UPDATE, old, new)
        return [changed, Touch(moved, Action.ARRIVE, new=new)] if moved else [changed]

    def _hunks(self) -> tuple[str, str]:
        old = new = ""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            mark, rest = line[:1], line[1:] + "\n"
            if mark in (" ", ""):
                old, new = old + rest, new + rest
            elif mark == "-":
                old += rest
            elif mark == "+":
                new += rest
            elif line.strip() != "@@" and not line.startswith("@@ ") and line.strip() != _EOF:
                break
            self._at += 1
        return old, new


def _is_path(text: str) -> bool:
    """Return whether a text can be a path; no two programs agree on where one with control characters ends."""
    return bool(text) and text.isprintable()


def _like_header(line: str) -> bool:
    """Return whether a line, without spaces around it, could be the header of a file."""
    bare = line.strip()
    return bare.startswith(tuple(kind.rstrip() for kind in (_ADD, _DELETE, _UPDATE, _MOVE)))
