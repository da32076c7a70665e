"""One conversation with a model: its messages, and the same on disk before anything acts on it."""

from __future__ import annotations

import contextvars
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from hookwright.agent.transcript import (
    CallContext,
    Transcript,
    attachments,
    closed,
    late_attachment,
    program_note,
    with_reads,
)
from hookwright.models.types import Response
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import hook_name
from hookwright.protocol.outcome import Late, Outcome
from hookwright.visibility import Place, late_messages, model_texts

Message = dict[str, Json]

#: The dialogue on whose behalf an event is fired, so that hooks at the end of a turn read the right conversation.
_current: contextvars.ContextVar[Dialogue | None] = contextvars.ContextVar("hookwright_dialogue", default=None)


def current_messages() -> Sequence[Message]:
    """Return the conversation that the event being fired is about."""
    dialogue = _current.get()
    return tuple(dialogue.messages) if dialogue is not None else ()


class AnsweredPrompt(msgspec.Struct, frozen=True):
    """A message of the model as the API gave it, and the uuids of its lines on disk, one per block."""

    message: Mapping[str, Json]
    uuids: tuple[str, ...]


class Dialogue:
    """The messages a model reads, in the neutral form, and their transcript.

    Texts that hooks add wait until they can be delivered: a model API wants the results of a turn before anything
    else. They are on disk at once, and `Conversation.messages` delivers them by the same rule.
    """

    def __init__(
        self,
        transcript: Transcript,
        messages: Sequence[Message] = (),
        on_added: Callable[[str, str], None] | None = None,
    ) -> None:
        self.transcript = transcript
        self.messages: list[Message] = list(messages)
        #: Called with every text that hooks or the program add for the model, and the name of the hook.
        self._on_added = on_added
        self._asked_by: str | None = None
        #: Results of the running turn that are on disk, by tool call.
        self.kept: dict[str, Mapping[str, Json]] = {}
        self._waiting: list[str] = []
        self._waiting_reminders: list[tuple[str, str]] = []

    def speak_for(self) -> None:
        """Make this the dialogue of events that this task fires from here on."""
        _current.set(self)

    # ── messages ────────────────────────────────────────────────────────────

    def user(self, content: str | list[Mapping[str, Json]], name: str | None = None, **fields: Any) -> None:
        """Add a message of the user; `name` is the uuid of its line."""
        self.deliver()
        self.transcript.user(content, name, **fields)
        self.messages.append({"role": "user", "content": content})

    def assistant(self, response: Response, effort: str | None = None) -> AnsweredPrompt:
        """Add a message of the model; `effort` is the level it worked with."""
        message = {
            "id": response.id,
            "type": "message",
            "role": "assistant",
            "model": response.model,
            "content": [dict(block) for block in response.content],
            "stop_reason": response.stop_reason,
            "stop_sequence": None,
            "usage": _usage(response),
        }
        uuids = self.transcript.assistant(message, effort=effort)
        self._asked_by = uuids[-1]
        self.messages.append({"role": "assistant", "content": message["content"]})
        return AnsweredPrompt(message, uuids)

    def keep_result(self, block: Mapping[str, Json], response: Json, refused_by: str | None = None) -> str:
        """Write a tool result to disk and return the uuid of its line; the model gets it with those of its turn."""
        name = self.transcript.tool_result(block, response, self._asked_by, refused_by)
        self.kept[block["tool_use_id"]] = block
        return name

    def results(self, blocks: Sequence[Mapping[str, Json]]) -> None:
        """Add the results of one turn, in the order of its calls."""
        self.messages.append({"role": "user", "content": [dict(block) for block in blocks]})
        self.kept.clear()

    @property
    def ends_with_results(self) -> bool:
        """Whether the last message has the results of tool calls."""
        content = self.messages[-1]["content"] if self.messages else ""
        return isinstance(content, list) and any(block["type"] == "tool_result" for block in content)

    def close_calls(self) -> None:
        """Add a result for every call that has none, so that the conversation can be sent."""
        self.messages = closed(self.messages)

    # ── what hooks and the program add ──────────────────────────────────────

    def record_firing(self, outcome: Outcome, about: str | None = None, call: CallContext | None = None) -> None:
        """Write a firing to disk; its reminders wait for `deliver`."""
        self._record(outcome, model_texts(outcome, Place.REMINDER), about, call)

    def record_news(self, outcome: Outcome) -> None:
        """Write a firing to disk; reminders that the conversation already has are not repeated."""
        said = [message["content"] for message in self.messages if message["role"] == "system"]
        texts = model_texts(outcome, Place.REMINDER)
        self._record(outcome, tuple(text for text in texts if not any(_gist(text) in one for one in said)), None, None)

    def record_unread(self, outcome: Outcome, about: str | None = None, call: CallContext | None = None) -> None:
        """Write a firing to disk that was overruled; the model reads nothing of it."""
        self._record(outcome, (), about, call)

    def record_late(self, late: Late) -> None:
        """Write the end of a background hook to disk; what it tells the model waits for `deliver`."""
        name, read = hook_name(late.job.event), late_messages(late)
        texts = [message.text for message in read if message.place is Place.REMINDER]
        about = getattr(late.job.event, "tool_use_id", late.id)
        for value in with_reads((late_attachment(late, name, about),), texts):
            self.transcript.attachment(value)
        self._queue(texts, name)
        for message in read:
            if message.place is Place.USER:
                self.remind_later(message.text)

    def add_note(self, text: str) -> None:
        """Write a text of the program to disk; it waits for `deliver`."""
        self.transcript.attachment(program_note(text))
        self._waiting.append(text)

    def add_reminder(self, text: str, hook_name: str = "") -> None:
        """Add a text of the program as a user message."""
        self.deliver()
        self._remind(text, hook_name)

    def remind_later(self, text: str, hook_name: str = "") -> None:
        """Add a text of the program as a user message at the next `deliver`."""
        self._waiting_reminders.append((text, hook_name))

    def deliver(self) -> bool:
        """Add the texts that wait: one system message, then the reminders; return whether there were any."""
        texts, reminders = self.take_waiting(), self._waiting_reminders
        self._waiting_reminders = []
        self.add_system(texts)
        for text, name in reminders:
            self._remind(text, name)
        return bool(texts or reminders)

    def take_waiting(self) -> list[str]:
        """Return the texts that wait, for a caller that delivers them itself."""
        texts, self._waiting = self._waiting, []
        return texts

    def wait_with(self, texts: Sequence[str]) -> None:
        """Queue texts that are already on disk for `deliver`."""
        self._waiting += texts

    def add_system(self, texts: Sequence[str]) -> None:
        """Add texts as one system message, joined to the last message if that is one."""
        if not texts:
            return
        if self.messages and self.messages[-1]["role"] == "system":
            texts = [self.messages.pop()["content"], *texts]
        self.messages.append({"role": "system", "content": "\n\n".join(texts)})

    def _record(
        self, outcome: Outcome, texts: Sequence[str], about: str | None = None, call: CallContext | None = None
    ) -> None:
        if not outcome.runs:
            return
        lines = attachments(outcome, about if about is not None else f"hook-{uuid.uuid4()}", call)
        for value in with_reads(lines, texts):
            self.transcript.attachment(value)
        self._queue(texts, outcome.hook_name)

    def _queue(self, texts: Sequence[str], name: str) -> None:
        for text in texts:
            self._waiting.append(text)
            self._tell(text, name)

    def _remind(self, text: str, name: str) -> None:
        self.transcript.user(text, isMeta=True)
        self.messages.append({"role": "user", "content": text})
        self._tell(text, name)

    def _tell(self, text: str, hook_name: str) -> None:
        if self._on_added is not None:
            self._on_added(text, hook_name)


def _usage(response: Response) -> dict[str, int]:
    usage = response.usage
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
    }


def _gist(text: str) -> str:
    """Return a reminder without the name in front of plain text, which differs between the start and a resume."""
    _, label, said = text.partition(" hook success: ")
    return label + said if label else text
