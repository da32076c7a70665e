"""Each call once, whatever file repeats it."""

from __future__ import annotations

from collections.abc import Collection

from hookwright.replay.past import Coverage

#: A shorter id may come from a counter, so two sessions may have it.
_UNIQUE = 16


def is_unique(call_id: str) -> bool:
    """Return whether an id names one call of all sessions."""
    return len(call_id) >= _UNIQUE


class Deduplication:
    """Remembers what was seen, and counts calls, copies and sessions.

    Law: forks, resumed sessions and checkpoints repeat lines. Two calls are the same if their ids are the same; with
    an id that a counter may have made, their times have to be the same as well, or the session where a source has no
    times. The first one wins, so files are read earliest first.
    """

    def __init__(self, coverage: Coverage) -> None:
        self.coverage = coverage
        self._seen: set[str | tuple[str, ...]] = set()
        self._sessions: set[str] = set()

    def call(self, call_id: str, timestamp: str | None, session_id: str) -> bool:
        """Return whether a call is new, and count it."""
        keys: tuple[str | tuple[str, ...], ...] = (call_id,)
        if not is_unique(call_id):
            within = (call_id, "", session_id)
            keys = ((call_id, timestamp), within) if timestamp is not None else (within,)
        if keys[0] in self._seen:
            self.coverage.repeats += 1
            return False
        self._seen.update(keys)
        self.coverage.calls += 1
        return True

    def all_new(self, call_ids: Collection[str]) -> bool:
        """Count calls whose ids are unique, if no file had any of them; otherwise return False and count none."""
        if not self._seen.isdisjoint(call_ids):
            return False
        self._seen.update(call_ids)
        self.coverage.calls += len(call_ids)
        return True

    def moment(self, event: str, timestamp: str | None, about: str) -> bool:
        """Return whether an event without a call is new; one without a time always is."""
        if timestamp is None:
            return True
        key = (event, timestamp, about)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def session(self, session_id: str, version: str | None, time: float | None) -> None:
        """Count a session, its version and its time."""
        coverage = self.coverage
        if session_id not in self._sessions:
            self._sessions.add(session_id)
            coverage.sessions += 1
        if version is not None:
            coverage.versions.add(version)
        if time is not None:
            coverage.first = time if coverage.first is None else min(coverage.first, time)
            coverage.last = time if coverage.last is None else max(coverage.last, time)
