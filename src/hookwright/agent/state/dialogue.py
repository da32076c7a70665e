"""One conversation with a model: its messages, and the same on disk before anybody acts on it."""

from __future__ import annotations

import contextvars
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hookwright.agent.transcript import CallContext, Transcript, attachments, closed, model_text
from hookwright.models.types import Response
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome

Message = dict[str, Json]

#: The dialogue on whose behalf an event is fired, so that hooks at the end of a turn read the right conversation.
_current: contextvars.ContextVar[Dialogue | None] = contextvars.ContextVar("hookwright_dialogue", default=None)


def current_messages() -> Sequence[Message]:
    """Give the conversation that the event being fired is about."""
    dialogue = _current.get()
    return tuple(dialogue.messages) if dialogue is not None else ()


class Dialogue:
    """The messages that a model reads, in the neutral form, and their transcript."""

    def __init__(
        self,
        transcript: Transcript,
        messages: Sequence[Message] = (),
        on_added: Callable[[str, str], None] | None = None,
    ) -> None:
        self.transcript = transcript
        self.messages: list[Message] = list(messages)
        #: Hears of every text that no person wrote, with the name of the hook that added it.
        self._on_added = on_added
        self._asked_by: str | None = None
        #: Results of the running turn that are on disk, by tool call.
        self.kept: dict[str, Mapping[str, Json]] = {}

    def speak_for(self) -> None:
        """Say that events fired from here on, in this task, are about this dialogue."""
        _current.set(self)

    # ── what is said ────────────────────────────────────────────────────────

    def user(self, content: str, **fields: Any) -> None:
        """Add what the user said."""
        self.transcript.user(content, **fields)
        self.messages.append({"role": "user", "content": content})

    def assistant(self, response: Response) -> Mapping[str, Json]:
        """Add what the model said; return it as the API gave it."""
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
        self._asked_by = self.transcript.assistant(message)
        self.messages.append({"role": "assistant", "content": message["content"]})
        return message

    def keep_result(self, block: Mapping[str, Json], response: Json) -> None:
        """Put a tool result on disk; the model gets it with the others of its turn."""
        self.transcript.tool_result(block, response, self._asked_by)
        self.kept[block["tool_use_id"]] = block

    def results(self, blocks: Sequence[Mapping[str, Json]]) -> None:
        """Add the results of one turn, in the order of its calls."""
        self.messages.append({"role": "user", "content": [dict(block) for block in blocks]})
        self.kept.clear()

    def close_calls(self) -> None:
        """Add a result for every call that has none, so that the conversation can be sent."""
        self.messages = closed(self.messages)

    # ── what hooks and the program add ──────────────────────────────────────

    def record_firing(self, outcome: Outcome, about: str | None = None, call: CallContext | None = None) -> list[str]:
        """Put a firing on disk; return what the model is to read of it, for `add_system`."""
        if not outcome.runs:
            return []
        texts = []
        for value in attachments(outcome, about if about is not None else f"hook-{uuid.uuid4()}", call):
            self.transcript.attachment(value)
            text = model_text(value)
            if text is not None:
                texts.append(text)
                self._tell(text, outcome.hook_name)
        return texts

    def record_hooks(self, outcome: Outcome) -> None:
        """Put a firing on disk without what the model would read of it; it came to nothing."""
        for value in attachments(outcome, f"hook-{uuid.uuid4()}") if outcome.runs else ():
            if model_text(value) is None:
                self.transcript.attachment(value)

    def keep_late(self, value: Mapping[str, Json]) -> str | None:
        """Put the late words of a background hook on disk; return what the model is to read."""
        self.transcript.attachment(value)
        text = model_text(value)
        if text is not None:
            self._tell(text, str(value.get("hookName", "")))
        return text

    def add_system(self, texts: Sequence[str]) -> None:
        """Let the model read texts that no person wrote, as one message of the system."""
        if texts:
            self.messages.append({"role": "system", "content": "\n\n".join(texts)})

    def add_reminder(self, text: str, hook_name: str = "") -> None:
        """Add a reminder of the program in the user's place; it stays when the session is resumed."""
        self.transcript.user(text, isMeta=True)
        self.messages.append({"role": "user", "content": text})
        self._tell(text, hook_name)

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
