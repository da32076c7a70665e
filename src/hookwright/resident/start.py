"""Start the daemon in the background."""

from __future__ import annotations

import fcntl
import os
import subprocess

from hookwright.resident.places import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: What the daemon inherits: the environment of one caller must not reach another's hooks, nor the daemon's own code.
INHERITED = ("HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOOKWRIGHT_STATE_DIR")
PATH = "/usr/local/bin:/usr/bin:/bin"


def lock_path(path: str) -> str:
    """Return the file that the daemon of a socket holds locked."""
    return path.removesuffix(".sock") + ".lock"


def is_locked(path: str) -> bool:
    """Return whether a daemon of this socket is running or starting, whether or not it listens."""
    try:
        descriptor = os.open(lock_path(path), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def start(path: str, env: Mapping[str, str], *options: str) -> bool:
    """Start the daemon of this installation unless it is there; return whether one was started."""
    own = program()
    if is_locked(path) or not os.access(own, os.X_OK):
        return False
    kept = {name: env[name] for name in INHERITED if name in env}
    try:
        subprocess.Popen(
            ["/bin/sh", "-c", '"$@" &', "sh", own, "daemon", "start", *options],
            cwd="/",
            env={**kept, "PATH": PATH},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ).wait()
    except OSError:
        return False
    return True
