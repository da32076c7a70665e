"""The events of tool calls: before each, and after each that ran."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator

import msgspec

from hookwright.protocol.events import Event, PostToolUse, PostToolUseFailure, PreToolUse
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.replay.choice import Choice
from hookwright.replay.past import Fate, Past, Provenance, SourceLine
from hookwright.replay.transcripts.fates import CallResult, fate_of
from hookwright.replay.transcripts.once import Deduplication
from hookwright.replay.transcripts.repairs import repaired_input, repaired_name
from hookwright.replay.transcripts.shapes import (
    Attachment,
    ContentBlock,
    TranscriptLine,
    is_object,
    object_of,
    seconds_of,
    text_of,
    value_of,
)
from hookwright.replay.transcripts.speaker import Speaker

#: Fates of calls whose tool ran to its end, with the event that followed.
_FOLLOWS = {Fate.SUCCEEDED: "PostToolUse", Fate.FAILED: "PostToolUseFailure"}
#: The tool that changes the working directory.
_MOVES = "Bash"
_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
_INTERRUPTED = b'"interrupted"'
_STOPPED = re.compile(rb'"interrupted"\s*:\s*true')
#: Fields of a hook's answer that give a call another output.
_OUTPUTS = ("updatedToolOutput", "updatedMCPToolOutput")


#: Returns the response of a tool, and whether the transcript has it as the tool gave it.
Respond = Callable[[TranscriptLine, ContentBlock], tuple[Json, bool]]


class Slot:
    """A place in the order of events; the event of a call waits there until its fate is known."""

    __slots__ = ("past", "waits")

    def __init__(self, past: Past | None, *, waits: bool = False) -> None:
        self.past = past
        self.waits = waits

    def settle(self, past: Past | None) -> None:
        """Put the event in its place; None if it never was."""
        self.past, self.waits = past, False


class PastCall:
    """A call whose result has not been read."""

    __slots__ = ("beside", "fields", "id", "mode_known", "place", "rewritten", "slot", "sure", "time", "tool")

    def __init__(self, call_id: str, tool: str, place: SourceLine, time: float | None, mode_known: bool) -> None:
        self.id = call_id
        self.tool = tool
        self.place = place
        self.time = time
        self.mode_known = mode_known
        self.slot = Slot(None, waits=True)
        #: The input that a hook gave the call instead.
        self.rewritten: dict[str, Json] | None = None
        #: Whether another call that may change the working directory ran at the same time.
        self.beside = False
        #: Empty if no event of the call is wanted.
        self.fields: dict[str, Json] = {}
        self.sure: dict[str, Provenance] = {}

    def read(self, speaker: Speaker, line: TranscriptLine, block: ContentBlock) -> None:
        """Read the call as hooks do, with what is in force when its line is read."""
        self.fields, self.sure = speaker.common(PreToolUse, line)
        written = object_of(block.input)
        given = repaired_input(self.tool, written, self.fields["cwd"])
        if given is not written:
            self.sure["tool_input"] = Provenance.DERIVED
        if self.tool != block.name:
            self.sure["tool_name"] = Provenance.DERIVED
        if self.tool.startswith("mcp__"):
            self.sure["mcp_server"] = Provenance.UNKNOWN
        self.fields.update(tool_name=self.tool, tool_input=given, tool_use_id=self.id)

    def before(self, fate: Fate) -> Past:
        """Return the event before the call."""
        event = PreToolUse(**self.fields)
        return Past(event=event, place=self.place, time=self.time, fate=fate, provenance=self.sure)


class Calls:
    """Turns the calls and results of one file into events, in the order of the file."""

    def __init__(self, choice: Choice, once: Deduplication, respond: Respond) -> None:
        self._choice = choice
        self._once = once
        self._respond = respond
        self.queue: deque[Slot] = deque()
        #: Whether an event after one of the calls so far is wanted.
        self.follows = False
        self._waiting: dict[str, PastCall] = {}
        #: Calls that succeeded in the message so far: hooks may have changed what the transcript has as their output.
        self._succeeded: dict[str, tuple[Slot, Past]] = {}
        self._message: str | None = None
        self._wanted_by_tool: dict[str, frozenset[str]] = {}

    def awaits(self, call_id: str) -> bool:
        """Return whether the result of a call is needed."""
        call = self._waiting.get(call_id)
        return call is not None and bool(call.fields)

    def put(self, past: Past) -> None:
        """Add an event that is complete."""
        self.queue.append(Slot(past))

    def begin(self, speaker: Speaker, line: TranscriptLine, block: ContentBlock, place: SourceLine) -> None:
        """Note a call; one that another file already had is only counted."""
        message = line.message.id if line.message is not None else None
        if self._succeeded and (message is None or message != self._message):
            self._release()
        self._message = message
        time = seconds_of(line.timestamp)
        if not block.id or not block.name or not is_object(block.input):
            return
        if not self._choice.holds(speaker.session_id, time):
            return
        self._once.session(speaker.session_id, line.version, time)
        if not self._once.call(block.id, line.timestamp, speaker.session_id):
            return
        call = PastCall(block.id, repaired_name(block.name), place, time, speaker.mode is not None)
        self._once.coverage.without_mode += not call.mode_known
        if call.tool == _MOVES:
            self._note_movers(call)
        self._waiting[call.id] = call
        if self._wanted(call.tool):
            call.read(speaker, line, block)
            self.queue.append(call.slot)

    def _note_movers(self, call: PastCall) -> None:
        for other in self._waiting.values():
            if other.tool == _MOVES:
                call.beside = other.beside = True

    def _wanted(self, tool: str) -> frozenset[str]:
        """Return the events of a tool that are wanted."""
        known = self._wanted_by_tool.get(tool)
        if known is None:
            known = frozenset(name for name in _EVENTS if self._choice.wants(name, tool))
            self.follows = self.follows or not known <= {"PreToolUse"}
            self._wanted_by_tool[tool] = known
        return known

    def rewrite(self, attachment: Attachment) -> None:
        """Note what a hook gave a call: another input, which the events after the call have, or another output."""
        call_id = attachment.tool_use_id or ""
        if attachment.hook_event == "PreToolUse":
            call, given = self._waiting.get(call_id), _answer(attachment).get("updatedInput")
            if call is not None and isinstance(given, dict):
                call.rewritten = given
        elif attachment.hook_event == "PostToolUse" and call_id in self._succeeded:
            answer = _answer(attachment)
            # The record of a hook that blocks does not have the rest of its answer.
            if attachment.type == "hook_blocking_error" or any(name in answer for name in _OUTPUTS):
                slot, past = self._succeeded[call_id]
                sure = {**past.provenance, "tool_response": Provenance.ASSUMED}
                self._succeeded[call_id] = slot, msgspec.structs.replace(past, provenance=sure)

    def _release(self) -> None:
        """Settle the calls that succeeded; the hooks after them have run when the model is asked again."""
        for slot, past in self._succeeded.values():
            slot.settle(past)
        self._succeeded.clear()

    def end(self, line: TranscriptLine, block: ContentBlock, place: SourceLine) -> None:
        """Settle a call by its result, and add the event that followed."""
        call = self._waiting.pop(str(block.tool_use_id), None)
        if call is None:
            return
        result = _result(line, block)
        fate = fate_of(result)
        if fate is Fate.NEVER_STARTED:
            self._once.coverage.never_started += 1
            self._once.coverage.without_mode -= not call.mode_known
            call.slot.settle(None)
            return
        self._settle(call, fate)
        if _FOLLOWS.get(fate) in self._wanted(call.tool):
            event, sure = self._after(call, result, line, block)
            time = seconds_of(line.timestamp)
            past = Past(event=event, place=place, time=time, fate=fate, provenance=sure)
            if fate is Fate.SUCCEEDED:
                self._succeeded[call.id] = slot, _ = Slot(None, waits=True), past
                self.queue.append(slot)
            else:
                self.put(past)

    def _after(
        self, call: PastCall, result: CallResult, line: TranscriptLine, block: ContentBlock
    ) -> tuple[Event, dict[str, Provenance]]:
        fields, sure = dict(call.fields), {**call.sure, "duration_ms": Provenance.UNKNOWN}
        if line.cwd and line.cwd != fields["cwd"]:
            # The lines of calls beside it name the new directory as well; only the shell moves, one of several perhaps.
            fields["cwd"] = line.cwd if call.tool == _MOVES else fields["cwd"]
            sure["cwd"] = Provenance.ASSUMED if call.beside else Provenance.DERIVED
        if call.rewritten is not None:
            fields["tool_input"] = repaired_input(call.tool, call.rewritten, fields["cwd"])
            sure["tool_input"] = Provenance.DERIVED
        if result.is_error:
            fields.update(error=result.text, is_interrupt=False)
            return PostToolUseFailure(**fields), {**sure, "is_interrupt": Provenance.DERIVED}
        response, recorded = self._respond(line, block)
        if not recorded:
            sure["tool_response"] = Provenance.ASSUMED
        return PostToolUse(**fields, tool_response=response), sure

    def _settle(self, call: PastCall, fate: Fate) -> None:
        call.slot.settle(call.before(fate) if "PreToolUse" in self._wanted(call.tool) else None)

    def close(self) -> None:
        """Settle what the file leaves without a result."""
        self._release()
        for call in self._waiting.values():
            self._settle(call, Fate.UNANSWERED)
        self._waiting.clear()

    def ready(self) -> Iterator[Past]:
        """Yield the events whose turn it is."""
        while self.queue and not self.queue[0].waits:
            past = self.queue.popleft().past
            if past is not None:
                yield past


def _answer(attachment: Attachment) -> dict[str, Json]:
    """Return the part of a hook's answer for its event; an empty one if the answer was not used."""
    if attachment.type != "hook_success" or attachment.stdout is None:
        return {}
    answer = parse_json(attachment.stdout)[0]
    specific = answer.get("hookSpecificOutput") if isinstance(answer, dict) else None
    return specific if isinstance(specific, dict) else {}


def _result(line: TranscriptLine, block: ContentBlock) -> CallResult:
    """Read what says how a call ended; the text and the response of a call that succeeded are often large."""
    failed = block.is_error is True
    response = bytes(line.tool_use_result)
    at = response.find(_INTERRUPTED)
    return CallResult(
        is_error=failed,
        text=text_of(value_of(block.content)) if failed else "",
        interrupted=at >= 0 and _STOPPED.search(response, at) is not None,
        response=value_of(line.tool_use_result) if failed else None,
        denial=line.tool_denial_kind,
        decision=value_of(line.permission_decision),
    )


def response_of(line: TranscriptLine, block: ContentBlock) -> tuple[Json, bool]:
    """Return the response of a tool; transcripts of subagents only have what the model read."""
    response = value_of(line.tool_use_result)
    if response is None:
        return text_of(value_of(block.content)), False
    return response, True


def response_left_out(line: TranscriptLine, _block: ContentBlock) -> tuple[Json, bool]:
    """Return no response, and whether the transcript has one."""
    response = line.tool_use_result
    known = bool(response) and (memoryview(response)[0] != ord("n") or value_of(response) is not None)
    return None, known
