"""Tasks and hooks: a task that is created or completed is first shown to TaskCreated and TaskCompleted hooks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import UNSET

from hookwright.agent.state.actor import Actor
from hookwright.agent.tools import Change, Created, Task
from hookwright.protocol.events import TaskCompleted, TaskCreated
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.visibility import Form, Reader, for_reader


def task_gate(actor: Actor) -> Callable[[Change], Awaitable[str | None]]:
    """Make the gate of one agent's bench: a text refuses the change and goes to the model."""

    async def gate(change: Change) -> str | None:
        cls = TaskCreated if isinstance(change, Created) else TaskCompleted
        outcome = await actor.fire(actor.event(cls, **task_fields(change.task)))
        actor.dialogue.record_firing(outcome)
        return feedback(outcome) if outcome.blocked else None

    return gate


def task_fields(task: Task) -> dict[str, Json]:
    """Give the fields of a task event."""
    return {
        "task_id": task.id,
        "task_subject": task.subject,
        "task_description": task.description or UNSET,
    }


def feedback(outcome: Outcome) -> str:
    """Join what a block says to the model."""
    said = [message.text for message in for_reader(outcome, Reader.MODEL) if message.form is Form.FEEDBACK]
    return "\n".join(said)
