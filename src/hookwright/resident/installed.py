"""Whether the code in this process is still the code that is installed."""

from __future__ import annotations

import os
import sys
import time

#: Seconds between two looks at every file; folders are looked at each time.
_FULL = 2.0

Stamps = dict[str, tuple[int, int, int] | None]


class Installed:
    """The modules in use and the interpreter, as they were when this object was made.

    Law: a file that is added, removed or replaced beside a module in use, as an installer does it, is noticed at once;
    one that is written in place within two seconds.
    """

    def __init__(self) -> None:
        modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "hookwright"]
        paths = [path for module in modules if (path := getattr(module, "__file__", None))]
        self._files = _stamps([os.path.realpath(sys.executable), *paths])
        self._folders = _stamps(sorted({os.path.dirname(path) for path in paths}))
        self._names = {path: _names(path) for path in self._folders}
        self._looked = time.monotonic()

    def current(self) -> bool:
        """Return whether nothing has changed."""
        now = time.monotonic()
        folders = _stamps(self._folders)
        if folders == self._folders and now - self._looked < _FULL:
            return True
        if folders != self._folders and any(_names(path) != old for path, old in self._names.items()):
            return False
        self._folders, self._looked = folders, now  # touched by the folder of the compiled files
        return _stamps(self._files) == self._files


def _stamps(paths: list[str] | Stamps) -> Stamps:
    found: Stamps = {}
    for path in paths:
        try:
            facts = os.stat(path)
        except OSError:
            found[path] = None
        else:
            found[path] = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
    return found


def _names(folder: str) -> frozenset[str]:
    """Return the modules and folders in a folder, without its compiled files."""
    try:
        return frozenset(name for name in os.listdir(folder) if name != "__pycache__")
    except OSError:
        return frozenset()
