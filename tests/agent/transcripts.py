"""Makers of transcripts and of hook outcomes, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hookwright.agent.transcript import (
    CallContext,
    Envelope,
    Transcript,
    attachments,
    session_path,
)
from hookwright.aggregate import aggregate
from hookwright.interpret import interpret
from hookwright.protocol.outcome import Outcome, Run, Timing
from hookwright.protocol.replies import Reply
from support import command, event

SESSION = "00000000-0000-4000-8000-000000000001"
ENVELOPE = Envelope(session_id=SESSION, cwd="/p", version="0.1.0", git_branch="main")


def transcript(folder: Path, name: str = SESSION, **fields: Any) -> Transcript:
    return Transcript(session_path(str(folder), name), ENVELOPE, clock=lambda: 1_700_000_000.5, **fields)


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def assistant(message_id: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"id": message_id, "type": "message", "role": "assistant", "model": "m", "content": list(blocks)}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(id_: str, command_: str = "ls") -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "Bash", "input": {"command": command_}}


def result(id_: str, said: str = "out") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": said, "is_error": False}


def whole_session(folder: Path) -> Transcript:
    """Write a session with parallel calls, hook context, and a last answer."""
    t = transcript(folder)
    t.user("run both", promptId="p1")
    t.assistant(assistant("msg_1", {"type": "thinking", "thinking": "hm", "signature": "s"}, use("t1"), use("t2")))
    t.tool_result(result("t2", "two"), {"stdout": "two"}, t.last)
    t.attachment({"type": "hook_additional_context", "content": ["ctx é"], "hookName": "PostToolUse:Bash"})
    t.tool_result(result("t1", "one"), {"stdout": "one"}, t.last)
    t.assistant(assistant("msg_2", text("done")))
    return t


def outcome(name: str, *replies: Reply) -> Outcome:
    moment = event(name)
    handlers = [command(f"hook-{number}") for number in range(len(replies))]
    runs = [
        Run(handler, reply, interpret(reply, handler, moment), Timing(0.0, 0.25))
        for handler, reply in zip(handlers, replies, strict=True)
    ]
    return aggregate(moment, runs)


def fired(name: str, *replies: Reply) -> tuple[dict[str, Any], ...]:
    return attachments(outcome(name, *replies), "toolu_1", CallContext("toolu_1", "Bash", {"command": "ls"}))
