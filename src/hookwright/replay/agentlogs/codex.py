"""Rollouts of Codex CLI: `~/.codex/sessions/**/rollout-*.jsonl`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

from hookwright.protocol.jsontext import Json, parse_json
from hookwright.replay.agentlogs.model import LoggedPayload, LogLine, joined_text, object_in, text_in

#: The tools that Codex shows to hooks as `Bash`.
_SHELLS = ("exec_command", "shell_command", "shell", "container.exec", "local_shell")
_STATUS = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
#: Messages in the user's name that Codex itself writes.
_OWN = ("<", "# AGENTS.md")


class Rollout:
    """Reads the lines of one session.

    Law: a command and a patch become the payload that Codex sends to hooks, before and after the call; a call without
    an output has no payload after it. Reading and searching are commands for Codex, and everything else it does on its
    servers has no payload.
    """

    def __init__(self, path: str) -> None:
        self._common: dict[str, Json] = {"transcript_path": path}
        self._calls: dict[str, Mapping[str, Json]] = {}

    def payloads(self, lines: Iterable[LogLine]) -> Iterator[LoggedPayload]:
        """Yield the payloads in the order of the log."""
        for line in lines:
            payload = object_in(line.value, "payload")
            match line.text("type"):
                case "session_meta":
                    self._hear(payload, {"session_id": "id", "cwd": "cwd"})
                case "turn_context":
                    self._hear(payload, {"turn_id": "turn_id", "cwd": "cwd", "model": "model"})
                    self._common["permission_mode"] = _mode(payload)
                case "response_item":
                    yield from self._item(line, payload)
                case "event_msg" if payload.get("type") == "task_complete":
                    said = text_in(payload, "last_agent_message")
                    yield self._sent(line, "Stop", {"stop_hook_active": False, "last_assistant_message": said})

    def _hear(self, payload: Mapping[str, Json], names: Mapping[str, str]) -> None:
        self._common |= {ours: text_in(payload, theirs) for ours, theirs in names.items() if text_in(payload, theirs)}

    def _item(self, line: LogLine, payload: Mapping[str, Json]) -> Iterator[LoggedPayload]:
        call_id = text_in(payload, "call_id")
        match payload.get("type"):
            case "message" if payload.get("role") == "user":
                prompt = joined_text(payload.get("content"))
                if prompt and not prompt.startswith(_OWN):
                    yield self._sent(line, "UserPromptSubmit", {"prompt": prompt})
            case "function_call" | "custom_tool_call" | "local_shell_call" if call_id:
                called = _called(payload)
                self._calls[call_id] = {**called, "tool_use_id": call_id}
                yield self._sent(line, "PreToolUse", self._calls[call_id])
            case "function_call_output" | "custom_tool_call_output" if call_id in self._calls:
                output = _output(payload.get("output"))
                status = _STATUS.search(output)
                after = {**self._calls.pop(call_id), "tool_response": output}
                yield self._sent(line, "PostToolUse", after, status[1] != "0" if status is not None else None)

    def _sent(self, line: LogLine, event: str, fields: Mapping[str, Json], failed: bool | None = None) -> LoggedPayload:
        sent = {**self._common, "hook_event_name": event, **fields}
        return LoggedPayload(sent=sent, line=line.number, timestamp=line.text("timestamp"), failed=failed)


def _mode(context: Mapping[str, Json]) -> str:
    """Return the permission mode that Codex names to hooks for its own two settings."""
    free = object_in(context, "sandbox_policy").get("type") == "danger-full-access"
    return "bypassPermissions" if free and context.get("approval_policy") == "never" else "default"


def _called(payload: Mapping[str, Json]) -> dict[str, Json]:
    """Return the tool and its input as Codex shows them to hooks."""
    name = text_in(payload, "name")
    if payload.get("type") == "custom_tool_call":
        return {"tool_name": name, "tool_input": {"command": text_in(payload, "input")}}
    if payload.get("type") == "local_shell_call":
        return {"tool_name": "Bash", "tool_input": {"command": _line(object_in(payload, "action").get("command"))}}
    given, problem = parse_json(text_in(payload, "arguments"))
    read: dict[str, Json] = given if problem is None and isinstance(given, dict) else {}
    if name in _SHELLS:
        return {"tool_name": "Bash", "tool_input": {"command": _line(read.get("cmd", read.get("command")))}}
    if name == "apply_patch":
        return {"tool_name": name, "tool_input": {"command": text_in(read, "input") or text_in(read, "patch")}}
    return {"tool_name": name, "tool_input": read}


def _line(command: Json) -> str:
    """Return a command as one line of shell; older versions wrote words."""
    if isinstance(command, str):
        return command
    words = [str(word) for word in command] if isinstance(command, list) else []
    if len(words) == 3 and words[0].endswith("sh") and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


def _output(value: Json) -> str:
    """Return the text of an output, which may be an object with its content or a text of JSON."""
    if isinstance(value, dict):
        return _output(value.get("content", value.get("output")))
    if isinstance(value, list):
        return joined_text(value)
    text = value if isinstance(value, str) else ""
    inner, problem = parse_json(text) if text.startswith("{") else (None, "")
    if problem is None and isinstance(inner, dict) and isinstance(inner.get("output"), str):
        status = object_in(inner, "metadata").get("exit_code")
        return f"Exit code: {status}\n{inner['output']}" if isinstance(status, int) else str(inner["output"])
    return text
