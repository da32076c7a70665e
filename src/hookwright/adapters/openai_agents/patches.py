"""The SDK's own patch tool with hooks around it: the model sends operations, an editor of the program applies them."""

from __future__ import annotations

import dataclasses
from typing import Any

from agents import ApplyPatchTool
from agents.editor import ApplyPatchOperation, ApplyPatchResult

from hookwright.adapters.bridge.orders import Before, NativeCall
from hookwright.adapters.openai_agents.run import HOOKED, Run, around, asks, current, result_of
from hookwright.protocol.jsontext import Json

_HEADERS = {"create_file": "Add", "update_file": "Update", "delete_file": "Delete"}


def hooked_patch(tool: ApplyPatchTool) -> ApplyPatchTool:
    """Return a patch tool with hooks around it; each operation is a call, and one that is refused refuses all."""
    policy = tool.needs_approval

    async def needs_approval(context: Any, operation: ApplyPatchOperation, call_id: str) -> bool:
        call = operation_call(current(), operation, call_id)
        return await asks(call, policy, context, operation, call_id)

    return dataclasses.replace(tool, editor=_Editor(tool.editor), needs_approval=needs_approval)


def patch_text(operation: ApplyPatchOperation) -> str:
    """Return an operation in the form of `apply_patch`."""
    header = f"*** {_HEADERS[operation.type]} File: {operation.path}"
    moved = [f"*** Move to: {operation.move_to}"] if operation.move_to else []
    text = [operation.diff] if operation.diff and operation.type != "delete_file" else []
    return "\n".join(["*** Begin Patch", header, *moved, *text, "*** End Patch"])


def operation_call(run: Run, operation: ApplyPatchOperation, call_id: str = "") -> NativeCall:
    """Return an operation as a call.

    The first one of a call has its id, so that the result of the call is known to be judged; a further one has its own.
    """
    key = (operation.type, operation.path, operation.diff, operation.move_to)
    if key not in run.operations:
        given: dict[str, Json] = {"patch": patch_text(operation)}
        others = run.patches.setdefault(call_id, []) if call_id else []
        name = f"{call_id}:{len(others)}" if others else call_id
        call = NativeCall("apply_patch", given, name) if name else NativeCall("apply_patch", given)
        others.append(call)
        run.operations[key] = call
    return run.operations[key]


class _Editor:
    """The editor of the program, with hooks around each operation."""

    def __init__(self, own: Any) -> None:
        self._own = own
        setattr(self, HOOKED, True)

    async def create_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        """Create a file if hooks let it."""
        return await self._edited(operation, self._own.create_file)

    async def update_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        """Change a file if hooks let it."""
        return await self._edited(operation, self._own.update_file)

    async def delete_file(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
        """Delete a file if hooks let it."""
        return await self._edited(operation, self._own.delete_file)

    async def _edited(self, operation: ApplyPatchOperation, own: Any) -> ApplyPatchResult:
        run = current()
        call = operation_call(run, operation)
        run.operations = {key: one for key, one in run.operations.items() if one is not call}
        reason = await _refusal(run, call)
        if reason is not None:
            return ApplyPatchResult(status="failed", output=reason)
        status: list[Any] = [None]

        async def work(order: Before) -> Json:  # noqa: ARG001 - a patch is not rewritten
            made = await result_of(own(operation))
            if not isinstance(made, ApplyPatchResult):
                return made or ""
            status[0] = made.status
            return made.output or ""

        output = await around(call, work)
        return ApplyPatchResult(status=status[0], output=output if isinstance(output, str) else str(output))


async def _refusal(run: Run, call: NativeCall) -> str | None:
    """Return why an operation must not run: hooks refused it, or another one of the same call."""
    if call.id not in run.verdicts:
        name = next((name for name, calls in run.patches.items() if call in calls), "")
        group = run.patches.pop(name, [call])
        judged = [(one, await run.judged(one)) for one in group]
        reasons = "\n".join(order.refusal for _, order in judged if order.refusal is not None)
        for one, order in judged:
            run.verdicts[one.id] = reasons or None
            if reasons:
                del run.orders[one.id]
            if reasons and order.refusal is None:
                await run.active.denied(one, reasons)
    return run.verdicts.pop(call.id)
