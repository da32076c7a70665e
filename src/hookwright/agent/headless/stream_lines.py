"""What `--output-format stream-json` prints: one JSON line per message, hook run, task and result."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping
from typing import TextIO, assert_never

import msgspec

from hookwright._version import __version__
from hookwright.agent.headless.hook_lines import HookLines, Line, answers_another_event, new_id
from hookwright.agent.headless.note_lines import NoteLines
from hookwright.agent.headless.partial_lines import PartialLines
from hookwright.agent.headless.result_line import ResultLines, is_stop_feedback
from hookwright.agent.headless.task_lines import TaskLines
from hookwright.agent.state.endings import ApiFailed, Result, TurnAnswered, TurnRefused
from hookwright.agent.state.prompts import STOPPED_BY_USER
from hookwright.agent.state.updates import (
    Added,
    CallDenied,
    CallTyped,
    Compacting,
    CompactionEnded,
    Diagnosed,
    Ended,
    HookEnded,
    ModeChanged,
    Note,
    Opened,
    Retried,
    Said,
    TaskEnded,
    TaskStarted,
    Titled,
    ToolEnded,
    TurnBegan,
    Typed,
    Update,
)
from hookwright.agent.state.user_notes import failed_closed
from hookwright.models.types import Retrying
from hookwright.observers import EventEnded, Notice
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Ending, Outcome
from hookwright.protocol.wire import encode

#: The program whose stream this is, for hosts that check its version.
CLAUDE_CODE_VERSION = "2.1.325"


class StreamOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream includes in addition to messages."""

    hook_events: bool = False
    partial_messages: bool = False


class StreamOutput:
    """One JSON line per update.

    Law: every turn has one `init` line, before its first message and after the hooks of its prompt; every block of an
    answer has its own line; texts that hooks add are not shown, except what a Stop hook says.
    """

    def __init__(self, options: StreamOptions, file: TextIO = sys.stdout) -> None:
        self._options = options
        self._file = file
        self._session_id = ""
        self._model = ""
        #: The session of a turn that has no init line yet.
        self._init: Opened | None = None
        self._prompt_blocked = False
        #: What hooks did to the last prompt.
        self._prompt_outcome: Line = {}
        self._stop_objected = False
        #: Whether this turn has a notification about its Stop hooks.
        self._stop_noted = False
        self._shows_subagents = False
        #: Whether a Stop hook answered for another event; this is noted once per session.
        self._stop_misnamed = False
        #: The calls of subagents that have lines.
        self._calls: set[str] = set()
        self._hooks = HookLines(self._system, all_events=options.hook_events)
        self._notes = NoteLines(self._hooks.reported)
        self._tasks = TaskLines(self._system)
        self._partial = PartialLines(self._event)
        self._results = ResultLines()

    # ── lines ───────────────────────────────────────────────────────────────

    def notice(self, notice: Notice) -> None:
        """Print hook runs."""
        if isinstance(notice, EventEnded) and notice.event.rules.block_drops_context:
            outcome = notice.outcome
            self._prompt_blocked = outcome.blocked
            self._prompt_outcome = _prompt_outcome(outcome)
        self._after_stop_feedback()
        self._hooks(notice)
        if isinstance(notice, EventEnded) and notice.event.event_name == "Stop":
            self._stop_ended(notice.outcome)

    def _stop_ended(self, outcome: Outcome) -> None:
        """Note a Stop hook that failed; one that answers for another event only the first time."""
        if outcome.blocked:
            return
        failed = [run for run in outcome.runs if run.verdict.ending is Ending.ERROR]
        misnamed = [run for run in failed if answers_another_event(run)]
        self._stop_objected |= len(misnamed) < len(failed) or (bool(misnamed) and not self._stop_misnamed)
        self._stop_misnamed |= bool(misnamed)

    def close(self) -> None:
        """Do nothing; everything is printed already."""

    def line(self, line: Mapping[str, Json]) -> None:
        """Print one line of the control protocol."""
        print(encode(line).decode(), file=self._file, flush=True)

    def repeat(self, prompt: Mapping[str, Json]) -> None:
        """Print a prompt of the host again."""
        about = {"session_id": self._session_id, "uuid": prompt.get("uuid") or new_id(), "isReplay": True}
        self.line({**prompt, "parent_tool_use_id": None, **about})

    def mirror(self, path: str, line: Mapping[str, Json]) -> None:
        """Print a line of a transcript, for a host that keeps transcripts itself."""
        self.line({"type": "transcript_mirror", "filePath": path, "entries": [line]})

    def show_subagents(self) -> None:
        """Print also what subagents say and think from now on."""
        self._shows_subagents = True

    def state(self, state: str) -> None:
        """Print the state of the session: `running`, `requires_action` or `idle`."""
        self._system({"subtype": "session_state_changed", "state": state, "sdk_host_only": True})

    def _system(self, fields: Mapping[str, Json]) -> None:
        self.line({"type": "system", **fields, "uuid": new_id(), "session_id": self._session_id})

    def _message(self, kind: str, message: Mapping[str, Json], parent: str | None, **more: Json) -> None:
        self._begin()
        about = {"parent_tool_use_id": parent, "session_id": self._session_id, "uuid": new_id()}
        self.line({"type": kind, "message": message, **about, **self._tasks.about(parent), **more})

    def _user(self, text: str, parent: str | None = None, **more: Json) -> None:
        self._message("user", {"role": "user", "content": [{"type": "text", "text": text}]}, parent, **more)

    def _event(self, event: Mapping[str, Json], parent: str | None) -> None:
        self._begin()
        about = {"parent_tool_use_id": parent, "session_id": self._session_id, "uuid": new_id()}
        self.line({"type": "stream_event", "event": event, **about})

    def _begin(self) -> None:
        """Print the init line of the turn, once."""
        self._after_stop_feedback()
        if self._init is not None:
            session, self._init = self._init, None
            self._system(_init(session))

    # ── updates ─────────────────────────────────────────────────────────────

    def update(self, update: Update) -> None:
        """Print an update as a line."""
        self._results.count(update)
        match update:
            case Opened():
                self._opened(update)
            case TurnBegan(session=session):
                self._opened(session)
                self._init = session
                self._prompt_blocked = self._stop_noted = False
            case Typed() | CallTyped() | Said() | ToolEnded() | Added():
                self._of_conversation(update)
            case Note():
                self._note(update)
            case Diagnosed():
                pass  # stderr has it
            case HookEnded(late=late):
                self._hooks.late(late)
            case Titled(title=title):
                self._system({"subtype": "session_title_changed", "title": title})
            case ModeChanged(mode=mode):
                self._system({"subtype": "status", "status": None, "permissionMode": mode})
            case CallDenied():
                self._denied(update)
            case TaskStarted() | TaskEnded():
                self._task(update)
            case Compacting() | CompactionEnded():
                self._compaction(update)
            case Retried(retry=retry):
                self._retried(retry)
            case Ended(result=result):
                self._ended(result)
            case _:
                assert_never(update)

    def _opened(self, session: Opened) -> None:
        self._session_id, self._model = session.session_id, session.model

    def _of_conversation(self, update: Typed | CallTyped | Said | ToolEnded | Added) -> None:
        match update:
            case Typed(text=text, parent_tool_use_id=parent):
                if self._options.partial_messages:
                    self._partial.text(text, self._model, parent)
            case CallTyped(id=id_, name=name, partial_json=json, parent_tool_use_id=parent):
                if self._options.partial_messages:
                    self._partial.call({"id": id_, "name": name}, json, self._model, parent)
            case Said():
                self._said(update)
            case ToolEnded():
                self._tool_ended(update)
            case Added(text=text, parent_tool_use_id=None) if text == STOPPED_BY_USER:
                self._user(text)
            case Added(text=text) if is_stop_feedback(update):
                self._stop_objected = False
                self._user(text, isSynthetic=True)
                self._stop_objected = True

    def _tool_ended(self, end: ToolEnded) -> None:
        """Print the result of a call and the instructions it loaded; calls of agent hooks have no lines."""
        parent = end.parent_tool_use_id
        if parent is None or end.block["tool_use_id"] in self._calls:
            message = {"role": "user", "content": [end.block]}
            self._message("user", message, parent, tool_use_result=end.response, uuid=end.uuid or new_id())
            if end.instructions:
                self._user(end.instructions, parent, isSynthetic=True)

    def _said(self, said: Said) -> None:
        """Print each block of an answer; a subagent's texts only if it works in the background or the host asks."""
        parent = said.parent_tool_use_id
        streamed = self._partial.close_block(parent)
        every = parent is None or self._shows_subagents or self._tasks.in_background(parent)
        for block, name in _shown(said):
            if every or block["type"] == "tool_use":
                message = {**said.message, "content": [block], "stop_reason": None}
                self._message("assistant", message, parent, uuid=name or new_id())
            if parent is not None and block["type"] == "tool_use":
                self._calls.add(block["id"])
        if streamed:
            self._partial.close_message(said.message, parent)
        self._tasks.progressed(said)

    def _note(self, note: Note) -> None:
        line = self._notes.line(note, self._prompt_blocked)
        if line is not None:
            self._begin()
            self._system(line)
        if note.tag == "stop-cap":
            cap = {"subtype": "notification", "key": "stop-hook-block-cap", "text": note.text}
            self._system({**cap, "priority": "high", "color": "warning"})

    def _denied(self, denied: CallDenied) -> None:
        self._begin()
        line: dict[str, Json] = {
            "subtype": "permission_denied",
            "tool_name": denied.tool_name,
            "tool_use_id": denied.tool_use_id,
            "decision_reason_type": denied.by,
            "message": denied.message,
        }
        if denied.by == "hook":
            line["decision_reason"] = denied.message
        self._system(line if denied.agent_id is None else {**line, "agent_id": denied.agent_id})

    def _task(self, update: TaskStarted | TaskEnded) -> None:
        self._begin()
        if isinstance(update, TaskEnded):
            self._tasks.ended(update)
            return
        self._tasks.started(update)
        if update.prompt is not None and not update.in_background:
            self._user(update.prompt, update.tool_use_id)

    def _compaction(self, update: Compacting | CompactionEnded) -> None:
        if isinstance(update, Compacting):
            self._system({"subtype": "status", "status": "compacting"})
            return
        if update.error is not None:
            failed = {"compact_result": "failed", "compact_error": update.error}
            self._system({"subtype": "status", "status": None, **failed})
            return
        self._system({"subtype": "status", "status": None, "compact_result": "success"})
        self._begin()
        about = {"trigger": update.trigger, "pre_tokens": update.pre_tokens}
        self._system({"subtype": "compact_boundary", "compact_metadata": about})
        self._message("user", {"role": "user", "content": update.summary}, None, isSynthetic=True)

    def _retried(self, retry: Retrying) -> None:
        self._begin()
        count = {"attempt": retry.attempt, "max_retries": retry.most, "retry_delay_ms": round(retry.delay * 1000)}
        why = {"error_status": retry.status, "error": retry.error}
        self._system({"subtype": "api_retry", **count, **why})

    def _ended(self, result: Result) -> None:
        """Print what the conversation does not contain, then the result."""
        match result.ending:
            case TurnRefused(text=text):
                self._begin()
                line = {"subtype": "informational", "content": text, "level": "warning"}
                self._system({**line, "prevent_continuation": True, **self._prompt_outcome})
            case TurnAnswered(text=text, compacted=True):
                said = f"<local-command-stdout>{text}</local-command-stdout>"
                self._message("user", {"role": "user", "content": said}, None, isReplay=True)
            case TurnAnswered(text=text) if text:
                self._message("assistant", _synthetic(text), None)
            case ApiFailed(kind=kind, text=text):
                self._message("assistant", _synthetic(text), None, error=kind, is_api_error_message=True)
        self._begin()
        self.line(self._results.line(result))

    def _after_stop_feedback(self) -> None:
        """Print, once per turn, that a Stop hook failed or sent the agent back to work."""
        objected, self._stop_objected = self._stop_objected, False
        if objected and not self._stop_noted:
            self._stop_noted = True
            text = "Stop hook error occurred · ctrl+o to see"
            note = {"subtype": "notification", "key": "stop-hook-error", "text": text, "priority": "immediate"}
            self._system(note)


def _prompt_outcome(outcome: Outcome) -> Line:
    """Return what hooks did to a prompt; the hooks of a slash command's text say it in their reason alone."""
    if outcome.event != "UserPromptSubmit":
        return {}
    if outcome.blocked and failed_closed(outcome):
        return {"prompt_submit_outcome": {"kind": "no_verdict", "prompt_kept": False, "no_verdict_kind": "hook_failed"}}
    kind = "blocked_by_hook" if outcome.blocked else "stopped_by_hook"
    reason = outcome.reason if outcome.blocked or outcome.stop is None else outcome.stop.reason
    return {"prompt_submit_outcome": {"kind": kind, "prompt_kept": not outcome.blocked, "reason": reason}}


def _shown(said: Said) -> list[tuple[Mapping[str, Json], str | None]]:
    """Return the blocks of an answer with its text as hooks display it, each with the uuid of its line on disk."""
    blocks = list(itertools.zip_longest(said.message["content"], said.uuids[: len(said.message["content"])]))
    texts = [block for block, _ in blocks if block["type"] == "text"]
    if not texts or "".join(block["text"] for block in texts) == said.shown:
        return blocks
    replaced = {**texts[0], "text": said.shown}
    return [(replaced if block is texts[0] else block, name) for block, name in blocks if block not in texts[1:]]


def _synthetic(text: str) -> dict[str, Json]:
    """Return a text of the program as an answer of no model."""
    return {
        "id": new_id(),
        "type": "message",
        "role": "assistant",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _init(session: Opened) -> dict[str, Json]:
    return {
        "subtype": "init",
        "cwd": session.cwd,
        "tools": list(session.tools),
        "mcp_servers": [{"name": name, "status": status} for name, status in session.mcp_servers],
        "model": session.model,
        "permissionMode": session.permission_mode,
        "slash_commands": list(session.skills),
        "agents": list(session.agents),
        "skills": list(session.skills),
        "output_style": "default",
        "claude_code_version": CLAUDE_CODE_VERSION,
        "version": __version__,
    }
