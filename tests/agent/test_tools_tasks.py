"""The task list: shapes, refusals by the gate, and what waits for what."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.benches import call, make_bench
from hookwright.agent.tools import Change, Completed, Created, ToolContext


@pytest.fixture
def bench(tmp_path: Path) -> ToolContext:
    return make_bench(tmp_path)


def refusing(bench: ToolContext, kind: type[Change], text: str) -> list[Change]:
    """Let the gate refuse one kind of change, and note what it heard."""
    heard: list[Change] = []

    async def gate(change: Change) -> str | None:
        heard.append(change)
        return text if isinstance(change, kind) else None

    bench.gate = gate
    return heard


def test_a_task_lives_from_pending_to_deleted(bench: ToolContext) -> None:
    made = call(bench, "TaskCreate", subject="Do A", description="Desc A", activeForm="Doing A")
    assert (made.response, made.text) == (
        {"task": {"id": "1", "subject": "Do A", "description": "Desc A"}},
        "Task #1 created successfully: Do A",
    )
    done = call(bench, "TaskUpdate", taskId="1", status="completed", owner="me")
    assert done.response == {
        "success": True,
        "taskId": "1",
        "updatedFields": ["status", "owner"],
        "statusChange": {"from": "pending", "to": "completed"},
    }
    assert done.text == "Updated task #1 status, owner"
    assert call(bench, "TaskList").text == "#1 [completed] Do A (me)"
    call(bench, "TaskUpdate", taskId="1", status="deleted")
    assert call(bench, "TaskList").text == "No tasks found"
    assert call(bench, "TaskCreate", subject="B", description="").response["task"]["id"] == "2"


def test_an_unknown_task_is_an_answer_not_an_error(bench: ToolContext) -> None:
    done = call(bench, "TaskUpdate", taskId="1", status="completed")
    assert (done.is_error, done.text) == (False, "Task not found")


def test_a_refused_task_is_not_on_the_list(bench: ToolContext) -> None:
    heard = refusing(bench, Created, "TaskCreated hook feedback:\nno")
    done = call(bench, "TaskCreate", subject="Do A", description="Desc A")
    assert (done.is_error, done.text) == (True, "TaskCreated hook feedback:\nno")
    assert isinstance(heard[0], Created)
    assert (heard[0].task.id, heard[0].task.subject, heard[0].task.description) == ("1", "Do A", "Desc A")
    assert bench.board.tasks() == ()


def test_a_refused_completion_leaves_the_task_as_it_was(bench: ToolContext) -> None:
    heard = refusing(bench, Completed, "TaskCompleted hook feedback:\nnot yet")
    call(bench, "TaskCreate", subject="Do A", description="")
    done = call(bench, "TaskUpdate", taskId="1", status="completed", subject="Other")
    assert (done.is_error, done.text) == (False, "TaskCompleted hook feedback:\nnot yet")
    assert [type(change) for change in heard] == [Created, Completed]
    task = bench.board.get("1")
    assert task is not None
    assert (task.status, task.subject) == ("pending", "Do A")
    call(bench, "TaskUpdate", taskId="1", status="in_progress")
    assert len(heard) == 2


def test_tasks_wait_for_each_other_until_the_blocker_is_done_or_gone(bench: ToolContext) -> None:
    for name in "ABC":
        call(bench, "TaskCreate", subject=name, description="")
    call(bench, "TaskUpdate", taskId="1", addBlocks=["2"])
    call(bench, "TaskUpdate", taskId="2", addBlockedBy=["3", "2", "99"])
    assert str(call(bench, "TaskList").text).splitlines()[1] == "#2 [pending] B [blocked by #1, #3]"
    call(bench, "TaskUpdate", taskId="1", status="completed")
    call(bench, "TaskUpdate", taskId="3", status="deleted")
    assert str(call(bench, "TaskList").text).splitlines()[1] == "#2 [pending] B"
