"""Write a session's transcript: every line has the same envelope and names the line before it."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from hookwright.agent.transcript.lines import LineFile
from hookwright.agent.transcript.paths import checked_id, subagent_path
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """The fields common to all lines."""

    session_id: str
    cwd: str
    version: str
    entrypoint: str = "hookwright"
    git_branch: str = ""
    #: Set in the transcript of a subagent, whose lines are not part of the main conversation.
    agent_id: str | None = None


#: Receives the path of a transcript and every line that was written to it.
Mirror = Callable[[str, Mapping[str, Json]], None]


class Transcript:
    """One file of one session; its chain does not branch, so walking up from the end meets every line.

    Parallel tool results are chained in the order they are written, each with the assistant line it answers.
    """

    def __init__(
        self,
        path: str,
        envelope: Envelope,
        *,
        parent: str | None = None,
        clock: Callable[[], float] = time.time,
        mirror: Mirror | None = None,
    ) -> None:
        self.path = path
        self.envelope = envelope
        #: The uuid that the next line names as its parent.
        self.last = parent
        self._clock = clock
        self._mirror = mirror
        self._file = LineFile(path)

    def move(self, cwd: str) -> None:
        """Continue in another working directory."""
        if cwd != self.envelope.cwd:
            self.envelope = msgspec.structs.replace(self.envelope, cwd=cwd, git_branch=git_branch(cwd))

    def user(self, content: str | Sequence[Mapping[str, Json]], name: str | None = None, **fields: Any) -> str:
        """Write a user message, or one the program adds as such (`isMeta`, `isCompactSummary`, `promptId`).

        `name` is the uuid of the line; None for a random one.
        """
        return self._chain("user", {"message": {"role": "user", "content": content}, **fields}, name)

    def assistant(
        self, message: Mapping[str, Json], request_id: str | None = None, effort: str | None = None
    ) -> tuple[str, ...]:
        """Write a model's message, one line per content block; return the uuids of the lines."""
        given = {"requestId": request_id, "effort": effort}
        fields = {key: value for key, value in given.items() if value is not None}
        parts = [{**message, "content": [block]} for block in message["content"]] or [dict(message)]
        return tuple(self._chain("assistant", {"message": part, **fields}) for part in parts)

    def tool_result(
        self, block: Mapping[str, Json], response: Json, answers: str | None = None, refused_by: str | None = None
    ) -> str:
        """Write one `tool_result` block with the tool's structured response.

        `answers` is the uuid of the assistant's line; `refused_by` is `hook`, `user` or `config` for a call that did
        not run.
        """
        fields: dict[str, Json] = {"message": {"role": "user", "content": [dict(block)]}, "toolUseResult": response}
        if answers is not None:
            fields["sourceToolAssistantUUID"] = answers
        if refused_by is not None:
            fields["permissionDecision"] = {"decision": "reject", "source": refused_by}
        return self._chain("user", fields)

    def replace_result(self, tool_use_id: str, content: str | list[dict[str, Json]]) -> None:
        """Write a hook's rewrite of a result that is already on disk; readers use the rewritten one."""
        change = {"kind": "tool-result", "toolUseId": tool_use_id, "replacement": content}
        self.side("content-replacement", replacements=[change])

    def system(self, subtype: str, content: str | None = None, level: str = "info", **fields: Any) -> str:
        """Write a line for the record: `informational`, `stop_hook_summary`, `api_error`, `turn_duration`, …"""
        said = {} if content is None else {"content": content}
        return self._chain("system", {"subtype": subtype, **said, "level": level, "isMeta": False, **fields})

    def compact_boundary(self, trigger: str, tokens_before: int) -> str:
        """Start the conversation over: earlier lines stay in the file and are no longer read."""
        above, self.last = self.last, None
        metadata = {"trigger": trigger, "preTokens": tokens_before}
        return self.system(
            "compact_boundary", "Conversation compacted", logicalParentUuid=above, compactMetadata=metadata
        )

    def attachment(self, value: Mapping[str, Json]) -> str:
        """Write a record of a hook run: see `hookwright.agent.transcript.hooks`."""
        return self._chain("attachment", {"attachment": dict(value)})

    def side(self, kind: str, **fields: Any) -> None:
        """Write a record outside the chain: `custom-title`, `summary`, `permission-mode`, …"""
        self._append({"type": kind, **fields, "sessionId": self.envelope.session_id})

    def subagent(self, agent_id: str, meta: Mapping[str, Json]) -> Transcript:
        """Open the transcript of a subagent and write the file that describes it."""
        path = subagent_path(self.path, agent_id)
        child = msgspec.structs.replace(self.envelope, agent_id=checked_id(agent_id))
        opened = Transcript(path, child, clock=self._clock, mirror=self._mirror)
        _write_private(path.removesuffix(".jsonl") + ".meta.json", encode(meta))
        if self._mirror is not None:
            self._mirror(path, {**meta, "type": "agent_metadata"})
        return opened

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, line: Mapping[str, Json]) -> None:
        self._file.append(line)
        if self._mirror is not None:
            self._mirror(self.path, line)

    def _chain(self, kind: str, fields: Mapping[str, Json], name: str | None = None) -> str:
        around, name = self.envelope, str(uuid.uuid4()) if name is None else name
        sidechain = around.agent_id is not None
        self._append(
            {
                "parentUuid": self.last,
                "isSidechain": sidechain,
                **({"agentId": around.agent_id} if sidechain else {}),
                "type": kind,
                **fields,
                "uuid": name,
                "timestamp": _timestamp(self._clock()),
                "userType": "external",
                "entrypoint": around.entrypoint,
                "cwd": around.cwd,
                "sessionId": around.session_id,
                "version": around.version,
                "gitBranch": around.git_branch,
            }
        )
        self.last = name
        return name


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _write_private(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)


def git_branch(cwd: str) -> str:
    """Return the checked-out branch without running git; empty outside a repository."""
    directory = os.path.abspath(cwd)
    while not os.path.lexists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return ""
        directory = parent
    git = os.path.join(directory, ".git")
    try:
        if os.path.isfile(git):  # a worktree or submodule: the file names the real folder
            with open(git, encoding="utf-8") as file:
                git = os.path.join(directory, file.read(4096).removeprefix("gitdir:").strip())
        with open(os.path.join(git, "HEAD"), encoding="utf-8") as file:
            head = file.read(4096).strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else "HEAD"
