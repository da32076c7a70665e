"""Where the daemon of a user and an installation listens, and whether that place is private.

The C client (client/src/client.c) computes the same paths.
"""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: The longest path of a socket; the system's limit is 108 with the final zero.
_LONGEST = 107


def runtime_folder(env: Mapping[str, str]) -> str | None:
    """Return the folder of the socket; None where the environment names no absolute one.

    Law: `XDG_RUNTIME_DIR/hookwright`, else `run` in the state folder: `HOOKWRIGHT_STATE_DIR`,
    `XDG_STATE_HOME/hookwright`, `~/.local/state/hookwright`. The first variable that is set decides.
    """
    for name, below in (
        ("XDG_RUNTIME_DIR", "hookwright"),
        ("HOOKWRIGHT_STATE_DIR", "run"),
        ("XDG_STATE_HOME", "hookwright/run"),
        ("HOME", ".local/state/hookwright/run"),
    ):
        value = env.get(name)
        if value:
            return f"{value}/{below}" if value.startswith("/") else None
    return None


def program() -> str:
    """Return the `hookwright` of this installation: the one that was started, else the one beside the interpreter."""
    own = sys.argv[0] if sys.argv else ""
    if os.path.basename(own) != "hookwright" or not os.access(own, os.X_OK):
        own = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "hookwright")
    return os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(own))), "hookwright")


def socket_path(env: Mapping[str, str], program: str) -> str | None:
    """Return the socket of an installation, named for the path of its program; None if there can be none."""
    folder = runtime_folder(env)
    if folder is None:
        return None
    path = f"{folder}/{_fnv(os.fsencode(program)):016x}.sock"
    return path if len(os.fsencode(path)) <= _LONGEST else None


def _fnv(data: bytes) -> int:
    """Return the 64-bit FNV-1a hash; names are not secrets, the folder is private."""
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return found


def exposed(path: str) -> str:
    """Return why the folder of a socket is not private to this user; empty if it is."""
    folder = os.path.dirname(path)
    try:
        facts = os.lstat(folder)
    except OSError as error:
        return f"{folder}: {error.strerror}"
    if not stat.S_ISDIR(facts.st_mode):
        return f"{folder} is not a directory; remove it"
    if facts.st_uid != os.geteuid():
        return f"{folder} belongs to another user; remove it"
    if facts.st_mode & 0o077:
        return f"{folder} is open to others; run: chmod 700 {folder}"
    return ""


def is_own_socket(path: str) -> bool:
    """Return whether a path is a socket of this user that others cannot use."""
    try:
        facts = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISSOCK(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o077
