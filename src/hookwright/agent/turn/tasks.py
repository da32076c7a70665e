"""Tasks and hooks: TaskCreated and TaskCompleted hooks see a change to a task before it is made."""

from __future__ import annotations

from msgspec import UNSET

from hookwright.agent.state.actor import caller
from hookwright.agent.tools import Change, Created, Task
from hookwright.protocol.events import TaskCompleted, TaskCreated
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.visibility import Place, model_texts


async def task_gate(change: Change) -> str | None:
    """Fire the event of a change on behalf of the calling agent; a text refuses the change and goes to the model."""
    actor = caller().actor
    cls = TaskCreated if isinstance(change, Created) else TaskCompleted
    outcome = await actor.fire(actor.event(cls, **task_fields(change.task)))
    actor.dialogue.record_firing(outcome)
    return feedback(outcome) if outcome.blocked else None


def task_fields(task: Task) -> dict[str, Json]:
    """Return the fields of a task event."""
    return {
        "task_id": task.id,
        "task_subject": task.subject,
        "task_description": task.description or UNSET,
    }


def feedback(outcome: Outcome) -> str:
    """Return the feedback of hooks that refused a change to a task."""
    return "\n".join(model_texts(outcome, Place.RESULT))
