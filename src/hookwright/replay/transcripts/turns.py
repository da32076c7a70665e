"""The events around tool calls: prompts, stops, compactions, and the starts that a transcript shows."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from hookwright.protocol.events import (
    Event,
    PreCompact,
    SessionStart,
    Stop,
    SubagentStart,
    SubagentStop,
    UserPromptSubmit,
)
from hookwright.protocol.jsontext import Json
from hookwright.replay.choice import Choice
from hookwright.replay.past import Past, Provenance, SourceLine
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.shapes import (
    Attachment,
    TranscriptLine,
    TranscriptMessage,
    object_of,
    seconds_of,
    text_of,
    value_of,
)
from hookwright.replay.transcripts.speaker import Speaker

#: The events of this module; a file is read more slowly if any of them is wanted.
EVENTS = ("UserPromptSubmit", "Stop", "SubagentStart", "SubagentStop", "PreCompact", "SessionStart")

_INTERRUPTED = "[Request interrupted by user"
_RESUMED = "SessionStart:resume"
_COMMAND = re.compile(
    r"<command-message>[^<]*</command-message>\s*<command-name>(/[^<]*)</command-name>"
    r"(?:\s*<command-args>(.*?)</command-args>)?",
    re.DOTALL,
)
#: Commands that compact, as the program notes them after the boundary.
_COMPACT = re.compile(
    r"<command-name>/compact</command-name>\s*<command-message>[^<]*</command-message>"
    r"(?:\s*<command-args>(.*?)</command-args>)?",
    re.DOTALL,
)
_REFUSED = ("UserPromptSubmit operation blocked by hook:", "UserPromptExpansion operation blocked by hook:")
_QUEUED = "queued_command"
#: What a queue may hold that hooks read as a prompt; other entries are commands of the program.
_NOTIFICATION = "task-notification"
_PROMPTS = (None, "prompt", _NOTIFICATION)
_ORIGINAL = "\n\nOriginal prompt: "


class _Said(msgspec.Struct, frozen=True):
    """The message of the model that the turn may end with."""

    id: str | None
    line: TranscriptLine
    place: SourceLine
    texts: tuple[str, ...]
    calls: bool
    stop_reason: str | None


class _Compaction(msgspec.Struct, frozen=True):
    """A compaction whose prompt and instructions are in lines after its boundary."""

    line: TranscriptLine
    place: SourceLine
    trigger: str
    #: Recorded if the boundary names the trigger.
    sure: Provenance
    prompt_id: str | None = None


class Turns:
    """Turns the prompts and messages of one speaker into events."""

    def __init__(self, speaker: Speaker, choice: Choice, once: Deduplication, put: Callable[[Past], None]) -> None:
        self._speaker = speaker
        self._choice = choice
        self._once = once
        self._put = put
        self._said: _Said | None = None
        self._model: str | None = None
        self._stopped = False
        self._started = False
        self._resumed: set[str | None] = set()
        self._compaction: _Compaction | None = None

    def start(self, line: TranscriptLine, place: SourceLine) -> None:
        """Note that a subagent begins; a second call does nothing."""
        if self._speaker.agent is not None and not self._started:
            self._emit(SubagentStart, line, place)
        self._started = True

    def message(self, line: TranscriptLine, message: TranscriptMessage, place: SourceLine) -> None:
        """Note a message; one of a subagent inside the session of another is not part of its conversation."""
        self.start(line, place)
        if line.type == "user":
            self.user(line, message, place)
        elif not line.is_sidechain or self._speaker.agent is not None:
            self.model(line, message, place)

    def model(self, line: TranscriptLine, message: TranscriptMessage, place: SourceLine) -> None:
        """Note a part of a message of the model."""
        self._compacted()
        if line.is_api_error_message:
            self._said = None
            return
        texts = tuple(block.text for block in message.blocks if block.type == "text" and block.text is not None)
        calls = any(block.type == "tool_use" for block in message.blocks)
        before = self._said
        if before is not None and before.id is not None and before.id == message.id:
            texts, calls = (*before.texts, *texts), before.calls or calls
        elif before is not None and before.stop_reason == "end_turn":
            self.end()
        self._model = message.model or self._model
        self._said = _Said(message.id, line, place, texts, calls, message.stop_reason)

    def user(self, line: TranscriptLine, message: TranscriptMessage, place: SourceLine) -> None:
        """Note a message of the user, or one that the program adds as such."""
        text = message.text
        if text.startswith(_INTERRUPTED):
            self._said = None
            return
        self.end()
        if line.is_compact_summary and self._compaction is not None:
            self._compaction = msgspec.structs.replace(self._compaction, prompt_id=line.prompt_id)
        if line.is_meta or line.is_compact_summary:
            return
        self._stopped = False
        if (command := _COMPACT.match(text)) is not None:
            self._compact_command(command[1] or None, line, place)
            return
        self._compacted()
        if self._speaker.agent is None and not line.is_sidechain and _typed(text, line):
            command = _COMMAND.match(text)
            if command is None:
                self._emit(UserPromptSubmit, line, place, prompt=text)
            else:
                typed = f"{command[1]} {command[2]}" if command[2] else command[1]
                self._emit(UserPromptSubmit, line, place, {"prompt": Provenance.DERIVED}, prompt=typed)

    def system(self, line: TranscriptLine, place: SourceLine) -> None:
        """Note a record of the program."""
        if line.subtype == "stop_hook_summary":
            self.end()
        elif line.subtype == "api_error":
            self._said = None
        elif line.subtype == "informational":
            self._refused(text_of(value_of(line.content)), line, place)
        elif line.subtype == "compact_boundary":
            self.end()
            self._boundary(line, place)

    def _refused(self, text: str, line: TranscriptLine, place: SourceLine) -> None:
        """Note a prompt that a hook refused: it is only in the message to the user."""
        before, mark, prompt = text.partition(_ORIGINAL)
        if mark and before.startswith(_REFUSED) and self._speaker.agent is None:
            sure = {"prompt": Provenance.DERIVED, "prompt_id": Provenance.UNKNOWN}
            self._emit(UserPromptSubmit, line, place, sure, prompt=prompt)

    def _boundary(self, line: TranscriptLine, place: SourceLine) -> None:
        """Note that the conversation was compacted; the lines after it have the rest."""
        trigger = object_of(line.compact_metadata).get("trigger")
        known = isinstance(trigger, str)
        sure = Provenance.RECORDED if known else Provenance.ASSUMED
        self._compacted()
        self._compaction = _Compaction(line, place, trigger if isinstance(trigger, str) else "auto", sure)

    def _compact_command(self, instructions: str | None, line: TranscriptLine, place: SourceLine) -> None:
        """Note the command that compacted; without a boundary before it there was too little to compact."""
        if self._compaction is not None:
            self._compacted(instructions, Provenance.DERIVED)
        elif self._speaker.agent is None:
            sure = dict.fromkeys(("trigger", "custom_instructions"), Provenance.DERIVED)
            self._emit(PreCompact, line, place, sure, trigger="manual", custom_instructions=instructions)

    def _compacted(self, instructions: str | None = None, told: Provenance = Provenance.ASSUMED) -> None:
        """Emit the events of a compaction, if one is pending: hooks read the prompt that its summary belongs to."""
        done, self._compaction = self._compaction, None
        if done is None:
            return
        prompt = {} if done.prompt_id is None else {"prompt_id": done.prompt_id}
        known = {"prompt_id": Provenance.DERIVED if prompt else Provenance.UNKNOWN}
        if done.trigger == "auto":
            told = done.sure if done.sure is Provenance.ASSUMED else Provenance.DERIVED
        sure = {"trigger": done.sure, "custom_instructions": told, **known}
        fields = {"trigger": done.trigger, "custom_instructions": instructions, **prompt}
        self._emit(PreCompact, done.line, done.place, sure, **fields)
        model = {} if self._model is None else {"model": self._model}
        sure = {"model": Provenance.DERIVED if model else Provenance.UNKNOWN, **known}
        self._emit(SessionStart, done.line, done.place, sure, source="compact", **model, **prompt)

    def attachment(self, attachment: Attachment, line: TranscriptLine, place: SourceLine) -> None:
        """Note a prompt that was typed during a turn, or a hook that ran when the session was resumed."""
        if attachment.type == _QUEUED:
            self._queued(attachment, line, place)
        if attachment.hook_name != _RESUMED or attachment.tool_use_id in self._resumed:
            return
        self._resumed.add(attachment.tool_use_id)
        self._compacted()
        self._emit(SessionStart, line, place, {"model": Provenance.UNKNOWN}, source="resume")

    def _queued(self, attachment: Attachment, line: TranscriptLine, place: SourceLine) -> None:
        """Note a prompt that waited for the turn before it; it belongs to that turn's prompt."""
        text = text_of(value_of(attachment.prompt))
        if text and attachment.command_mode in _PROMPTS and self._speaker.agent is None:
            self._emit(UserPromptSubmit, line, place, prompt=text)

    def close(self) -> None:
        """Emit what is pending at the end of the source."""
        self._compacted()
        self.end()

    def end(self) -> None:
        """End the turn with the message before: hooks saw a stop, unless the message has calls."""
        said, self._said = self._said, None
        if said is None or said.calls or said.stop_reason == "tool_use":
            return
        fields: dict[str, Json] = {"stop_hook_active": self._stopped}
        sure = {"stop_hook_active": Provenance.DERIVED}
        sure.update({"background_tasks": Provenance.UNKNOWN, "session_crons": Provenance.UNKNOWN})
        if said.texts:
            fields["last_assistant_message"] = "\n".join(said.texts)
        cls: type[Event] = Stop
        if self._speaker.agent is not None:
            cls, path = SubagentStop, self._speaker.agent.transcript
            sure["agent_transcript_path"] = Provenance.DERIVED if path is not None else Provenance.UNKNOWN
            fields.update({} if path is None else {"agent_transcript_path": path})
        self._stopped = True
        self._emit(cls, said.line, said.place, sure, **fields)

    def _emit(
        self,
        cls: type[Event],
        line: TranscriptLine,
        place: SourceLine,
        sure: dict[str, Provenance] | None = None,
        **fields: Json,
    ) -> None:
        name, time = cls.event_name, seconds_of(line.timestamp)
        agent = self._speaker.agent.id if self._speaker.agent is not None else ""
        if not self._choice.wants(name) or not self._choice.holds(line.session_id or self._speaker.session_id, time):
            return
        if not self._once.moment(name, line.timestamp, agent + str(fields.get("source", ""))):
            return
        common, known = self._speaker.common(cls, line)
        known.update(sure or {})
        common.update(fields)
        event = cls(**{name: value for name, value in common.items() if known.get(name) is not Provenance.UNKNOWN})
        self._put(Past(event=event, place=place, time=time, fate=None, provenance=known))


def _typed(text: str, line: TranscriptLine) -> bool:
    """Return whether hooks read a prompt: one that a person typed, or the end of a background task.

    What the program itself adds to the user's turn is in tags.

    A command that became a prompt is in tags as well, its message first; a command that the program ran itself has its
    name first, and no hook saw it.
    """
    if not text:
        return False
    kind = object_of(line.origin).get("kind")
    if kind == _NOTIFICATION and text.startswith(f"<{_NOTIFICATION}>"):
        return True
    if (text.startswith("<") and _COMMAND.match(text) is None) or line.prompt_source == "system":
        return False
    return kind in (None, "human")
