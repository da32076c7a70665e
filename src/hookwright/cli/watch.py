"""Wait until a settings file or hook script changes on disk, by polling."""

from __future__ import annotations

import time
from collections.abc import Iterable

import msgspec

from hookwright.config import Loaded
from hookwright.config.scripts import Reach, TooManyFiles, named_files
from hookwright.storage import Stamp, stamp

INTERVAL = 0.25

Stamps = dict[str, Stamp | None]


def watched_files(loaded: Loaded) -> tuple[str, ...]:
    """Return the settings files, whether or not they exist, and the files named by the hooks' commands."""
    where = loaded.locations
    reach = Reach(where.project_dir, where.start_dir, where.home)
    found = dict.fromkeys(file.path for file in loaded.files if file.path)
    for entry in loaded.hooks:
        root = entry.handler.source.root
        own = msgspec.structs.replace(reach, plugin_root=root) if root is not None else reach
        try:
            found.update(dict.fromkeys(named_files(entry.handler, own)))
        except TooManyFiles:
            continue
    return tuple(found)


def stamps(paths: Iterable[str]) -> Stamps:
    """Return a stamp of each file as it is now."""
    return {path: stamp(path) for path in paths}


def wait_for_change(before: Stamps) -> list[str]:
    """Wait for a change and return the changed files."""
    while True:
        changed = [path for path, old in before.items() if stamp(path) != old]
        if changed:
            return changed
        time.sleep(INTERVAL)
