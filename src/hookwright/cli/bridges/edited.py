"""Files of other programs that we edit: the change as a diff, and writing it."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable

from hookwright.errors import ConfigError
from hookwright.storage import make_folder, replace_file
from hookwright.text import harmless


def write_file(path: str, text: str) -> None:
    """Replace a file, or what it links to; raise ConfigError if it is read-only or cannot be written."""
    real = os.path.realpath(path)
    if os.path.exists(real) and not os.stat(real).st_mode & stat.S_IWUSR:
        raise ConfigError(f"{path}: it is read-only. Run `chmod u+w {path}` first; nothing was changed.")
    try:
        make_folder(os.path.dirname(real))
        replace_file(real, text.encode())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}. Nothing was changed.") from None


def diff_lines(path: str, old: str | None, new: str) -> Iterable[str]:
    """Yield a change as a diff; None is a file that does not exist."""
    before = [] if old is None else old.splitlines()
    names = ("/dev/null" if old is None else path, path)
    return (harmless(line) for line in difflib.unified_diff(before, new.splitlines(), *names, lineterm=""))
