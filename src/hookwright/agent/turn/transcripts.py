"""Find, open and take up the transcript of a session."""

from __future__ import annotations

import contextlib
import os
import uuid
from datetime import datetime
from typing import assert_never

import msgspec

from hookwright._version import __version__
from hookwright.agent.state.dialogue import Dialogue, Message
from hookwright.agent.state.options import AgentOptions, ContinueLatest, NewSession, ResumeSession
from hookwright.agent.state.session import Session
from hookwright.agent.state.updates import Added
from hookwright.agent.transcript import (
    Conversation,
    Envelope,
    Transcript,
    find_session,
    fork_session,
    git_branch,
    latest_session,
    load,
    project_folder,
    project_folders,
    session_path,
)


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation that begins or goes on."""

    #: startup, resume or fork.
    source: str
    session_id: str
    path: str
    told: Conversation | None = None


def begin(options: AgentOptions, config_dir: str) -> Begun:
    """Choose the transcript; raise InvalidSession where there is none to go on with."""
    folders = project_folders(config_dir, options.cwd, options.env)
    match options.start:
        case NewSession(session_id=name):
            session_id = name or str(uuid.uuid4())
            return Begun(source="startup", session_id=session_id, path=session_path(folders[0], session_id))
        case ContinueLatest(fork=fork):
            path = latest_session(folders, options.cwd).path
        case ResumeSession(session_id=name, fork=fork):
            path = find_session(folders, name)
        case _:
            assert_never(options.start)
    if fork:
        session_id = str(uuid.uuid4())
        path = fork_session(path, session_id, folders[0])
        return Begun(source="fork", session_id=session_id, path=path, told=load(path))
    session_id = os.path.basename(path).removesuffix(".jsonl")
    return Begun(source="resume", session_id=session_id, path=path, told=load(path))


def new_path(session: Session, session_id: str) -> str:
    """Give the transcript of a session that begins in the middle of a run."""
    folder = project_folder(session.config_dir, session.options.cwd, session.options.env)
    return session_path(folder, session_id)


def open_dialogue(session: Session, told: Conversation | None = None) -> Dialogue:
    """Open the main conversation on the session's transcript, with what was said before."""
    envelope = Envelope(session_id=session.id, cwd=session.cwd, version=__version__, git_branch=git_branch(session.cwd))
    transcript = Transcript(session.transcript_path, envelope, parent=told.last if told is not None else None)
    messages: list[Message] = told.messages() if told is not None else []
    return Dialogue(transcript, messages, lambda text, name: session.tell(Added(text, name)))


def remember(session: Session, told: Conversation) -> None:
    """Take up what an earlier run left: its title, its size, and when the model last spoke."""
    session.title = told.title
    for entry in reversed(told.entries):
        usage = entry.get("message", {}).get("usage") if entry.get("type") == "assistant" else None
        if isinstance(usage, dict):
            counted = [value for value in usage.values() if isinstance(value, int)]
            session.voice.context_tokens = sum(counted)
            with contextlib.suppress(KeyError, ValueError, TypeError):
                session.voice.last_response = datetime.fromisoformat(entry["timestamp"]).timestamp()
            return
