"""Find the sessions of a project: all, the latest, one by id; or fork one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence

import msgspec

from hookwright.agent.transcript.lines import read_line
from hookwright.agent.transcript.paths import InvalidSession, session_path
from hookwright.agent.transcript.reader import load, title_of
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.storage import make_folder

#: How many bytes of a file are read from its start and its end to list it.
_HEAD = 256 * 1024
_TAIL = 64 * 1024


class Saved(msgspec.Struct, frozen=True):
    """A session on disk."""

    id: str
    path: str
    #: Seconds on the wall clock.
    modified: float
    cwd: str
    first_prompt: str
    title: str | None = None
    #: The latest text of the user or the model.
    last_text: str = ""
    #: Bytes of the transcript.
    size: int = 0


def list_sessions(folders: Sequence[str], cwd: str | None = None) -> list[Saved]:
    """List the sessions in these folders, latest first; with `cwd`, only those started in that directory."""
    found = [saved for folder in folders for path in _files(folder) if (saved := _describe(path)) is not None]
    found = [saved for saved in found if cwd is None or saved.cwd == cwd]
    return sorted(found, key=lambda saved: saved.modified, reverse=True)


def latest_session(folders: Sequence[str], cwd: str | None = None) -> Saved:
    """Return the session written to last; raise InvalidSession if there is none."""
    sessions = list_sessions(folders, cwd) or ([] if list_sessions(folders) else _unspoken(folders))
    if not sessions:
        raise InvalidSession(f"there is no session to continue in {folders[0]}. Start one without --continue.")
    return sessions[0]


def _unspoken(folders: Sequence[str]) -> list[Saved]:
    """Return the latest of sessions in which nothing was said, because hooks blocked every prompt."""
    paths = sorted((path for folder in folders for path in _files(folder)), key=os.path.getmtime)
    return [Saved(_id(path), path, os.path.getmtime(path), "", "") for path in paths[-1:]]


def _id(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")


def find_session(folders: Sequence[str], session_id: str) -> str:
    """Return the path of a session's transcript; raise InvalidSession for an invalid or unknown id."""
    for folder in folders:
        path = session_path(folder, session_id)
        if os.path.isfile(path):
            return path
    raise InvalidSession(f"there is no session {session_id} in {folders[0]}. Use --continue for the latest one.")


def fork_session(path: str, new_id: str, folder: str, at: str | None = None) -> str:
    """Copy a conversation, up to the line `at`, under a new id, each line with its origin; return the path."""
    source = os.path.basename(path).removesuffix(".jsonl")
    told = load(path, at)
    lines = []
    parent = None
    for entry in told.entries:
        name = str(uuid.uuid4())
        origin = {"sessionId": source, "messageUuid": entry["uuid"]}
        lines.append({**entry, "uuid": name, "parentUuid": parent, "sessionId": new_id, "forkedFrom": origin})
        parent = name
    if told.rewritten:
        changes = [{"kind": "tool-result", "toolUseId": id_, "replacement": new} for id_, new in told.rewritten.items()]
        lines.append({"type": "content-replacement", "replacements": changes, "sessionId": new_id})
    target = session_path(folder, new_id)
    make_folder(folder)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.writelines(encode(line) + b"\n" for line in lines)
    return target


def _files(folder: str) -> list[str]:
    try:
        return [entry.path for entry in os.scandir(folder) if entry.name.endswith(".jsonl") and entry.is_file()]
    except OSError:
        return []


def _describe(path: str) -> Saved | None:
    """Read the beginning and the end of a file; None if it has no messages."""
    try:
        with open(path, "rb") as file:
            facts = os.fstat(file.fileno())
            head = _objects(file.read(_HEAD))
            file.seek(max(0, facts.st_size - _TAIL))
            tail = _objects(file.read(_TAIL))
    except OSError:
        return None
    said = [line for line in head if line.get("type") in ("user", "assistant") and not line.get("isSidechain")]
    if not said:
        return None
    prompt = next((text for line in said if (text := _prompt(line)) is not None), "")
    titles = [title for line in (*head, *tail) if (title := title_of(line)) is not None]
    name = os.path.basename(path).removesuffix(".jsonl")
    cwd = next((line["cwd"] for line in head if isinstance(line.get("cwd"), str)), "")
    last = next((text for line in reversed((*head, *tail)) if (text := _text(line)) is not None), "")
    title = titles[-1] if titles else None
    return Saved(name, path, facts.st_mtime, cwd, prompt, title, last, facts.st_size)


def _objects(data: bytes) -> list[dict[str, Json]]:
    return [value for line in data.split(b"\n") if (value := read_line(line)) is not None]


def _prompt(line: dict[str, Json]) -> str | None:
    return _text(line) if line.get("type") == "user" else None


def _text(line: dict[str, Json]) -> str | None:
    """Return the text of a message of the user or the model; None for any other line."""
    if line.get("type") not in ("user", "assistant") or line.get("isMeta") or line.get("isCompactSummary"):
        return None
    content = line["message"].get("content") if isinstance(line.get("message"), dict) else None
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
        content = next((text for text in texts if isinstance(text, str)), None)
    return content if isinstance(content, str) else None
