"""Subagents and background commands as lines of the stream."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

import msgspec

from hookwright.agent.state.updates import Said, TaskEnded, TaskStarted
from hookwright.protocol.jsontext import Json

_VERBS = {"Read": "Reading", "Write": "Writing", "Edit": "Editing"}
_PATCHED = {"stopped": "killed"}


class _Progress(msgspec.Struct):
    """A task that runs, and what it has used so far."""

    task: TaskStarted
    started: float
    tokens: int = 0
    tool_uses: int = 0


class TaskLines:
    """Writes task_started, task_progress, task_updated, task_notification and background_tasks_changed."""

    def __init__(self, write: Callable[[Mapping[str, Json]], None]) -> None:
        self._write = write
        self._running: dict[str, _Progress] = {}

    def about(self, tool_use_id: str | None) -> dict[str, Json]:
        """Return the fields that name the subagent a message comes from; none for the main agent."""
        found = self._of_call(tool_use_id)
        if found is None or found.task.agent_type is None:
            return {}
        task = found.task
        named = {"agent_id": task.task_id, "subagent_type": task.agent_type}
        return {**named, "task_description": task.description}

    def in_background(self, tool_use_id: str | None) -> bool:
        """Return whether a call's subagent works in the background."""
        found = self._of_call(tool_use_id)
        return found is not None and found.task.in_background

    def started(self, task: TaskStarted) -> None:
        """Report a task that starts."""
        self._running[task.task_id] = _Progress(task, time.monotonic())
        if task.in_background:
            self._changed()
        line: dict[str, Json] = {
            "subtype": "task_started",
            "task_id": task.task_id,
            "tool_use_id": task.tool_use_id,
            "description": task.description,
            "is_backgrounded": task.in_background,
            "task_type": task.task_type,
        }
        if task.agent_type is not None:
            line |= {"subagent_type": task.agent_type, "prompt": task.prompt}
        self._write(line)

    def progressed(self, said: Said) -> None:
        """Report the tool calls in a subagent's message."""
        found = self._of_call(said.parent_tool_use_id)
        if found is None:
            return
        usage = said.message.get("usage") or {}
        found.tokens = sum(value for value in usage.values() if isinstance(value, int))
        for block in said.message["content"]:
            if block["type"] == "tool_use":
                found.tool_uses += 1
                self._write(_progress(found, block, said.cwd))

    def ended(self, end: TaskEnded) -> None:
        """Report a task that ended."""
        known = self._running.pop(end.task_id, None)
        patch = {"status": _PATCHED.get(end.status, end.status), "end_time": round(time.time() * 1000)}
        self._write({"subtype": "task_updated", "task_id": end.task_id, "patch": patch})
        line: dict[str, Json] = {
            "subtype": "task_notification",
            "task_id": end.task_id,
            "tool_use_id": end.tool_use_id,
            "status": end.status,
            "output_file": end.output_file,
            "summary": end.summary,
        }
        self._write(line if end.usage is None else {**line, "usage": dict(end.usage)})
        if known is not None and known.task.in_background:
            self._changed()

    def _of_call(self, tool_use_id: str | None) -> _Progress | None:
        if tool_use_id is None:
            return None
        return next((found for found in self._running.values() if found.task.tool_use_id == tool_use_id), None)

    def _changed(self) -> None:
        tasks = [
            {
                "task_id": found.task.task_id,
                "task_type": found.task.task_type,
                **({} if found.task.agent_type is None else {"subagent_type": found.task.agent_type}),
                "description": found.task.description,
            }
            for found in self._running.values()
            if found.task.in_background
        ]
        self._write({"subtype": "background_tasks_changed", "tasks": tasks})


def _doing(block: Mapping[str, Json], cwd: str) -> str:
    """Return a call in two words: what is done, and to what."""
    given = block["input"] if isinstance(block["input"], dict) else {}
    path = given.get("file_path")
    if block["name"] in _VERBS and isinstance(path, str):
        return f"{_VERBS[block['name']]} {os.path.relpath(os.path.join(cwd, path), cwd)}"
    return f"Running {given.get('description') or given.get('command') or block['name']}"


def _progress(found: _Progress, block: Mapping[str, Json], cwd: str) -> dict[str, Json]:
    seconds = time.monotonic() - found.started
    return {
        "subtype": "task_progress",
        "task_id": found.task.task_id,
        "tool_use_id": found.task.tool_use_id,
        "description": _doing(block, cwd),
        "subagent_type": found.task.agent_type,
        "usage": {
            "total_tokens": found.tokens,
            "tool_uses": found.tool_uses,
            "duration_ms": round(seconds * 1000),
        },
        "last_tool_name": block["name"],
    }
