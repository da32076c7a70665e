"""Hook runs as lines of the stream: hook_started and hook_response, as far as the host asked for them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping

from hookwright.observers import Notice, RunEnded, RunStarted
from hookwright.protocol.events import CATALOGUE, Streamed
from hookwright.protocol.handlers import Kind
from hookwright.protocol.job import Job
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.matched import hook_name
from hookwright.protocol.outcome import Block, Deny, Late, Run
from hookwright.protocol.replies import Answered, Backgrounded, Exited, Failed, Failure, Reply, TimedOut
from hookwright.protocol.wire import TOP_LEVEL, camel

#: Questions to a model are not processes; they appear only when the model could not be asked.
_ASKED = frozenset({Kind.PROMPT, Kind.AGENT})

#: Events whose hooks carry the bare event name here, although they have a matcher.
_BARE = frozenset({"SubagentStop", "UserPromptExpansion"})

#: Diagnostics of an answer that could not be used.
_UNUSABLE = frozenset({"broken-json", "invalid-answer", "wrong-event-name"})

Line = Mapping[str, Json]


class HookLines:
    """An observer that writes the lines of hook runs."""

    def __init__(self, write: Callable[[Line], None], *, all_events: bool) -> None:
        self._write = write
        self._all = all_events
        #: The prompt event a hook blocked last; later runs of the same event are omitted.
        self._closed: set[int] = set()
        #: The failures that lines already report, each as the first line of its message.
        self._reported: set[str] = set()

    def __call__(self, notice: Notice) -> None:
        """Write a notice as a line."""
        match notice:
            case RunStarted(job=job):
                if (
                    self._wanted(job)
                    and job.event.rules.streamed is not Streamed.NOTHING
                    and job.handler.kind not in _ASKED
                ):
                    self._write({"subtype": "hook_started", **_head(job)})
            case RunEnded(job=job, run=run):
                self._ended(job, run)

    def late(self, late: Late) -> None:
        """Write the end of a hook that ran in the background."""
        if self._wanted(late.job) and late.job.event.rules.streamed is not Streamed.NOTHING:
            self._write({"subtype": "hook_response", **_head(late.job), **_streams(late.reply), **_late_end(late)})

    def _ended(self, job: Job, run: Run) -> None:
        if not self._wanted(job) or job.event.rules.streamed is Streamed.NOTHING or isinstance(run.reply, Backgrounded):
            return
        if job.handler.kind in _ASKED and not _is_unsupported(run.reply):
            return
        if run.verdict.error is not None:
            self._reported.add(run.verdict.error.partition("\n")[0])
        if id(job.event) in self._closed:
            return
        if job.event.rules.block_drops_context and isinstance(run.verdict.decision, Deny | Block):
            self._closed = {id(job.event)}
        end: dict[str, Json] = {"outcome": run.label}
        code = _exit_code(run)
        if code is not None:
            end = {"exit_code": code, **end}
        self._write({"subtype": "hook_response", **_head(job), **_said(run), **end})

    def reported(self, failure: str) -> bool:
        """Return whether a line reports this failure, given as the first line of its message."""
        return failure in self._reported

    def _wanted(self, job: Job) -> bool:
        return self._all or job.event.rules.streamed is Streamed.ALWAYS


def _head(job: Job) -> dict[str, Json]:
    event = job.event
    name = event.event_name if event.event_name in _BARE else hook_name(event)
    return {"hook_id": job.run_id, "hook_name": name, "hook_event": event.event_name}


def answers_another_event(run: Run) -> bool:
    """Return whether the answer of a run names another event."""
    return any(diagnostic.code == "wrong-event-name" for diagnostic in run.verdict.diagnostics)


def _is_unsupported(reply: Reply) -> bool:
    return isinstance(reply, Failed) and reply.why is Failure.UNSUPPORTED


def _said(run: Run) -> dict[str, Json]:
    """Return what a hook printed; where its answer could not be used, stderr says why.

    Law: an answer for another event leaves its failure alone.
    """
    reply, error = run.reply, run.verdict.error
    printed = _streams(reply)
    codes = {diagnostic.code for diagnostic in run.verdict.diagnostics}
    if not isinstance(reply, Exited) or error is None or not codes & _UNUSABLE:
        return printed
    if "wrong-event-name" not in codes:
        return {**printed, "stderr": error}
    value, _ = parse_json(printed["stdout"])
    failure = f"Failed to run: {error}. Full stdout: {json.dumps(_known(value), indent=2, ensure_ascii=False)}"
    return {"output": failure, "stdout": "", "stderr": failure}


def _known(answer: Json) -> dict[str, Json]:
    """Return the fields of an answer that the event it names has."""
    specific = answer["hookSpecificOutput"]
    fields = {"hookEventName", *map(camel, CATALOGUE[specific["hookEventName"]].rules.output)}
    return {
        name: {key: one for key, one in specific.items() if key in fields} if value is specific else value
        for name, value in answer.items()
        if name in TOP_LEVEL
    }


def _streams(reply: Reply) -> dict[str, Json]:
    if isinstance(reply, Failed) and reply.body and reply.status is None:
        return {"output": reply.body, "stdout": reply.body, "stderr": reply.body}
    if isinstance(reply, Answered | Failed) and reply.body:
        failure = reply.message if isinstance(reply, Failed) else ""
        return {"output": reply.body, "stdout": reply.body, "stderr": failure}
    if not isinstance(reply, Exited):
        said = reply.message if isinstance(reply, Failed) else ""
        return {"output": said, "stdout": "", "stderr": said}
    return {
        "output": reply.interleaved.decode("utf-8", "replace"),
        "stdout": reply.stdout.decode("utf-8", "replace"),
        "stderr": reply.stderr.decode("utf-8", "replace"),
    }


def _exit_code(run: Run) -> int | None:
    """Return the exit status or HTTP status; 1 for a failure without one."""
    reply = run.reply
    if isinstance(reply, Exited):
        return 1 if reply.signal is not None or answers_another_event(run) else reply.status
    if isinstance(reply, Answered):
        return reply.status if reply.status is not None else 0
    if isinstance(reply, Failed):
        if reply.status is not None:
            return reply.status
        return None if run.handler.kind is Kind.HTTP else 1
    return 1 if isinstance(reply, TimedOut) else None


def _late_end(late: Late) -> dict[str, Json]:
    reply = late.reply
    if isinstance(reply, Exited):
        return {"exit_code": reply.status, "outcome": "success" if reply.status == 0 else "error"}
    interrupted = isinstance(reply, Failed) and reply.why is Failure.INTERRUPTED
    return {"exit_code": 1, "outcome": "cancelled" if isinstance(reply, TimedOut) or interrupted else "error"}


def new_id() -> str:
    """Return a new id for a line."""
    return str(uuid.uuid4())
