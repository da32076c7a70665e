"""The parts of a transcript line that the past needs; everything else is skipped without being read."""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Raw

from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.wire import encode

T = TypeVar("T")

#: Parts whose type differs between versions stay raw.
NONE = Raw()


class ContentBlock(msgspec.Struct, frozen=True):
    """A block of a message: text, a call or a result."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    input: Raw = NONE
    tool_use_id: str | None = None
    content: Raw = NONE
    is_error: bool | None = None
    text: str | None = None


class TranscriptMessage(msgspec.Struct, frozen=True):
    """A message of the model or of the user."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    content: list[ContentBlock] | str | None = None

    @property
    def blocks(self) -> list[ContentBlock]:
        """The blocks of the message; a message that is one text has none."""
        return self.content if isinstance(self.content, list) else []

    @property
    def text(self) -> str:
        """The text of the message, whichever way it was written."""
        if isinstance(self.content, list):
            return "\n".join(block.text for block in self.content if block.text is not None)
        return self.content or ""


class TranscriptLine(msgspec.Struct, frozen=True, rename="camel"):
    """One line of a transcript."""

    type: str = ""
    subtype: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    cwd: str | None = None
    version: str | None = None
    prompt_id: str | None = None
    permission_mode: str | None = None
    prompt_source: str | None = None
    parent_call: str | None = msgspec.field(default=None, name="parentToolUseID")
    tool_denial_kind: str | None = None
    is_meta: bool | None = None
    is_sidechain: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: TranscriptMessage | None = None
    tool_use_result: Raw = NONE
    attachment: Raw = NONE
    data: Raw = NONE
    compact_metadata: Raw = NONE
    content: Raw = NONE
    origin: Raw = NONE
    effort: Raw = NONE
    permission_decision: Raw = NONE


class ProgressLine(msgspec.Struct, frozen=True, rename="camel"):
    """What older versions wrote of a subagent: one of its messages, as a line inside a line."""

    type: str = ""
    agent_id: str | None = None
    message: TranscriptLine | None = None


class Attachment(msgspec.Struct, frozen=True, rename="camel"):
    """A record of a hook run, or a prompt that waited."""

    type: str = ""
    prompt: Raw = NONE
    command_mode: str | None = None
    hook_name: str | None = None
    hook_event: str | None = None
    stdout: str | None = None
    tool_use_id: str | None = msgspec.field(default=None, name="toolUseID")


_LINE = msgspec.json.Decoder(TranscriptLine)
_PROGRESS = msgspec.json.Decoder(ProgressLine)
_ATTACHMENT = msgspec.json.Decoder(Attachment)
_FAILURES = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read_line(data: bytes) -> TranscriptLine | None:
    """Read a line; None if it is not an object or a field has a type that no version writes."""
    try:
        return _LINE.decode(data)
    except _FAILURES:
        pass
    try:
        # A lone surrogate is valid JSON that strict decoders refuse.
        value, problem = parse_json(data.decode())
        return _LINE.decode(encode(value)) if problem is None else None
    except _FAILURES:
        return None


def read_progress(raw: Raw) -> ProgressLine | None:
    """Read what a progress line carries."""
    return _decoded(_PROGRESS, raw)


def read_attachment(raw: Raw) -> Attachment | None:
    """Read the record of a hook run."""
    return _decoded(_ATTACHMENT, raw)


def is_object(raw: Raw) -> bool:
    """Return whether a raw part is an object."""
    return bool(raw) and memoryview(raw)[0] == ord("{")


def _decoded(decoder: msgspec.json.Decoder[T], raw: Raw) -> T | None:
    try:
        return decoder.decode(raw) if raw else None
    except _FAILURES:
        return None


def value_of(raw: Raw) -> Json:
    """Return the value of a raw part; None if it is missing or cannot be read."""
    if not raw:
        return None
    try:
        return msgspec.json.decode(raw)
    except _FAILURES:
        return parse_json(bytes(raw).decode("utf-8", "replace"))[0]


def object_of(raw: Raw) -> dict[str, Json]:
    """Return a raw part as an object; an empty one if it is anything else."""
    value = value_of(raw) if is_object(raw) else None
    return value if isinstance(value, dict) else {}


def text_of(content: Json) -> str:
    """Return the text of a message or of a result, whichever way it was written."""
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def seconds_of(timestamp: str | None) -> float | None:
    """Return a time as seconds since 1970; None if there is none."""
    if timestamp is None:
        return None
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
