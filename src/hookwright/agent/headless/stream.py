"""What `hookwright run` prints: text, one JSON object, or one JSON line per update."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Protocol, TextIO, assert_never

import msgspec

from hookwright._version import __version__
from hookwright.agent.headless.hook_lines import HookLines, new_id
from hookwright.agent.state.endings import Deferred, Finished, Interrupted, OutOfTurns, Result, StopPrevented
from hookwright.agent.state.updates import (
    Added,
    Diagnosed,
    Ended,
    HookEnded,
    ModeChanged,
    Note,
    Opened,
    Said,
    Titled,
    ToolEnded,
    Typed,
    Update,
)
from hookwright.agent.state.user_notes import HOOK_CHANGED, NO_VERDICT
from hookwright.observers import Notice
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import encode
from hookwright.text import harmless, one_line, say
from hookwright.visibility import Form

#: Notes the stream omits: a refusal is already in the result of its call or prompt.
_ELSEWHERE = frozenset({Form.BLOCKED.value})


class SessionOutput(Protocol):
    """An output format: takes updates of the agent and notices of the engine."""

    def update(self, update: Update) -> None:
        """Print an update."""
        ...

    def notice(self, notice: Notice) -> None:
        """Print a notice."""
        ...

    def close(self) -> None:
        """Print what was kept for the end."""
        ...


#: Notes that are printed elsewhere: with the answer, and by the console for every format.
_PRINTED = frozenset({"prompt-blocked", "session-end", "option", HOOK_CHANGED})


class TextOutput:
    """The answers on stdout; what the user has to know about hooks and refused calls on stderr."""

    def __init__(self, file: TextIO | None = None, errors: TextIO | None = None) -> None:
        self._file = sys.stdout if file is None else file
        self._errors = sys.stderr if errors is None else errors
        #: Call → the beginning of its error.
        self._failed: dict[str, str] = {}
        self._warned: list[str] = []

    def update(self, update: Update) -> None:
        """Print the answer to a prompt, warnings as they come, and which calls were refused."""
        match update:
            case Note(text=text, level="warning" | "error", tag=tag) if tag not in _PRINTED:
                self._warn(text)
            case ToolEnded(block=block) if block.get("is_error"):
                self._failed[str(block.get("tool_use_id"))] = _first_line(block.get("content"))
            case Ended(result=result):
                text, reason = result.text, result.stop_reason
                say([text or reason or ""], self._file)
                if text and reason and reason not in text:
                    self._warn(f"stopped: {reason}")
                self._report_denials(result)
            case _:
                pass

    def _report_denials(self, result: Result) -> None:
        """Report the calls that rules and modes refused; what a hook refused was reported when it did."""
        errors = [
            (str(call.get("tool_name")), self._failed.get(str(call.get("tool_use_id")), "")) for call in result.denials
        ]
        refused = [f"{name}: {error}" for name, error in errors if not any(error in text for text in self._warned)]
        if refused:
            count = "1 call was" if len(refused) == 1 else f"{len(refused)} calls were"
            self._warn(f"{count} refused; --allowedTools, --permission-mode or a rule in the settings allows a call")
        for text in dict.fromkeys(refused):
            self._warn(f"  {text}")

    def _warn(self, text: str) -> None:
        self._warned.append(text)
        say([f"hookwright: {harmless(text)}"], self._errors)

    def notice(self, notice: Notice) -> None:
        """Ignore hooks; what the user reads of them comes as notes."""

    def close(self) -> None:
        """Do nothing; everything is printed already."""


def _first_line(content: Json) -> str:
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())
    return one_line(text.partition("\n")[0], 160)


class JsonOutput:
    """The last result as one object."""

    def __init__(self, file: TextIO = sys.stdout) -> None:
        self._file = file
        self._result: Result | None = None
        self._warnings: list[str] = []

    def update(self, update: Update) -> None:
        """Keep the result, and which hooks a change switched off."""
        if isinstance(update, Ended):
            self._result = update.result
        elif isinstance(update, Note) and update.tag == HOOK_CHANGED:
            self._warnings.append(update.text)

    def notice(self, notice: Notice) -> None:
        """Ignore hooks."""

    def close(self) -> None:
        """Print the result."""
        if self._result is not None:
            warnings = {"warnings": self._warnings} if self._warnings else {}
            print(encode({**result_line(self._result), **warnings}).decode(), file=self._file, flush=True)


class StreamOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream includes in addition to messages."""

    hook_events: bool = False
    partial_messages: bool = False


class StreamOutput:
    """One JSON line per update."""

    def __init__(self, options: StreamOptions, file: TextIO = sys.stdout) -> None:
        self._options = options
        self._file = file
        self._session_id = ""
        self._hooks = HookLines(self._system, all_events=options.hook_events)

    def notice(self, notice: Notice) -> None:
        """Print hook runs."""
        self._hooks(notice)

    def close(self) -> None:
        """Do nothing; everything is printed already."""

    def line(self, line: Mapping[str, Json]) -> None:
        """Print one line of the control protocol."""
        print(encode(line).decode(), file=self._file, flush=True)

    def state(self, state: str) -> None:
        """Print the state of the session: `running`, `requires_action` or `idle`."""
        self._system({"subtype": "session_state_changed", "state": state, "sdk_host_only": True})

    def _system(self, fields: Mapping[str, Json]) -> None:
        self.line({"type": "system", **fields, "uuid": new_id(), "session_id": self._session_id})

    def _message(self, kind: str, message: Mapping[str, Json], parent: str | None, **more: Json) -> None:
        about = {"parent_tool_use_id": parent, "session_id": self._session_id, "uuid": new_id()}
        self.line({"type": kind, "message": message, **about, **more})

    def update(self, update: Update) -> None:
        """Print an update as a line."""
        match update:
            case Opened():
                self._session_id = update.session_id
                self._system(_init(update))
            case Typed(text=text, parent_tool_use_id=parent):
                if self._options.partial_messages:
                    delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}
                    about = {"parent_tool_use_id": parent, "session_id": self._session_id, "uuid": new_id()}
                    self.line({"type": "stream_event", "event": delta, **about})
            case Said(message=message, parent_tool_use_id=parent):
                self._message("assistant", message, parent)
            case ToolEnded(block=block, response=response, parent_tool_use_id=parent):
                content = {"role": "user", "content": [block]}
                self._message("user", content, parent, tool_use_result=response)
            case Added(text=text, parent_tool_use_id=parent):
                self._message("user", {"role": "user", "content": text}, parent, isSynthetic=True)
            case Note():
                self._note(update)
            case Diagnosed():
                pass  # stderr has it
            case HookEnded(late=late):
                self._hooks.late(late)
            case Titled(title=title):
                self._system({"subtype": "session_title_changed", "title": title})
            case ModeChanged(mode=mode):
                self._system({"subtype": "status", "permissionMode": mode})
            case Ended(result=result):
                self.line(result_line(result))
            case _:
                assert_never(update)

    def _note(self, note: Note) -> None:
        if note.tag in _ELSEWHERE:
            return
        line = {"subtype": "informational", "content": note.text, "level": note.level}
        self._system({**line, "tag": note.tag} if note.tag in (NO_VERDICT, HOOK_CHANGED) else line)


def _init(update: Opened) -> dict[str, Json]:
    return {
        "subtype": "init",
        "cwd": update.cwd,
        "tools": list(update.tools),
        "mcp_servers": [{"name": name, "status": status} for name, status in update.mcp_servers],
        "model": update.model,
        "permissionMode": update.permission_mode,
        "slash_commands": list(update.skills),
        "agents": list(update.agents),
        "skills": list(update.skills),
        "version": __version__,
    }


def result_line(result: Result) -> dict[str, Json]:
    """Return a result as the last line of its prompt."""
    ending = result.ending
    line: dict[str, Json] = {
        "type": "result",
        "subtype": "error_max_turns" if isinstance(ending, OutOfTurns) else _subtype(result),
        "is_error": result.is_error,
        "duration_ms": round(result.duration * 1000),
        "duration_api_ms": round(result.api_duration * 1000),
        "num_turns": result.turns,
        "result": result.text,
        "stop_reason": _stop_reason(result),
        "session_id": result.session_id,
        "total_tool_calls": result.tool_calls,
        "usage": msgspec.structs.asdict(result.usage),
        "permission_denials": list(result.denials),
        "terminal_reason": result.terminal_reason,
    }
    if isinstance(ending, Deferred):
        line["deferred_tool_use"] = {key: ending.call[key] for key in ("id", "name", "input")}
    return {**line, "uuid": new_id()}


def _subtype(result: Result) -> str:
    return "error_during_execution" if isinstance(result.ending, Interrupted) else "success"


def _stop_reason(result: Result) -> str | None:
    if isinstance(result.ending, Finished | StopPrevented):
        return "end_turn"
    return "tool_deferred" if isinstance(result.ending, Deferred) else None


def output_for(name: str, options: StreamOptions) -> SessionOutput:
    """Return the output of a format."""
    match name:
        case "text":
            return TextOutput()
        case "json":
            return JsonOutput()
        case _:
            return StreamOutput(options)
