"""What an executor gets: one handler, one event, and the event's bytes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import msgspec

from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler
from hookwright.protocol.replies import Reply

if TYPE_CHECKING:
    from hookwright.protocol.outcome import Late

#: The prefix of the id of a hook's own agent, in the events its tool calls fire.
AGENT_PREFIX = "hook-agent-"


class Job(msgspec.Struct, frozen=True):
    """One handler to run for one event."""

    handler: Handler
    event: Event
    #: The event as one line of JSON with its newline, serialised once for all handlers.
    payload: bytes
    #: The position of the handler among those of this firing, in configuration order.
    index: int
    #: Identifies the run in the journal, the transcript and the stream.
    run_id: str
    #: Seconds; a process enforces its own limit, other executors are cancelled by the engine. None for no limit.
    timeout: float | None
    #: Identifies the firing among those of all sessions; empty if nothing observes the engine.
    firing: str = ""
    #: Called with the real end of a run that goes to the background.
    on_late_end: Callable[[Late], None] | None = None


#: Runs one kind of handler. It is cancelled at the time limit and on interrupt, and must then clean up.
Executor = Callable[[Job], Awaitable[Reply]]
