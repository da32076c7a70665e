"""All events of one transcript, in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from hookwright.replay.choice import Choice
from hookwright.replay.past import Past, Provenance, SourceLine
from hookwright.replay.transcripts.calls import Calls, Respond, response_of
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.shapes import (
    ContentBlock,
    TranscriptLine,
    TranscriptMessage,
    object_of,
    read_attachment,
    read_line,
    read_progress,
)
from hookwright.replay.transcripts.speaker import USUAL_AGENT, Participant, Speaker
from hookwright.replay.transcripts.turns import EVENTS, Turns

_CALL = b'"tool_use'
_RESULT = re.compile(rb'"tool_use_id"\s*:\s*"([^"\\]*)"')
#: The result of a call that never was: read for the count, wanted or not.
_NEVER = b'"<tool_use_error>'
#: Lines that put something in force: a message of the user, or a short line about the mode.
_USER = b'"user"'
_MODE = b'"permission-mode"'
_MODE_LINE = 1000
#: In the record of a hook run: it may have given a call another input or output, which the events after it show.
_HOOK = b'"hookEvent"'
_QUOTE, _UNDERSCORE = b'"_'
_SUBAGENT_TOOLS = ("Agent", "Task")


class PastConversation:
    """Reads the lines of one file.

    Law: the needles are written with their quotes, so they cannot be inside a string, where quotes are escaped. A line
    without one of them has neither a call nor a result that is needed, and changes nothing.
    """

    def __init__(
        self, path: str, speaker: Speaker, choice: Choice, once: Deduplication, respond: Respond = response_of
    ) -> None:
        self._path = path
        self._once = once
        self._choice = choice
        self.speaker = speaker
        self.calls = Calls(choice, once, respond)
        self._turns = Turns(speaker, choice, once, self.calls.put)
        self._slow = any(choice.wants(name) for name in EVENTS)
        #: Subagents inside this file, as older versions wrote them, and the types that calls asked for.
        self._inside: dict[str, tuple[Speaker, Turns]] = {}
        self._asked: dict[str, str] = {}
        self._asked_by: dict[str, str] = {}

    @property
    def has_agents_inside(self) -> bool:
        """Whether the lines so far had messages of subagents."""
        return bool(self._inside)

    def events(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[Past]:
        """Yield the events of the lines."""
        queue = self.calls.queue
        for number, data in lines:
            line = read_line(data)
            if line is None:
                self._once.coverage.unreadable += 1
                continue
            if line.type != "permission-mode":
                self._read(line, SourceLine(self._path, number))
            elif len(data) <= _MODE_LINE:
                self.speaker.hear(line)
            if queue and not queue[0].waits:
                yield from self.calls.ready()
        for _, turns in self._inside.values():
            turns.close()
        self._turns.close()
        self.calls.close()
        yield from self.calls.ready()

    def needed(self, buffer: bytes, start: int, end: int) -> bool:
        """Return whether a line has to be read."""
        at = buffer.find(_CALL, start, end)
        while at >= 0:
            follows = buffer[at + 9]
            if follows == _QUOTE:
                return True
            if follows == _UNDERSCORE:
                return self._has_result(buffer, at, end) or buffer.find(_NEVER, start, end) >= 0
            at = buffer.find(_CALL, at + 9, end)
        if self._slow or buffer.find(_USER, start, end) >= 0:
            return True
        if end - start <= _MODE_LINE and buffer.find(_MODE, start, end) >= 0:
            return True
        return self.calls.follows and buffer.find(_HOOK, start, end) >= 0

    def _has_result(self, buffer: bytes, at: int, end: int) -> bool:
        """Return whether a line has a result that is needed; `at` is the place of the first one."""
        while at >= 0:
            found = _RESULT.match(buffer, at, end)
            if found is not None and self._awaits(found[1].decode("utf-8", "replace")):
                return True
            at = buffer.find(_CALL, at + 9, end)
        return False

    def _awaits(self, call_id: str) -> bool:
        """Return whether a result is needed: for the events of its call, or as the end of a subagent."""
        return self.calls.awaits(call_id) or (self._slow and call_id in self._asked_by)

    def _read(self, line: TranscriptLine, place: SourceLine) -> None:
        match line.type:
            case "assistant" | "user":
                self._message(self.speaker, self._turns, line, place)
            case "system":
                self._turns.system(line, place)
            case "attachment" if (attachment := read_attachment(line.attachment)) is not None:
                self.calls.rewrite(attachment)
                self._turns.attachment(attachment, line, place)
            case "progress":
                self._progress(line, place)

    def _message(self, speaker: Speaker, turns: Turns, line: TranscriptLine, place: SourceLine) -> None:
        message = line.message
        if message is None:
            return
        if line.type == "user" and any(block.type == "tool_result" for block in message.blocks):
            self._results(line, message, place)
            return
        speaker.hear(line)
        for block in message.blocks if line.type == "assistant" else ():
            if block.type == "tool_use":
                self._call(speaker, line, block, place)
        if self._slow:
            turns.message(line, message, place)

    def _results(self, line: TranscriptLine, message: TranscriptMessage, place: SourceLine) -> None:
        for block in message.blocks:
            if (agent := self._asked_by.pop(block.tool_use_id or "", None)) is not None:
                self._inside[agent][1].end()
            if block.type == "tool_result":
                self.calls.end(line, block, place)

    def _call(self, speaker: Speaker, line: TranscriptLine, block: ContentBlock, place: SourceLine) -> None:
        self.calls.begin(speaker, line, block, place)
        if block.name in _SUBAGENT_TOOLS and block.id:
            kind = object_of(block.input).get("subagent_type")
            self._asked[block.id] = kind if isinstance(kind, str) else USUAL_AGENT

    def _progress(self, line: TranscriptLine, place: SourceLine) -> None:
        """Read a message of a subagent inside a line of its session, as older versions wrote it."""
        progress = read_progress(line.data)
        if progress is None or progress.type != "agent_progress" or not progress.agent_id:
            return
        inner = progress.message
        if inner is None or inner.type not in ("assistant", "user"):
            return
        # The line around has what is in force; the line inside has its own time.
        around = {name: getattr(line, name) for name in ("session_id", "cwd", "version")}
        inner = msgspec.structs.replace(
            inner, **around, prompt_id=None, permission_mode=None, timestamp=inner.timestamp or line.timestamp
        )
        speaker, turns = self._agent(progress.agent_id, line)
        self._message(speaker, turns, inner, place)

    def _agent(self, agent_id: str, line: TranscriptLine) -> tuple[Speaker, Turns]:
        if agent_id not in self._inside:
            if line.parent_call:
                self._asked_by[line.parent_call] = agent_id
            kind = self._asked.get(line.parent_call or "")
            agent = Participant(agent_id, kind or USUAL_AGENT, Provenance.DERIVED if kind else Provenance.ASSUMED)
            speaker = Speaker(self.speaker.transcript, self.speaker.session_id, agent)
            speaker.mode, speaker.prompt_id = self.speaker.mode, self.speaker.prompt_id
            self._inside[agent_id] = speaker, Turns(speaker, self._choice, self._once, self.calls.put)
        return self._inside[agent_id]
