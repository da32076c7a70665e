"""The session's task list."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

PENDING, IN_PROGRESS, COMPLETED, DELETED = "pending", "in_progress", "completed", "deleted"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to do."""

    id: str
    subject: str
    description: str = ""
    active_form: str | None = None
    status: str = PENDING
    owner: str | None = None
    blocked_by: tuple[str, ...] = ()


class Created(msgspec.Struct, frozen=True):
    """A task is about to be created."""

    task: Task


class Completed(msgspec.Struct, frozen=True):
    """A task is about to be completed."""

    task: Task


Change = Created | Completed


class Board:
    """Tasks by number, in the order of creation; numbers are never reused."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._count = 0

    def next_id(self) -> str:
        """Reserve the number of the next task."""
        self._count += 1
        return str(self._count)

    def put(self, task: Task) -> None:
        """Store a new or changed task; a deleted one is removed from the list and from the blockers of others."""
        if task.status != DELETED:
            self._tasks[task.id] = task
            return
        self._tasks.pop(task.id, None)
        for other in self.tasks():
            blocked_by = tuple(name for name in other.blocked_by if name != task.id)
            self._tasks[other.id] = msgspec.structs.replace(other, blocked_by=blocked_by)

    def block(self, task_id: str, by: Iterable[str]) -> None:
        """Make a task wait for others; tasks that do not exist are ignored."""
        task = self.get(task_id)
        if task is not None:
            known = (name for name in by if name != task_id and self.get(name) is not None)
            blocked_by = dict.fromkeys((*task.blocked_by, *known))
            self._tasks[task_id] = msgspec.structs.replace(task, blocked_by=tuple(blocked_by))

    def get(self, task_id: str) -> Task | None:
        """Return a task, or None if there is none of that number."""
        return self._tasks.get(task_id)

    def tasks(self) -> tuple[Task, ...]:
        """Return all tasks."""
        return tuple(self._tasks.values())

    def open_blockers(self, task: Task) -> tuple[str, ...]:
        """Return the tasks this one still waits for."""
        return tuple(
            name for name in task.blocked_by if (other := self.get(name)) is not None and other.status != COMPLETED
        )
