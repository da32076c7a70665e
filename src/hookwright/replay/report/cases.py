"""Changed events as cases for `hookwright test`: what the candidate says now is what they expect."""

from __future__ import annotations

from collections.abc import Iterable

from hookwright.cases.record import EventChoice, Seen, Written, make_cases
from hookwright.protocol.wire import payload
from hookwright.replay.model import CHANGED, Change


def written_cases(changes: Iterable[Change]) -> list[Written]:
    """Return a case for every changed event of different content; an undecided event has nothing to expect."""
    seen = [
        Seen(payload(change.past.event), change.now.decision, "\n".join(change.now.reasons) or None)
        for change in changes
        if change.bucket in CHANGED
    ]
    return make_cases(seen, EventChoice())
