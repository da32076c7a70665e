"""Which part of the past is asked for."""

from __future__ import annotations

from collections.abc import Callable

import msgspec


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The events that are asked for; an empty set means all.

    Law: sessions and times say which calls belong to the history. Events, tools and `wanted` say which of them are
    rebuilt; the others are counted, and nothing else changes.
    """

    events: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    #: Seconds since 1970; a call without a time belongs to every time.
    since: float | None = None
    until: float | None = None
    #: Returns whether any handler wants an event of a tool; the tool is empty for events without one.
    wanted: Callable[[str, str], bool] | None = None

    def wants(self, event: str, tool: str = "") -> bool:
        """Return whether an event is to be rebuilt."""
        return (
            (not self.events or event in self.events)
            and (not self.tools or tool in self.tools)
            and (self.wanted is None or self.wanted(event, tool))
        )

    def holds(self, session: str, time: float | None) -> bool:
        """Return whether something that happened in a session at a time belongs to the history."""
        return (not self.sessions or session in self.sessions) and (
            time is None or ((self.since is None or time >= self.since) and (self.until is None or time <= self.until))
        )
