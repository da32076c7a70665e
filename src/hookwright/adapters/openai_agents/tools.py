"""The tools of the OpenAI Agents SDK with hooks around them: functions, shells, patches and custom tools."""

from __future__ import annotations

import copy
import dataclasses
import json
import shlex
from collections.abc import Awaitable, Callable
from typing import Any

from agents import ApplyPatchTool, CustomTool, FunctionTool, LocalShellTool, ModelBehaviorError, RunState, ShellTool

from hookwright.adapters.bridge.orders import Before, NativeCall
from hookwright.adapters.openai_agents.patches import hooked_patch
from hookwright.adapters.openai_agents.run import HOOKED, around, asks, current, marked, result_of
from hookwright.adapters.openai_agents.values import mcp_tool_name, parsed, server_of
from hookwright.protocol.jsontext import Json

#: Why a call is refused whose arguments are not an object.
_UNREADABLE = "The arguments of this call are not a JSON object, so hooks could not judge it and it did not run."
_UNASKED = "This call needs an approval, and without arguments no one can be asked about it, so it did not run."


# ── one wrapper per kind of tool ────────────────────────────────────────────


#: The pending calls of a state, with the field that holds the tool of each.
_PENDING = (
    ("shell_calls", "shell_tool"),
    ("local_shell_calls", "local_shell_tool"),
    ("apply_patch_calls", "apply_patch_tool"),
    ("custom_tool_calls", "custom_tool"),
)


def rehook(state: RunState[Any]) -> None:
    """Put hooks around the tools of the pending calls of a state.

    A state that was stored is read outside a run, where tools have no hooks. The SDK looks functions up again when it
    continues, but runs the others as they were read.
    """
    pending = state._last_processed_response
    for calls, name in _PENDING if pending is not None else ():
        for call in getattr(pending, calls):
            setattr(call, name, hooked(getattr(call, name)))


def hooked(tool: Any) -> Any:
    """Return a tool with hooks around it; one that the provider runs, or of a kind we do not know, as it is."""
    parts = (getattr(tool, name, None) for name in ("executor", "on_invoke_tool", "editor"))
    if any(hasattr(part, HOOKED) for part in parts):
        return tool
    match tool:
        case FunctionTool():
            return _function(tool)
        case ShellTool() if tool.executor is not None:
            return _shell(tool)
        case LocalShellTool():
            return dataclasses.replace(tool, executor=_local_shell(tool.executor))
        case ApplyPatchTool():
            return hooked_patch(tool)
        case CustomTool():
            return _custom(tool)
        case _:
            return tool


def _function(tool: FunctionTool) -> FunctionTool:
    wrapped = copy.copy(tool)
    own, policy = wrapped.on_invoke_tool, tool.needs_approval
    server = server_of(tool)

    def native(arguments: dict[str, Json], call_id: str) -> NativeCall:
        return NativeCall(mcp_tool_name(tool) if server else tool.name, arguments, call_id, server)

    @marked
    async def invoke(ctx: Any, arguments: str) -> Json:
        if callable(tool.is_enabled) and not await result_of(tool.is_enabled(ctx, ctx.agent)):
            raise ModelBehaviorError(f"Tool {tool.name} is currently disabled.")  # the SDK looks again as well
        given = parsed(arguments)
        if given is None:
            return _UNREADABLE
        if not arguments.strip() and policy is not False:
            return _UNASKED

        async def work(order: Before) -> Json:
            if order.input == given:
                return await own(ctx, arguments)
            ctx.tool_arguments = json.dumps(dict(order.input))
            return await own(ctx, ctx.tool_arguments)

        return await around(native(given, ctx.tool_call_id), work, tool.output_json_schema is None)

    async def needs_approval(context: Any, arguments: dict[str, Json], call_id: str) -> bool:
        return await asks(native(arguments, call_id), policy, context, arguments, call_id)

    wrapped.on_invoke_tool, wrapped.needs_approval = invoke, needs_approval
    handler = getattr(wrapped, "_failure_error_function", None)
    if handler is not None:  # the one exception to public names: the SDK has no other sign that such a tool failed
        wrapped._failure_error_function = _noting(handler)
    return wrapped


def _noting(handler: Callable[[Any, Exception], Any]) -> Callable[[Any, Exception], Awaitable[Any]]:
    async def noted(ctx: Any, error: Exception) -> Any:
        current().failures[ctx.tool_call_id] = str(error) or type(error).__name__
        return await result_of(handler(ctx, error))

    return noted


def _shell(tool: ShellTool) -> ShellTool:
    policy, own = tool.needs_approval, tool.executor

    def native(action: Any, call_id: str) -> NativeCall:
        given: dict[str, Json] = {"command": "\n".join(action.commands)}
        if action.timeout_ms is not None:
            given["timeout"] = action.timeout_ms / 1000
        return NativeCall("shell", given, call_id)

    @marked
    async def executor(request: Any) -> Json:
        call = native(request.data.action, request.data.call_id)

        async def work(order: Before) -> Json:
            if order.input == call.input:
                return await result_of(own(request))
            timeout = order.input.get("timeout")
            changed = dataclasses.replace(
                request.data.action,
                commands=[str(order.input["command"])],
                timeout_ms=round(timeout * 1000) if isinstance(timeout, int | float) else None,
            )
            return await result_of(
                own(dataclasses.replace(request, data=dataclasses.replace(request.data, action=changed)))
            )

        return await around(call, work)

    async def needs_approval(context: Any, action: Any, call_id: str) -> bool:
        return await asks(native(action, call_id), policy, context, action, call_id)

    return dataclasses.replace(tool, executor=executor, needs_approval=needs_approval)


_SHELLS = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh")


def _local_shell(own: Any) -> Callable[[Any], Awaitable[Json]]:
    """Return an executor with hooks; the SDK has no approval for it, so a question refuses the call."""

    @marked
    async def executor(request: Any) -> Json:
        action = request.data.action
        words = list(action.command)
        script = len(words) == 3 and words[0] in _SHELLS and words[1] in ("-c", "-lc")
        call = NativeCall("local_shell", {"command": words[2] if script else shlex.join(words)}, request.data.call_id)
        run = current()
        order = await run.judged(call)
        if order.refusal is None and order.ask is not None:
            del run.orders[call.id]
            await run.active.denied(call, order.ask)
            return order.ask

        async def work(order: Before) -> Json:
            if order.input == call.input:
                return await result_of(own(request))
            words[:] = [*(words[:2] if script else ("bash", "-lc")), str(order.input["command"])]
            data = request.data.model_copy(update={"action": action.model_copy(update={"command": words})})
            return await result_of(own(dataclasses.replace(request, data=data)))

        return await around(call, work)

    return executor


def _custom(tool: CustomTool) -> CustomTool:
    policy, own = tool.needs_approval, tool.on_invoke_tool

    @marked
    async def invoke(ctx: Any, text: str) -> Json:
        async def work(order: Before) -> Json:
            return await result_of(own(ctx, str(order.input["input"])))

        return await around(NativeCall(tool.name, {"input": text}, ctx.tool_call_id), work)

    async def needs_approval(context: Any, text: str, call_id: str) -> bool:
        return await asks(NativeCall(tool.name, {"input": text}, call_id), policy, context, text, call_id)

    return dataclasses.replace(tool, on_invoke_tool=invoke, needs_approval=needs_approval)
