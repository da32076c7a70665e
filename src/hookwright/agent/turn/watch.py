"""Watch files by polling: names in the working directory and paths that hooks asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from hookwright.hookset import HookSet
from hookwright.storage import Stamp, stamp

#: Seconds between two checks.
INTERVAL = 0.5


class FileChange(msgspec.Struct, frozen=True):
    """A watched file was added, changed or deleted."""

    path: str
    #: add, change or unlink.
    event: str


def watched_names(hooks: HookSet) -> tuple[str, ...]:
    """Return the file names in FileChanged matchers, taken literally and split at `|`; no matcher means none."""
    names: list[str] = []
    for entry in hooks.of_event("FileChanged"):
        names += [name.strip() for name in (entry.matcher.text or "").split("|")]
    return tuple(dict.fromkeys(name for name in names if name and "/" not in name))


class Watch:
    """The watched files as of the last check."""

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp | None] = {}

    def look(self, cwd: str, names: Iterable[str], paths: Iterable[str]) -> list[FileChange]:
        """Return the changes since the last check; a file that is watched for the first time has not changed."""
        wanted = dict.fromkeys([*(os.path.join(cwd, name) for name in names), *paths])
        now = {path: stamp(path) for path in wanted}
        changes = [
            FileChange(path, _word(self._stamps[path], new))
            for path, new in now.items()
            if path in self._stamps and self._stamps[path] != new
        ]
        self._stamps = now
        return changes


def _word(before: Stamp | None, after: Stamp | None) -> str:
    if before is None:
        return "add"
    return "unlink" if after is None else "change"
