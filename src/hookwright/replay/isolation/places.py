"""Which folders of the machine get an overlay: those a hook may write to, around what is mounted below them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from hookwright.errors import ConfigError
from hookwright.replay.isolation.bounds import Bounds

#: Folders that programs write to besides; of these, the ones this user may write to. Programs are not among them:
#: starting one through an overlay costs time.
_COMMON = ("/tmp", "/var/tmp", "/var", "/etc", "/opt", "/srv", "/run")
#: Not folders of files; the view has its own.
_SPECIAL = ("/proc", "/sys", "/dev")
_MOST = 256


def places(bounds: Bounds) -> tuple[str, ...]:
    """Return the folders that get an overlay, none of them inside another.

    Law: they are the bounds and the common folders that this user may write to. A folder with mounts below it is
    replaced by its subfolders, so that each overlay is on one mount.
    """
    common = [folder for folder in _COMMON if os.access(folder, os.W_OK)]
    found = _outermost([bounds.project, bounds.home, bounds.temp, *common])
    mounts = mount_points()
    spread = [part for place in found for part in _spread(place, mounts)]
    if len(spread) > _MOST:
        raise ConfigError(f"{len(spread)} folders would need an overlay, because of mounts below {', '.join(found)}")
    return tuple(spread)


def _outermost(folders: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for folder in sorted({os.path.realpath(one) for one in folders if os.path.isdir(one)}):
        special = any(within(folder, one) for one in _SPECIAL)
        if folder != "/" and not special and not any(within(folder, one) for one in kept):
            kept.append(folder)
    return kept


def within(path: str, folder: str) -> bool:
    """Return whether a path is a folder or something inside it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _spread(folder: str, mounts: frozenset[str]) -> Iterator[str]:
    if not any(mount.startswith(folder + "/") for mount in mounts):
        yield folder
        return
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                yield from _spread(entry.path, mounts)


def mount_points() -> frozenset[str]:
    """Return the folders and files on which something is mounted."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        return frozenset(_plain(line.split(" ")[4]) for line in file)


def _plain(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
