"""TaskCreate, TaskUpdate, TaskList: the session's task list.

The context's gate decides on every task about to be created or completed; a string from it refuses the change.
"""

from __future__ import annotations

import msgspec

from hookwright.agent.tools.board import COMPLETED, DELETED, IN_PROGRESS, PENDING, Change, Completed, Created, Task
from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.tool import Effect, Input, Tool, ToolResult, failed, parameters, shape
from hookwright.protocol.jsontext import Json

#: Input fields of TaskUpdate that set a field of the task.
_PLAIN = {
    "status": "status",
    "subject": "subject",
    "description": "description",
    "activeForm": "active_form",
    "owner": "owner",
}


async def create(arguments: Input, context: ToolContext) -> ToolResult:
    """Create a task, unless the gate refuses it."""
    task = Task(
        id=context.board.next_id(),
        subject=arguments["subject"],
        description=arguments["description"],
        active_form=arguments.get("activeForm"),
    )
    refusal = await _refusal(context, Created(task))
    if refusal is not None:
        return failed(refusal)
    context.board.put(task)
    response = {"task": {"id": task.id, "subject": task.subject, "description": task.description}}
    return ToolResult(response, render_created(response))


async def update(arguments: Input, context: ToolContext) -> ToolResult:
    """Change a task; a refused completion leaves its status unchanged."""
    name = arguments["taskId"]
    task = context.board.get(name)
    if task is None:
        response: dict[str, Json] = {"success": False, "taskId": name, "updatedFields": [], "error": "Task not found"}
        return ToolResult(response, render_updated(response))
    plain = {field: arguments[key] for key, field in _PLAIN.items() if key in arguments}
    changed = msgspec.structs.replace(task, **plain)
    completes = changed.status == COMPLETED and task.status != COMPLETED
    refusal = await _refusal(context, Completed(changed)) if completes else None
    if refusal is not None:
        response = {"success": False, "taskId": name, "updatedFields": [], "error": refusal}
        return ToolResult(response, render_updated(response))
    context.board.put(changed)
    context.board.block(name, arguments.get("addBlockedBy", ()))
    for other in arguments.get("addBlocks", ()):
        context.board.block(other, (name,))
    fields = [key for key, field in _PLAIN.items() if getattr(changed, field) != getattr(task, field)]
    fields += [key for key in ("addBlocks", "addBlockedBy") if arguments.get(key)]
    response = {"success": True, "taskId": name, "updatedFields": fields}
    if changed.status != task.status:
        response["statusChange"] = {"from": task.status, "to": changed.status}
    return ToolResult(response, render_updated(response))


async def list_tasks(arguments: Input, context: ToolContext) -> ToolResult:  # noqa: ARG001 - every tool gets its input
    """List all tasks."""
    rows = []
    for task in context.board.tasks():
        row: dict[str, Json] = {"id": task.id, "subject": task.subject, "status": task.status}
        if task.owner is not None:
            row["owner"] = task.owner
        rows.append({**row, "blockedBy": list(context.board.open_blockers(task))})
    response = {"tasks": rows}
    return ToolResult(response, render_list(response))


async def _refusal(context: ToolContext, change: Change) -> str | None:
    return None if context.gate is None else await context.gate(change)


def render_created(response: Json) -> str:
    """Return a line about the created task."""
    return f"Task #{response['task']['id']} created successfully: {response['task']['subject']}"


def render_updated(response: Json) -> str:
    """Return what was changed, or why nothing was."""
    if not response["success"]:
        return str(response.get("error", "Task not updated"))
    return f"Updated task #{response['taskId']} {', '.join(response['updatedFields'])}".rstrip()


def render_list(response: Json) -> str:
    """Return one task per line."""
    lines = []
    for task in response["tasks"]:
        owner = f" ({task['owner']})" if task.get("owner") else ""
        waits = [f"#{name}" for name in task.get("blockedBy", ())]
        blocked = f" [blocked by {', '.join(waits)}]" if waits else ""
        lines.append(f"#{task['id']} [{task['status']}] {task['subject']}{owner}{blocked}")
    return "\n".join(lines) or "No tasks found"


def _text(description: str) -> dict[str, Json]:
    return {"type": "string", "description": description}


def _ids(description: str) -> dict[str, Json]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


TASK_CREATE = Tool(
    name="TaskCreate",
    description="Add a task to the session's task list.",
    parameters=parameters(
        {"subject": _text("a short title"), "description": _text("what needs to be done")},
        {"activeForm": _text("the title while the task is in progress")},
    ),
    effect=Effect.SESSION,
    run=create,
    output=shape({"task": shape({"id": "string", "subject": "string"}, {"description": "string"})}),
    render=render_created,
)

TASK_UPDATE = Tool(
    name="TaskUpdate",
    description="Change a task of the session's task list: its status, text, owner or dependencies.",
    parameters=parameters(
        {"taskId": _text("the number of the task")},
        {
            "status": {"type": "string", "enum": [PENDING, IN_PROGRESS, COMPLETED, DELETED]},
            "subject": _text("a new title"),
            "description": _text("a new description"),
            "activeForm": _text("the title while the task is in progress"),
            "owner": _text("who does it"),
            "addBlocks": _ids("tasks that wait for this one"),
            "addBlockedBy": _ids("tasks this one waits for"),
        },
    ),
    effect=Effect.SESSION,
    run=update,
    output=shape(
        {"success": "boolean", "taskId": "string", "updatedFields": {"type": "array", "items": {"type": "string"}}},
        {"error": "string", "statusChange": shape({"from": "string", "to": "string"})},
    ),
    render=render_updated,
)

TASK_LIST = Tool(
    name="TaskList",
    description="List the tasks of the session.",
    parameters=parameters({}),
    effect=Effect.SESSION,
    run=list_tasks,
    output=shape(
        {"tasks": {"type": "array", "items": shape({"id": "string", "subject": "string", "status": "string"})}}
    ),
    render=render_list,
)
