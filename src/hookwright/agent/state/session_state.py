"""What changes while a session runs; every change has a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hookwright.protocol.events import Event
from hookwright.protocol.jsontext import Json


class SessionState:
    """The identity and place of one session. Read it anywhere; change it by its methods."""

    def __init__(self, session_id: str, transcript_path: str, cwd: str, title: str | None = None) -> None:
        self.id = session_id
        self.transcript_path = transcript_path
        #: The working directory of the main agent.
        self.cwd = cwd
        self.title = title
        #: None before the first prompt.
        self.prompt_id: str | None = None
        #: Files that hooks asked to watch, in addition to the names in matchers.
        self.watch_paths: tuple[str, ...] = ()
        #: Calls denied since the last prompt, as the result lists them.
        self.denials: tuple[Mapping[str, Json], ...] = ()
        self._announcements: tuple[Event, ...] = ()
        #: The value given for the schema of the options since the last prompt.
        self.structured: Json = None
        #: How often the model was reminded of it.
        self.reminders = 0

    def begin(self, prompt_id: str) -> None:
        """Start on a prompt."""
        self.prompt_id = prompt_id

    def move(self, cwd: str) -> None:
        """Continue in another working directory."""
        self.cwd = cwd

    def rename(self, title: str) -> None:
        """Give the session another title."""
        self.title = title

    def restart(self, session_id: str, transcript_path: str) -> None:
        """Become a new session in the same process; the title of the old one is dropped."""
        self.id = session_id
        self.transcript_path = transcript_path
        self.title = None
        self.prompt_id = None

    def watch(self, paths: Iterable[str]) -> None:
        """Watch these files from now on, instead of those named before."""
        self.watch_paths = tuple(paths)

    def deny(self, call: Mapping[str, Json]) -> None:
        """List a denied call."""
        self.denials = (*self.denials, call)

    def announce_later(self, events: Iterable[Event]) -> None:
        """Keep events that fire with the next prompt."""
        self._announcements = tuple(events)

    def take_announcements(self) -> tuple[Event, ...]:
        """Return the events that waited for a prompt, once."""
        events, self._announcements = self._announcements, ()
        return events

    def forget_denials(self) -> None:
        """Start an empty list of denied calls."""
        self.denials = ()

    def answer(self, value: Json) -> None:
        """Note the value given for the schema of the options."""
        self.structured = value
        self.reminders = 0

    def remind(self) -> None:
        """Count a reminder of the schema."""
        self.reminders += 1
