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


def places(bounds: Bounds, shown: str = "") -> tuple[str, ...]:
    """Return the folders that get an overlay, none of them inside another.

    Law: they are the bounds, the common folders that this user may write to, and the folders in which files below
    `shown` appear. A folder with mounts below it is replaced by its subfolders, so that each overlay is on one mount;
    nothing can appear in such a folder itself.
    """
    common = [folder for folder in _COMMON if os.access(folder, os.W_OK)]
    anchors = list(_anchors(shown)) if shown else []
    found = _outermost([bounds.project, bounds.home, bounds.temp, *common, *anchors])
    mounts = mount_points()
    spread = [part for place in found for part in _spread(place, mounts)]
    for anchor in anchors:
        if not any(within(anchor, place) for place in spread):
            raise ConfigError(f"{anchor} has mounts below it, so that no file can appear in it")
    if len(spread) > _MOST:
        raise ConfigError(f"{len(spread)} folders would need an overlay, because of mounts below {', '.join(found)}")
    return tuple(spread)


def _anchors(shown: str, at: str = "/") -> Iterator[str]:
    """Yield the existing folders in which something appears; raise ConfigError for what would appear in `/`."""
    here = os.path.join(shown, at.lstrip("/"))
    folders = []
    with os.scandir(here) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            there = os.path.join(at, entry.name)
            if entry.is_dir(follow_symlinks=False) and os.path.isdir(there):
                folders.append(there)
            elif at == "/":
                raise ConfigError(f"there is no folder {there} here, and it cannot be made; make it in the image")
            else:
                yield at
                return
    for folder in folders:
        yield from _anchors(shown, folder)
    if not folders and at != "/":
        yield at


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
