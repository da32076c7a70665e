"""Follow events through the engine, from the start of their first hook to the outcome."""

from __future__ import annotations

from typing import assert_never

import msgspec

from hookwright.observers import EventEnded, RunEnded, RunStarted
from hookwright.tui.feed.items import Began, Firing


class Firings:
    """Firings without an outcome yet, and their places in a list of items."""

    def __init__(self) -> None:
        self._open: dict[int, Firing] = {}
        self._places: dict[int, int] = {}
        #: A managed hook may rewrite the event for the other hooks; their runs still belong to the original event.
        self._of_run: dict[str, int] = {}

    def take(self, notice: RunStarted | RunEnded | EventEnded, now: float) -> tuple[int | None, Firing]:
        """Apply a notice; return the place of its firing, None for a new one, and the firing as it is now."""
        match notice:
            case RunStarted(job=job):
                key = id(job.event)
                firing = self._open.get(key, Firing(event=job.event, at=now))
                more = (*firing.began, Began(job.run_id, job.handler, now))
                firing = msgspec.structs.replace(firing, began=more)
                self._of_run[job.run_id] = key
            case RunEnded(job=job, run=run):
                key = self._of_run.get(job.run_id, id(job.event))
                firing = self._open.get(key, Firing(event=job.event, at=now))
                firing = msgspec.structs.replace(firing, runs=(*firing.runs, run))
            case EventEnded(event=event, outcome=outcome, seconds=seconds):
                key = self._key(notice)
                at = self._open[key].at if key in self._open else now - seconds
                began = self._open[key].began if key in self._open else ()
                firing = Firing(event=event, at=at, began=began, runs=outcome.runs, outcome=outcome, seconds=seconds)
            case _:
                assert_never(notice)
        place = self._places.get(key)
        self._open[key] = firing
        if firing.outcome is not None:
            self._close(key)
        return place, firing

    def _key(self, notice: EventEnded) -> int:
        key = id(notice.event)
        if key in self._open:
            return key
        return next((self._of_run[run.id] for run in notice.outcome.runs if run.id in self._of_run), key)

    def _close(self, key: int) -> None:
        firing = self._open.pop(key)
        self._places.pop(key, None)
        for run in firing.runs:
            self._of_run.pop(run.id, None)

    def placed(self, firing: Firing, place: int) -> None:
        """Remember the place of a new firing until its outcome."""
        for key, known in self._open.items():
            if known is firing:
                self._places[key] = place

    def moved(self, place: int, by: int) -> None:
        """Adjust the places of open firings after items before them were added or removed."""
        self._places = {key: at + by if at > place else at for key, at in self._places.items()}
