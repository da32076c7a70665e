"""The debug file: hook starts and ends, output, failures, and texts added to the conversation."""

from __future__ import annotations

import os
import time

from hookwright.agent.state.updates import Added, Diagnosed, HookEnded, Note, Update
from hookwright.observers import EventEnded, Notice, RunEnded, RunStarted
from hookwright.protocol.matched import hook_name
from hookwright.protocol.outcome import Ending, Late, Run
from hookwright.protocol.replies import Exited
from hookwright.visibility import Form, Reader, messages

#: Characters that end a line for some readers or control a terminal.
_UNSEEN = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029} - {0x09, 0x0A}, "\ufffd")


class DebugLog:
    """Appends lines `<time> [LEVEL] text` to a private file.

    Law (R-337 … R-340): start and end of a run at DEBUG, with event, command, exit code and duration; failures at
    WARN; stops at INFO with their reason; added context at INFO, unless stdout is for a program; plain output at
    DEBUG, unless the hook suppressed it.
    """

    def __init__(self, path: str, *, machine_output: bool) -> None:
        folder = os.path.dirname(os.path.abspath(path))
        os.makedirs(folder, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._machine_output = machine_output

    def notice(self, notice: Notice) -> None:
        """Log a notice of the engine."""
        match notice:
            case RunStarted(job=job):
                kind = job.handler.kind.value
                self.write("DEBUG", f"Hook {hook_name(job.event)} started ({kind}): {job.handler.label}")
            case RunEnded(job=job, run=run):
                self._ended(hook_name(job.event), job.handler.label, run)
            case EventEnded(outcome=outcome):
                for message in messages(outcome):
                    if message.reader is Reader.DEBUG:
                        self.write("DEBUG", message.text)
                    elif message.form is Form.STOP and message.reader is Reader.USER:
                        self.write("INFO", message.text)
                for skip in outcome.skips:
                    detail = f"{skip.reason.value}: {skip.detail}"
                    self.write("DEBUG", f"Hook {outcome.hook_name} skipped: {skip.handler.label} ({detail})")
                for diagnostic in outcome.diagnostics:
                    self.write("WARN", str(diagnostic))

    def _ended(self, name: str, label: str, run: Run) -> None:
        status = run.reply.status if isinstance(run.reply, Exited) else "-"
        milliseconds = round(run.timing.seconds * 1000)
        self.write("DEBUG", f"Hook {name} ended: {label}: {run.label}, exit code {status}, {milliseconds} ms")
        if run.verdict.ending in (Ending.ERROR, Ending.CANCELLED):
            self.write("WARN", f"Hook {name} failed: {label}: {run.verdict.error}")
        if isinstance(run.reply, Exited) and run.reply.stdout and not run.verdict.suppress_output:
            self.write("DEBUG", f"Hook {name} stdout: {run.reply.stdout.decode('utf-8', 'replace').rstrip()}")

    def update(self, update: Update) -> None:
        """Log an update of the agent."""
        match update:
            case Added(text=text, hook_name=hook) if hook and not self._machine_output:
                self.write("INFO", f"user: {text}")
            case Note(text=text, level=level):
                self.write({"error": "ERROR", "warning": "WARN"}.get(level, "INFO"), text)
            case Diagnosed(diagnostic=diagnostic):
                self.write("WARN", str(diagnostic))
            case HookEnded(late=late):
                self.write("DEBUG", f"Hook {hook_name(late.job.event)} ended in the background: {_late(late)}")

    def write(self, level: str, text: str) -> None:
        """Write one entry; later lines are indented, and control characters are replaced."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        body = text.translate(_UNSEEN).replace("\n", "\n    ")
        os.write(self._file, f"{now}Z [{level}] {body}\n".encode("utf-8", "replace"))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _late(late: Late) -> str:
    status = f"exit code {late.reply.status}" if isinstance(late.reply, Exited) else type(late.reply).__name__
    return f"{late.job.handler.label}: {status}"
