"""Who a line belongs to, and the fields that every event of theirs has."""

from __future__ import annotations

import bisect
import os
from collections.abc import Mapping
from typing import TypeVar

import msgspec

from hookwright.agent.transcript.paths import InvalidSession, session_path
from hookwright.protocol.events import Event, ModeEvent
from hookwright.protocol.jsontext import Json
from hookwright.replay.past import Provenance
from hookwright.replay.transcripts.shapes import TranscriptLine, seconds_of, value_of

E = TypeVar("E", bound=Event)

#: An agent whose type no file names.
USUAL_AGENT = "general-purpose"


class Participant(msgspec.Struct, frozen=True):
    """A subagent."""

    id: str
    type: str
    sure: Provenance = Provenance.RECORDED
    #: Its transcript; older versions wrote into that of the session.
    transcript: str | None = None


class Modes:
    """The permission modes and prompts of a session over time; its subagents inherit them."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._values: list[tuple[str | None, str | None]] = []

    def note(self, time: float | None, mode: str | None, prompt_id: str | None) -> None:
        """Keep what is in force from a time on."""
        at = time if time is not None else (self._times[-1] if self._times else 0.0)
        place = bisect.bisect_right(self._times, at)
        self._times.insert(place, at)
        self._values.insert(place, (mode, prompt_id))

    @property
    def noted(self) -> tuple[list[float], list[tuple[str | None, str | None]]]:
        """The times, and what is in force from each on."""
        return self._times, self._values

    def restore(self, times: list[float], values: list[tuple[str | None, str | None]]) -> None:
        """Keep what another reading of the same file noted."""
        self._times, self._values = list(times), list(values)

    def at(self, time: float | None) -> tuple[str | None, str | None]:
        """Return the mode and the prompt that were in force at a time."""
        place = bisect.bisect_right(self._times, time) if time is not None else len(self._times)
        return self._values[place - 1] if place else (None, None)


class Speaker:
    """The main agent or a subagent: what is in force while its lines are read."""

    def __init__(self, transcript: str, session_id: str, agent: Participant | None = None) -> None:
        #: The transcript of the session; empty for a subagent beside it, whose lines name the session.
        self._transcript = transcript
        self.agent = agent
        self.session_id = session_id
        self.cwd: str | None = None
        self.prompt_id: str | None = None
        self.mode: str | None = None
        self.modes = Modes()

    @property
    def transcript(self) -> str:
        """The transcript of the session."""
        if self._transcript or self.agent is None or self.agent.transcript is None:
            return self._transcript
        try:
            return session_path(os.path.dirname(self.agent.transcript), self.session_id)
        except InvalidSession:
            return self.agent.transcript

    def again(self) -> Speaker:
        """Return a speaker in the same state, to read the same file."""
        other = Speaker(self._transcript, self.session_id, self.agent)
        other.cwd, other.mode, other.prompt_id = self.cwd, self.mode, self.prompt_id
        return other

    def inherit(self, modes: Modes, time: float | None) -> None:
        """Begin with what was in force in the session."""
        self.mode, prompt = modes.at(time)
        self.prompt_id = self.prompt_id or prompt

    def hear(self, line: TranscriptLine) -> None:
        """Note what a line puts in force; results are not heard, since unwanted ones are not read."""
        if line.session_id:
            self.session_id = line.session_id
        if line.cwd:
            self.cwd = line.cwd
        if line.prompt_id is None and line.permission_mode is None:
            return
        self.prompt_id = line.prompt_id or self.prompt_id
        if self.agent is None:
            self.mode = line.permission_mode or self.mode
            self.modes.note(seconds_of(line.timestamp), self.mode, self.prompt_id)

    def common(self, cls: type[E], line: TranscriptLine) -> tuple[dict[str, Json], dict[str, Provenance]]:
        """Return the fields that every event of a class has, and how sure they are."""
        session_id, cwd = line.session_id or self.session_id, line.cwd or self.cwd
        fields: dict[str, Json] = {"session_id": session_id, "transcript_path": self.transcript, "cwd": cwd or "/"}
        sure = {"transcript_path": Provenance.DERIVED}
        if not line.session_id:
            sure["session_id"] = Provenance.DERIVED
        if not line.cwd:
            sure["cwd"] = Provenance.DERIVED if cwd else Provenance.ASSUMED
        _add(fields, sure, "prompt_id", self.prompt_id, Provenance.DERIVED)
        if issubclass(cls, ModeEvent):
            inherited = Provenance.ASSUMED if self.agent is not None else Provenance.DERIVED
            _add(fields, sure, "permission_mode", self.mode, inherited)
        if cls.rules.effort:
            _add(fields, sure, "effort", _effort(line), Provenance.RECORDED)
        if self.agent is not None:
            fields["agent_id"], fields["agent_type"] = self.agent.id, self.agent.type
            sure["agent_type"] = self.agent.sure
        return fields, sure


def _add(fields: dict[str, Json], sure: dict[str, Provenance], name: str, value: Json, known: Provenance) -> None:
    if value is None:
        sure[name] = Provenance.UNKNOWN
        return
    fields[name] = value
    sure[name] = known


def _effort(line: TranscriptLine) -> Mapping[str, str] | None:
    level = value_of(line.effort)
    if isinstance(level, dict):
        return level if all(isinstance(value, str) for value in level.values()) else None
    return {"level": level} if isinstance(level, str) else None
