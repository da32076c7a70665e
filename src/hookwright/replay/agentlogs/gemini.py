"""Logs of Gemini CLI: `~/.gemini/tmp/*/chats/session-*.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hookwright.protocol.jsontext import Json
from hookwright.replay.agentlogs.model import LoggedPayload, LogLine, joined_text, object_in, text_in

#: The first message, which Gemini CLI writes itself, names the folders of the project.
_FOLDER = re.compile(r"Workspace Directories:\*\*\s*\n\s*- (/[^\n]*)")
_CONTEXT = "<session_context>"
_CANCELLED = ("cancelled", "canceled")
_STATUS = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)


class Chat:
    """Reads the lines of one session.

    Law: a call becomes the payloads that Gemini CLI sends to hooks before and after it; one that the user cancelled
    has none after it. A message is written several times while it grows, and each of its calls counts once. The
    directory is the first one that the log names; without it no payload can be rebuilt.
    """

    def __init__(self, path: str) -> None:
        self._common: dict[str, Json] = {"transcript_path": path}
        self._seen: set[str] = set()
        self._prompt = ""
        self._last: LoggedPayload | None = None

    def payloads(self, lines: Iterable[LogLine]) -> Iterator[LoggedPayload]:
        """Yield the payloads in the order of the log."""
        for line in lines:
            self._hear(line.value)
            for message in (line.value, *_set(line.value)):
                match message.get("type"):
                    case "user":
                        yield from self._user(line, message)
                    case "gemini":
                        yield from self._model(line, message)
        yield from self._stopped()

    def _hear(self, value: Mapping[str, Json]) -> None:
        if text_in(value, "sessionId"):
            self._common["session_id"] = text_in(value, "sessionId")

    def _user(self, line: LogLine, message: Mapping[str, Json]) -> Iterator[LoggedPayload]:
        text = joined_text(message.get("content"))
        if text.startswith(_CONTEXT):
            folder = _FOLDER.search(text)
            self._common |= {"cwd": folder[1].strip()} if folder is not None else {}
        elif text and self._first(message):
            yield from self._stopped()
            self._prompt = text
            yield self._sent(line, message, {"hook_event_name": "BeforeAgent", "prompt": text})

    def _first(self, message: Mapping[str, Json]) -> bool:
        """Return whether a message or a call was not read before."""
        name = text_in(message, "id")
        fresh = name not in self._seen
        self._seen.add(name)
        return fresh

    def _model(self, line: LogLine, message: Mapping[str, Json]) -> Iterator[LoggedPayload]:
        listed = message.get("toolCalls")
        calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
        self._last = None
        if not calls and joined_text(message.get("content")):
            said = {"prompt": self._prompt, "prompt_response": joined_text(message.get("content"))}
            self._last = self._sent(line, message, {"hook_event_name": "AfterAgent", **said, "stop_hook_active": False})
        for call in calls:
            if self._first(call):
                yield from self._call(line, call)

    def _stopped(self) -> Iterator[LoggedPayload]:
        if self._last is not None:
            yield self._last
        self._last = None

    def _call(self, line: LogLine, call: Mapping[str, Json]) -> Iterator[LoggedPayload]:
        called = {"tool_name": text_in(call, "name"), "tool_input": dict(object_in(call, "args"))}
        called["tool_use_id"] = text_in(call, "id")
        yield self._sent(line, call, {"hook_event_name": "BeforeTool", **called})
        if call.get("status") in _CANCELLED or "result" not in call:
            return
        response, output = _response(call)
        status = _STATUS.search(output)
        failed = call.get("status") == "error" or (status is not None and status[1] != "0")
        after = {"hook_event_name": "AfterTool", **called, "tool_response": response}
        yield self._sent(line, call, after, failed)

    def _sent(
        self, line: LogLine, about: Mapping[str, Json], fields: Mapping[str, Json], failed: bool | None = None
    ) -> LoggedPayload:
        sent = {**self._common, **fields}
        return LoggedPayload(sent=sent, line=line.number, timestamp=text_in(about, "timestamp"), failed=failed)


def _set(value: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    """Return the messages that a line sets as a whole."""
    listed = object_in(value, "$set").get("messages")
    return [message for message in listed if isinstance(message, dict)] if isinstance(listed, list) else []


def _response(call: Mapping[str, Json]) -> tuple[dict[str, Json], str]:
    """Return the result as hooks read it, and its text."""
    listed = call.get("result")
    parts = [part for part in listed if isinstance(part, dict)] if isinstance(listed, list) else []
    said = [object_in(object_in(part, "functionResponse"), "response") for part in parts]
    output = "\n".join(text_in(each, "output") for each in said if text_in(each, "output"))
    errors = [text_in(each, "error") for each in said if text_in(each, "error")]
    response: dict[str, Json] = {"llmContent": output, "returnDisplay": call.get("resultDisplay", "")}
    return (response | {"error": {"message": errors[0]}} if errors else response), output
