"""The nouns of a log of another agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from hookwright.protocol.jsontext import Json, parse_json


class LoggedPayload(msgspec.Struct, frozen=True, kw_only=True):
    """A payload as the agent sends it to hooks, rebuilt from a line of its log."""

    sent: Mapping[str, Json]
    line: int
    timestamp: str
    #: Whether the call that this payload is about failed; None before a call, and where the log does not say.
    failed: bool | None = None


class LogLine(msgspec.Struct, frozen=True):
    """A line of a log."""

    number: int
    value: Mapping[str, Json]

    def text(self, name: str) -> str:
        """Return a field that is a text; empty if it is not."""
        return text_in(self.value, name)


def read_lines(lines: Iterator[tuple[int, bytes]]) -> Iterator[LogLine | int]:
    """Yield each line as an object, or its number if it is not one."""
    for number, data in lines:
        value, problem = parse_json(data.decode("utf-8", "replace"))
        yield LogLine(number, value) if problem is None and isinstance(value, dict) else number


def text_in(value: Mapping[str, Json], name: str) -> str:
    """Return a text of an object; empty if it has none of that name."""
    found = value.get(name)
    return found if isinstance(found, str) else ""


def object_in(value: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return an object of an object; an empty one if it has none of that name."""
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def joined_text(content: Json) -> str:
    """Return the text of a message that is one text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "\n".join(text_in(part, "text") for part in parts if text_in(part, "text"))


def agent_of(first: bytes) -> str:
    """Return the agent whose log begins with a line; empty if it is not a log of another agent."""
    if b'"session_meta"' not in first and b'"projectHash"' not in first:
        return ""
    value, problem = parse_json(first.decode("utf-8", "replace"))
    if problem is not None or not isinstance(value, dict):
        return ""
    if value.get("type") == "session_meta" and text_in(object_in(value, "payload"), "id"):
        return "codex"
    return "gemini" if text_in(value, "sessionId") and "projectHash" in value else ""
