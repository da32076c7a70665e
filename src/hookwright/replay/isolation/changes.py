"""What hooks changed in a view: compare what is written on top of the files with the files below."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Literal

import msgspec

How = Literal["created", "changed", "removed"]

_PIECE = 1 << 18


class Written(msgspec.Struct, frozen=True, order=True):
    """A file or folder that was changed; of a folder that is gone or new as a whole, its content is not named."""

    path: str
    how: How


def overlay_changes(path: str, upper: str, lowers: tuple[str, ...]) -> Iterator[Written]:
    """Yield what the upper folder of an overlay changes about the lower ones, of which the first is on top.

    Law: a path is named if and only if its type, mode, owner, content or modification time in the view is not that
    outside; of a folder, its type, mode and owner. A removed folder is named without its content, a created one with
    it. A file that was opened for writing and not written to is not named.
    """
    try:
        with os.scandir(upper) as entries:
            names = sorted(entry.name for entry in entries)
    except PermissionError:  # a hook took its rights away, so the folder itself is named
        return
    for name in names:
        yield from _entry(os.path.join(path, name), os.path.join(upper, name), _below(lowers, name))
    if lowers and _opaque(upper):
        gone = sorted(_listed(lowers) - set(names))
        yield from (Written(os.path.join(path, name), "removed") for name in gone)


def _below(lowers: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return where an entry of lower folders is: a file once, a folder wherever it is merged from."""
    found: list[str] = []
    for lower in lowers:
        one = os.path.join(lower, name)
        facts = _facts(one)
        if facts is None:
            continue
        folder = stat.S_ISDIR(facts.st_mode)
        if folder or not found:
            found.append(one)
        if not folder or _opaque(one):
            break
    return tuple(found)


def _listed(lowers: tuple[str, ...]) -> set[str]:
    names: set[str] = set()
    for lower in lowers:
        with contextlib.suppress(OSError):
            names.update(os.listdir(lower))
    return names


def _entry(path: str, upper: str, lowers: tuple[str, ...]) -> Iterator[Written]:
    lower = lowers[0] if lowers else None
    above, below = os.lstat(upper), _facts(lower)
    if stat.S_ISCHR(above.st_mode) and above.st_rdev == 0:
        if below is not None:
            yield Written(path, "removed")
        return
    both = below is not None and stat.S_ISDIR(above.st_mode) and stat.S_ISDIR(below.st_mode)
    if below is None:
        yield Written(path, "created")
    elif not _same(above, below) or (not both and not _same_content(upper, lower or "", above, below)):
        yield Written(path, "changed")
    if stat.S_ISDIR(above.st_mode):
        yield from overlay_changes(path, upper, lowers if both else ())


def _facts(path: str | None) -> os.stat_result | None:
    try:
        return os.lstat(path) if path is not None else None
    except OSError:
        return None


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_mode, one.st_uid, one.st_gid) == (other.st_mode, other.st_uid, other.st_gid)


def _same_content(path: str, other: str, facts: os.stat_result, others: os.stat_result) -> bool:
    if (facts.st_size, facts.st_mtime_ns) != (others.st_size, others.st_mtime_ns):
        return False
    if stat.S_ISLNK(facts.st_mode):
        return os.readlink(path) == os.readlink(other)
    try:
        return not stat.S_ISREG(facts.st_mode) or _same_bytes(path, other)
    except OSError:
        return False


def _same_bytes(path: str, other: str) -> bool:
    with open(path, "rb") as one, open(other, "rb") as two:
        while (piece := one.read(_PIECE)) == two.read(_PIECE):
            if not piece:
                return True
    return False


def _opaque(folder: str) -> bool:
    try:
        return os.getxattr(folder, "user.overlay.opaque") == b"y"
    except OSError:
        return False
