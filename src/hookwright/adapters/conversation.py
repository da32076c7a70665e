"""One conversation of a framework: its id, its transcript, its calls and the texts that wait for its model."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Mapping

import msgspec

from hookwright._version import __version__
from hookwright.adapters.orders import Before, Call
from hookwright.adapters.reconcile import Ledger
from hookwright.adapters.tools import Shaped
from hookwright.agent.transcript import (
    CallContext,
    Envelope,
    Transcript,
    attachments,
    git_branch,
    session_path,
    with_reads,
)
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.plain import plain

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class Known(msgspec.Struct, frozen=True):
    """A call that PreToolUse was fired for: what hooks read, what they made of it, and the order."""

    call: Call
    shaped: Shaped
    #: The input after every rewrite, as hooks read it.
    final: Mapping[str, Json]
    order: Before
    #: Texts for the model that wait for the result of the call.
    notes: tuple[str, ...] = ()


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
            envelope = Envelope(
                session_id=self.id, cwd=self._cwd, version=__version__, git_branch=git_branch(self._cwd)
            )
            self._log = Log(Transcript(self.path, envelope) if self.path else None)
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
    """A transcript in the format of the reference agent; without a file it writes nothing."""

    def __init__(self, transcript: Transcript | None) -> None:
        self._transcript = transcript
        self._lines: dict[str, str] = {}

    @property
    def path(self) -> str:
        """The file; empty if none is written."""
        return self._transcript.path if self._transcript is not None else ""

    def user(self, text: str, prompt_id: str | None = None) -> None:
        """Write a prompt."""
        if self._transcript is not None:
            self._transcript.user(text, **({} if prompt_id is None else {"promptId": prompt_id}))

    def note(self, text: str) -> None:
        """Write a text that hooks give the model as a message of the user."""
        if self._transcript is not None:
            self._transcript.user(text, isMeta=True)

    def answer(self, text: str) -> None:
        """Write the final text of the model."""
        if self._transcript is not None and text:
            self._transcript.assistant(_message({"type": "text", "text": text}))

    def call(self, call: Call, shaped: Shaped) -> None:
        """Write a call, as hooks read it."""
        if self._transcript is not None:
            block = {"type": "tool_use", "id": call.id, "name": shaped.name, "input": shaped.input}
            self._lines[call.id] = self._transcript.assistant(_message(block))[-1]

    def result(self, call_id: str, response: Json, text: str, error: bool) -> None:
        """Write the result of a call."""
        if self._transcript is not None:
            block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
            if error:
                block["is_error"] = True
            self._transcript.tool_result(block, plain(response), self._lines.pop(call_id, None))

    def firing(self, outcome: Outcome, about: str, reads: tuple[str, ...], call: CallContext | None = None) -> None:
        """Write what the hooks of one event did, and what the model reads of it."""
        if self._transcript is not None and outcome.runs:
            for line in with_reads(attachments(outcome, about, call), reads):
                self._transcript.attachment(line)

    def subagent(self, agent_id: str, agent_type: str) -> Log:
        """Open the transcript of a subagent."""
        if self._transcript is None:
            return Log(None)
        return Log(self._transcript.subagent(agent_id, {"agentType": agent_type}))

    def close(self) -> None:
        """Close the file."""
        if self._transcript is not None:
            self._transcript.close()


def _message(block: dict[str, Json]) -> dict[str, Json]:
    return {"type": "message", "role": "assistant", "content": [block]}
