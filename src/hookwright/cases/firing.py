"""From a case to the event to fire: placeholders replaced, paths absolute, every field set."""

from __future__ import annotations

import os
from typing import Any

from hookwright.cases.case import Case
from hookwright.errors import InvalidCase, InvalidEvent
from hookwright.protocol.events import Event
from hookwright.protocol.jsontext import Json
from hookwright.protocol.samples import new_session_id, sample_fields
from hookwright.protocol.wire import decode_event

#: Placeholder for the case's working directory.
PROJECT = "{project}"


def make_event(case: Case, cwd: str, folder: str) -> Event:
    """Build the event of a case, complete and with absolute paths."""
    session = new_session_id()
    fields = {**sample_fields(case.event, cwd, case.variant), **fill(dict(case.fields), cwd)}
    if isinstance(fields.get("tool_input"), dict):
        fields["tool_input"] = absolute(fields["tool_input"], cwd)
    common = {"session_id": session, "transcript_path": os.path.join(folder, f"{session}.jsonl"), "cwd": cwd}
    try:
        return decode_event({**common, "hook_event_name": case.event, **fields})
    except InvalidEvent as error:
        raise InvalidCase(f"{case.path}:{case.line}: {error}") from None


def fill(value: Json, cwd: str) -> Any:
    """Replace the project placeholder in every string of a value."""
    if isinstance(value, str):
        return value.replace(PROJECT, cwd)
    if isinstance(value, dict):
        return {key: fill(item, cwd) for key, item in value.items()}
    return [fill(item, cwd) for item in value] if isinstance(value, list | tuple) else value


def absolute(tool_input: dict[str, Json], cwd: str) -> dict[str, Json]:
    """Make the paths of a tool's input absolute, as an agent does before it fires."""
    return {
        key: os.path.join(cwd, value) if key in ("file_path", "notebook_path", "path") and _relative(value) else value
        for key, value in tool_input.items()
    }


def _relative(value: Json) -> bool:
    return isinstance(value, str) and bool(value) and not value.startswith(("/", "~"))
