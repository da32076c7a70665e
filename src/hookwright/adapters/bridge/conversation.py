"""One conversation of a framework: its id, its transcript, its calls and the texts that wait for its model."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re

import msgspec

from hookwright._version import __version__
from hookwright.adapters.bridge.orders import Before, Judged, NativeCall
from hookwright.adapters.bridge.reconcile import Ledger
from hookwright.adapters.tools import Shaped
from hookwright.agent.transcript import (
    CallContext,
    Envelope,
    Transcript,
    attachments,
    git_branch,
    read_lines,
    session_path,
    with_reads,
)
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.plain import plain

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class Known(msgspec.Struct, frozen=True):
    """A call that PreToolUse was fired for: what hooks read, what they made of it, and the order."""

    call: NativeCall
    #: What hooks said, part by part; their notes wait for the result of the call.
    parts: tuple[Judged, ...]
    order: Before


class Conversation:
    """The state of one conversation; only coroutines of the bridge's loop change it."""

    def __init__(self, session_id: str, folder: str, cwd: str) -> None:
        self.id = session_id
        #: The file with the conversation; empty if none is written.
        self.path = transcript_path(folder, session_id)
        self.started = False
        self.ledger = Ledger()
        #: Calls that are running or wait for a person, by id.
        self.calls: dict[str, Known] = {}
        #: Calls that ended since the last model call, as PostToolBatch has them.
        self.ended: list[dict[str, Json]] = []
        #: Texts for the model that wait for its next call.
        self.waiting: list[str] = []
        #: Why the next model call is refused.
        self.refusals: list[str] = []
        #: Held while the session starts.
        self.starting = asyncio.Lock()
        self._cwd = cwd
        self._log: Log | None = None

    @property
    def existed(self) -> bool:
        """Whether an earlier process already wrote this conversation."""
        return bool(self.path) and os.path.exists(self.path)

    def log(self) -> Log:
        """Return the transcript; it is opened at its first line."""
        if self._log is None:
            branch = git_branch(self._cwd)
            self._log = Log(
                self.path, Envelope(session_id=self.id, cwd=self._cwd, version=__version__, git_branch=branch)
            )
        return self._log

    def texts(self) -> tuple[str, ...]:
        """Return the waiting texts and forget them."""
        found, self.waiting = tuple(self.waiting), []
        return found

    def close(self) -> None:
        """Close the transcript."""
        if self._log is not None:
            self._log.close()


def transcript_path(folder: str, session_id: str) -> str:
    """Return the file of a conversation; an id that is not a file name gets a hash instead. Empty without a folder."""
    if not folder:
        return ""
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogateescape")).hexdigest()
    return session_path(folder, session_id if _SAFE.fullmatch(session_id) else f"conversation-{digest[:24]}")


class Log:
    """A transcript in the format of the reference agent; without a path it writes nothing.

    The file is open only during a run: a server may have more conversations than a process may have files.
    """

    def __init__(self, path: str, envelope: Envelope) -> None:
        self.path = path
        self._envelope = envelope
        self._open: Transcript | None = None
        #: The last line, which the next one names: another process may have written it.
        self._last: str | None = None
        self._lines: dict[str, str] = {}

    @property
    def _transcript(self) -> Transcript | None:
        if self._open is None and self.path:
            last = self._last if self._last is not None else last_line(self.path)
            self._open = Transcript(self.path, self._envelope, parent=last)
        return self._open

    def user(self, text: str, prompt_id: str | None = None) -> None:
        """Write a prompt."""
        if (transcript := self._transcript) is not None:
            transcript.user(text, **({} if prompt_id is None else {"promptId": prompt_id}))

    def answer(self, text: str) -> None:
        """Write the final text of the model."""
        if (transcript := self._transcript) is not None and text:
            transcript.assistant(_message({"type": "text", "text": text}))

    def call(self, call: NativeCall, shaped: Shaped) -> None:
        """Write a call, as hooks read it."""
        if (transcript := self._transcript) is not None:
            block = {"type": "tool_use", "id": call.id, "name": shaped.name, "input": shaped.input}
            self._lines[call.id] = transcript.assistant(_message(block))[-1]

    def result(self, call_id: str, response: Json, text: str, error: bool) -> None:
        """Write the result of a call."""
        if (transcript := self._transcript) is not None:
            block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
            if error:
                block["is_error"] = True
            transcript.tool_result(block, plain(response), self._lines.pop(call_id, None))

    def firing(self, outcome: Outcome, about: str, reads: tuple[str, ...], call: CallContext | None = None) -> None:
        """Write what the hooks of one event did, and what the model reads of it."""
        if outcome.runs and (transcript := self._transcript) is not None:
            for line in with_reads(attachments(outcome, about, call), reads):
                transcript.attachment(line)

    def subagent(self, agent_id: str, agent_type: str) -> Log:
        """Begin the transcript of a subagent."""
        if (transcript := self._transcript) is None:
            return Log("", self._envelope)
        child = transcript.subagent(agent_id, {"agentType": agent_type})
        child.close()
        return Log(child.path, child.envelope)

    def close(self) -> None:
        """Close the file until the next line."""
        if self._open is not None:
            self._last = self._open.last
            self._open.close()
            self._open = None


def last_line(path: str) -> str | None:
    """Return the uuid of the last line of a transcript; None if there is none."""
    if not os.path.exists(path):
        return None
    names = [line["uuid"] for line in read_lines(path) if isinstance(line.get("uuid"), str)]
    return names[-1] if names else None


def _message(block: dict[str, Json]) -> dict[str, Json]:
    return {"type": "message", "role": "assistant", "content": [block]}
