"""One call of an agent is answered once, although the agent may fire the bridge twice for it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Mapping

import msgspec

from hookwright.dialects.model import Dialect
from hookwright.dialects.outgoing import Settled
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.storage import make_folder

#: Seconds for which an answer is kept: an agent that fires twice does so at once, or right after the first answer.
_KEPT = 10.0
#: So many answers are kept before old ones are removed.
_MANY = 200
_PAUSE = 0.02

_SAID = (
    "the agent fired this event twice, so the hooks ran once and this second firing only repeats their decision; "
    "`hookwright list --all` shows both places"
)


def mark_of(dialect: Dialect, payload: Json) -> str:
    """Return what two firings of one event have in common and no other event has; empty if that cannot be told.

    Law: the mark of a payload is its whole content, and there is one only if the content holds the id of a call or the
    time of the event. Without those a repeated event is not the same event, and its hooks run again.
    """
    if not isinstance(payload, Mapping):
        return ""
    if not any(isinstance(payload.get(name), str) and payload[name] for name in dialect.unique_fields):
        return ""
    return hashlib.sha256(dialect.name.encode() + b"\0" + encode(payload)).hexdigest()


class Claim:
    """The right to answer an event, held by a lock on a file that keeps the answer."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    async def answer(self, limit: float) -> Settled | str | None:
        """Wait until this event is ours or is answered; return None if it is ours.

        Law: the first one to hold the lock answers. The others repeat its decision without context and messages, and
        report the second firing. If the first one ends without an answer, the next one answers. At the limit the event
        counts as failed, which is a refusal.
        """
        until = time.monotonic() + limit
        while not self._locked():
            if time.monotonic() >= until:
                return f"the agent fired this event twice, and the first answer took longer than {limit:g} s"
            await asyncio.sleep(_PAUSE)
        facts = os.fstat(self._descriptor)
        if not facts.st_size or facts.st_mtime < time.time() - _KEPT:
            return None
        data = os.pread(self._descriptor, facts.st_size, 0)
        kept = msgspec.json.decode(data, type=Settled | str)
        if isinstance(kept, str):
            return kept
        return msgspec.structs.replace(kept, context=(), messages=(), losses=(_SAID,))

    def _locked(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def keep(self, settled: Settled | str) -> None:
        """Keep the answer for a second firing."""
        with contextlib.suppress(OSError):  # without it a second firing runs the hooks again
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, msgspec.json.encode(settled), 0)

    def close(self) -> None:
        """Release the lock."""
        os.close(self._descriptor)


def claim(state_folder: str, mark: str) -> Claim | None:
    """Claim an event; None if it has no mark or nothing can be written, which lets its hooks run."""
    folder = os.path.join(state_folder, "calls")
    try:
        make_folder(folder)
        _clean(folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return Claim(os.open(os.path.join(folder, mark), flags, 0o600)) if mark else None
    except OSError:
        return None


def _clean(folder: str) -> None:
    with os.scandir(folder) as entries:
        files = [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    if len(files) < _MANY:
        return
    oldest = time.time() - _KEPT
    for entry in files:
        with contextlib.suppress(OSError):
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)
