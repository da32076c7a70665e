"""Commands in the background: their start and end, for the host and for the model."""

from __future__ import annotations

from collections.abc import Callable

from hookwright.agent.state.actor import caller
from hookwright.agent.state.inbox import Inbox, TaskNotice
from hookwright.agent.state.updates import Listener, TaskEnded, TaskStarted
from hookwright.agent.tools import BackgroundShell, ShellEnded

#: The type of the notification to hooks.
COMMAND_ENDED = "background_command_ended"


class BackgroundCommands:
    """Reports the background commands of a session, with the calls that started them."""

    def __init__(self, tell: Listener, inbox: Inbox, notify: Callable[[str], None]) -> None:
        self._tell = tell
        self._inbox = inbox
        #: Sends a notification to the hooks.
        self._notify = notify
        self._calls: dict[str, str] = {}

    def started(self, task: BackgroundShell) -> None:
        """Report a command that starts."""
        self._calls[task.id] = caller().call_id
        self._tell(
            TaskStarted(
                task_id=task.id,
                tool_use_id=self._calls[task.id],
                description=task.description or task.command,
                task_type="local_bash",
                in_background=True,
            )
        )

    def ended(self, ended: ShellEnded) -> None:
        """Report a command that ended, also to the model."""
        task = ended.task
        status = "killed" if ended.killed else "completed" if ended.status == 0 else "failed"
        summary = f'Background command "{task.description or task.command}" {status} (exit code {ended.status})'
        self._tell(
            TaskEnded(
                task_id=task.id,
                tool_use_id=self._calls.pop(task.id, ""),
                status="stopped" if ended.killed else status,
                summary=summary,
                output_file=task.output,
            )
        )
        self._inbox.put(TaskNotice(task_id=task.id, status=status, summary=summary, output=task.output))
        if not ended.killed:  # a command that was killed needs no hook
            self._notify(summary)
