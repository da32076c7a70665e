"""The console's end of the `live` folder: a fresh beacon while it is open, and what sessions write meanwhile.

What sessions wrote is kept in memory, within a limit, and gone with the console: its files are removed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections import OrderedDict

import msgspec

from hookwright.observers.live import BEACON, LIVE
from hookwright.protocol.jsontext import Json
from hookwright.storage import make_folder

#: Bytes of inputs, outputs and texts that are kept; the oldest make room.
LIMIT = 32 * 1024 * 1024
#: Seconds between two renewals of the beacon.
_RENEW = 5.0
#: Bytes of one session's file that are read at once.
_CHUNK = 1024 * 1024
#: Seconds after which a hook that has started and not ended is not shown as running: its session was killed.
_RUNNING = 3600.0

#: Bytes of one event that an observer wrote.
_EVENT = 8 * 1024 * 1024
#: The agent whose events observers write.
CLAUDE = "claude"

Seen = list[dict[str, Json]]


class Wires:
    """What sessions write for this console.

    Law: it reads only files of its own folder, which only this user can open. The folder exists while the console runs,
    and its beacon is renewed while the console works; a session writes to no other place, so a console that is stopped
    or killed costs sessions one look at the file system per event.
    """

    def __init__(self, state: str) -> None:
        self.folder = os.path.join(state, LIVE)
        #: Firing → its records, the least recently changed first.
        self._seen: OrderedDict[str, Seen] = OrderedDict()
        self._bytes = 0
        self._sizes: dict[str, int] = {}
        self._read: dict[str, int] = {}
        self._renewed = 0.0
        #: Run → when it started, its firing, event and handler.
        self._running: dict[str, dict[str, Json]] = {}
        self._observed = 0
        make_folder(self.folder)
        os.chmod(self.folder, 0o700)
        for name in os.listdir(self.folder):  # of a console that was killed
            self._remove(name)
        self.renew()

    def renew(self) -> None:
        """Say that somebody reads, at most every few seconds."""
        now = time.monotonic()
        if now - self._renewed < _RENEW:
            return
        self._renewed = now
        path = os.path.join(self.folder, BEACON)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        os.close(descriptor)
        os.utime(path)

    def poll(self) -> set[str]:
        """Read what sessions wrote; return the firings it is about."""
        self.renew()
        changed: set[str] = set()
        for name in self._names():
            for record in self._grown(name):
                firing = str(record.get("fire", ""))
                if firing:
                    self._keep(firing, record)
                    changed.add(firing)
        return changed

    def _names(self, end: str = ".jsonl") -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.folder) if name.endswith(end))
        except OSError:
            return []

    def observed(self) -> Seen:
        """Take the events that observers of Claude Code wrote, as records of the journal without a result."""
        found = []
        for name in self._names(".json"):
            event = self._taken(name)
            if event is not None and isinstance(event.get("hook_event_name"), str):
                self._observed += 1
                firing = f"{CLAUDE}.{self._observed}"
                record: dict[str, Json] = {"kind": "event", "fire": firing, "src": CLAUDE, "t": time.time()}
                record |= {"event": event["hook_event_name"], "tool": event.get("tool_name")}
                record |= {
                    "session": event.get("session_id"),
                    "cwd": event.get("cwd"),
                    "call": event.get("tool_use_id"),
                }
                self._keep(firing, {"kind": "event", "input": msgspec.json.encode(event).decode()})
                found.append({key: value for key, value in record.items() if value is not None})
        return found

    def _taken(self, name: str) -> dict[str, Json] | None:
        """Read an event and remove its file."""
        try:
            descriptor = os.open(os.path.join(self.folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with open(descriptor, "rb") as file:
            data = file.read(_EVENT)
        self._remove(name)
        return _record(data)

    def _grown(self, name: str) -> Seen:
        start = self._read.get(name, 0)
        try:
            descriptor = os.open(os.path.join(self.folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return []
        try:
            data = os.pread(descriptor, _CHUNK, start)
        finally:
            os.close(descriptor)
        whole, mark, _ = data.rpartition(b"\n")
        self._read[name] = start + (len(whole) + 1 if mark else len(data) if len(data) == _CHUNK else 0)
        return [record for line in whole.split(b"\n") if (record := _record(line)) is not None]

    def _keep(self, firing: str, record: dict[str, Json]) -> None:
        run = str(record.get("run", ""))
        match record.get("kind"):
            case "start":
                self._running[f"{firing} {run}"] = record
                return
            case "run" | "late" if record.get("reply") != "backgrounded":
                self._running.pop(f"{firing} {run}", None)
        size = sum(len(str(value)) for value in record.values())
        self._seen.setdefault(firing, []).append(record)
        self._seen.move_to_end(firing)
        self._sizes[firing] = self._sizes.get(firing, 0) + size
        self._bytes += size
        while self._bytes > LIMIT and len(self._seen) > 1:
            oldest, _ = self._seen.popitem(last=False)
            self._bytes -= self._sizes.pop(oldest)

    def of(self, firing: str) -> Seen:
        """Return what was seen of a firing; nothing if no console was open, or it made room."""
        return list(self._seen.get(firing, ()))

    def running(self) -> Seen:
        """Return the hooks that have started and not ended."""
        now = time.time()
        return [record for record in self._running.values() if now - float(record.get("t", 0.0)) < _RUNNING]

    def close(self) -> None:
        """Remove the folder: sessions stop writing at once."""
        self._remove(BEACON)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _remove(self, name: str) -> None:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self.folder, name))


def _record(line: bytes) -> dict[str, Json] | None:
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
