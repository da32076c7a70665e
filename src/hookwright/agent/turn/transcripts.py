"""Find, open and resume the transcript of a session."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

import msgspec

from hookwright._version import __version__
from hookwright.agent.state.dialogue import Dialogue, Message
from hookwright.agent.state.options import AgentOptions, ContinueLatest, NewSession, ResumeSession
from hookwright.agent.state.prompts import MEANWHILE
from hookwright.agent.state.session import Session
from hookwright.agent.state.session_model import SessionModel
from hookwright.agent.state.updates import Added
from hookwright.agent.transcript import (
    Conversation,
    Envelope,
    InvalidSession,
    Mirror,
    Transcript,
    find_session,
    fork_session,
    git_branch,
    latest_session,
    load,
    project_folder,
    project_folders,
    read_lines,
    session_path,
    texts_read,
)
from hookwright.protocol.jsontext import Json


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that starts or is resumed."""

    #: startup, resume or fork.
    source: str
    session_id: str
    path: str
    earlier: Conversation | None = None

    @property
    def title(self) -> str | None:
        """The title of the resumed conversation."""
        return self.earlier.title if self.earlier is not None else None


def begin(options: AgentOptions, config_dir: str) -> Begun:
    """Choose the transcript; raise InvalidSession when there is none to resume."""
    folders = project_folders(config_dir, options.cwd, options.env)
    match options.start:
        case NewSession(session_id=name):
            session_id = name or str(uuid.uuid4())
            return Begun(source="startup", session_id=session_id, path=session_path(folders[0], session_id))
        case ContinueLatest(fork=fork):
            at = None
            path = latest_session(folders, options.cwd).path
        case ResumeSession(session_id=name, fork=fork, at=at, drops=drops):
            path = find_session(folders, name)
            check_dropped(load(path, at), drops)
        case _:
            assert_never(options.start)
    if fork:
        session_id = str(uuid.uuid4())
        path = fork_session(path, session_id, folders[0], at)
        return Begun(source="fork", session_id=session_id, path=path, earlier=load(path))
    session_id = os.path.basename(path).removesuffix(".jsonl")
    return Begun(source="resume", session_id=session_id, path=path, earlier=load(path, at))


def check_dropped(earlier: Conversation, prompt: str | None) -> None:
    """Raise InvalidSession if a resume would lose more than the turn of one prompt.

    Law: of the lines that are dropped, one is that prompt, and none is another message of the user, whether it began a
    turn or came during one, or a notification.
    """
    if prompt is None:
        return
    kept = f"Resume rejected by --resume-drops-turn: {prompt!r}"
    if prompt not in (entry["uuid"] for entry in earlier.dropped):
        raise InvalidSession(f"{kept} is not the uuid of a prompt after the point of the resume")
    others = [entry["uuid"] for entry in earlier.dropped if entry["uuid"] != prompt and _of_user(entry)]
    if others:
        raise InvalidSession(f"{kept} is not the only message that would be lost; others are {', '.join(others)}")


def _of_user(entry: Mapping[str, Json]) -> bool:
    if entry.get("type") == "user":
        content = entry["message"].get("content")
        results = isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
        return not (results or entry.get("isMeta") or entry.get("isCompactSummary"))
    texts = texts_read(entry["attachment"]) if entry.get("type") == "attachment" else []
    return any(text.startswith(MEANWHILE.partition("{")[0]) for text in texts)


def new_path(session: Session, session_id: str) -> str:
    """Return the transcript path of a session that starts in the middle of a run."""
    folder = project_folder(session.config_dir, session.options.cwd, session.options.env)
    return session_path(folder, session_id)


def open_dialogue(session: Session, earlier: Conversation | None = None) -> Dialogue:
    """Open the main conversation on the session's transcript, with the messages of an earlier run."""
    state = session.state
    envelope = Envelope(session_id=state.id, cwd=state.cwd, version=__version__, git_branch=git_branch(state.cwd))
    parent = earlier.last if earlier is not None else None
    transcript = Transcript(state.transcript_path, envelope, parent=parent, mirror=session.person.mirror)
    messages: list[Message] = earlier.messages() if earlier is not None else []
    return Dialogue(transcript, messages, lambda text, name: session.tell(Added(text, name)))


def mirror_copy(begun: Begun, mirror: Mirror | None) -> None:
    """Mirror the lines of a forked conversation, which were copied at once."""
    if mirror is not None and begun.source == "fork":
        for line in read_lines(begun.path):
            mirror(begun.path, line)


def remember(model: SessionModel, earlier: Conversation) -> None:
    """Restore the size of an earlier conversation and the time of its last response."""
    for entry in reversed(earlier.entries):
        usage = entry.get("message", {}).get("usage") if entry.get("type") == "assistant" else None
        if isinstance(usage, dict):
            model.resume(sum(value for value in usage.values() if isinstance(value, int)), _time_of(entry))
            return


def _time_of(entry: Mapping[str, Json]) -> float | None:
    try:
        return datetime.fromisoformat(entry["timestamp"]).timestamp()
    except (KeyError, ValueError, TypeError):
        return None
