"""Between the items of the OpenAI Agents SDK and what hooks read."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from agents import AgentsException, FunctionTool, Handoff, RunResult, ToolApprovalItem

from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.protocol.jsontext import Json

#: Items that record a tool that the provider ran itself.
_HOSTED = frozenset({"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"})
_OUTPUT = "_call_output"


class RunEnded(AgentsException):
    """A hook ended the run; the SDK adds what the run did so far."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def ended_result(end: RunEnded) -> RunResult:
    """Return the result of a run that a hook ended: its output is the reason."""
    data = end.run_data
    if data is None:
        raise end
    return RunResult(
        input=data.input,
        new_items=data.new_items,
        raw_responses=data.raw_responses,
        final_output=end.reason,
        input_guardrail_results=data.input_guardrail_results,
        output_guardrail_results=data.output_guardrail_results,
        tool_input_guardrail_results=data.tool_input_guardrail_results,
        tool_output_guardrail_results=data.tool_output_guardrail_results,
        context_wrapper=data.context_wrapper,
        _last_agent=data.last_agent,
    )


def continued(result: Any, again: Sequence[str], options: Mapping[str, Any]) -> tuple[Any, list[Any], dict[str, Any]]:
    """Return the agent, the input and the arguments of the run after one that stop hooks sent back to work.

    Law: where a session or the service keeps the conversation, the input is the new texts; else it is everything.
    """
    items = user_items(again)
    given = dict(options)
    if given.get("previous_response_id") or given.get("auto_previous_response_id"):
        given["previous_response_id"] = result.last_response_id
    elif given.get("session") is None and not given.get("conversation_id"):
        items = [*result.to_input_list(), *items]
    return result.last_agent, items, given


def user_items(texts: Sequence[str]) -> list[Any]:
    """Return texts of hooks as messages of the user."""
    return [{"role": "user", "content": text} for text in texts]


def agent_name(agent: Any) -> str:
    """Return the name of an agent."""
    return getattr(agent, "name", None) or "agent"


def field(item: Any, name: str) -> Any:
    """Return a field of an item, which is a mapping or an object."""
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


def call_ids(interruptions: Iterable[ToolApprovalItem]) -> list[str]:
    """Return the ids of the calls that wait for a person."""
    found = [field(one.raw_item, "call_id") or field(one.raw_item, "id") for one in interruptions]
    return [str(one) for one in found if one]


def prompt_text(given: Any) -> str:
    """Return the text of a prompt: that of the messages after which the model has not spoken."""
    if isinstance(given, str):
        return given
    texts: list[str] = []
    for item in reversed(given):
        if field(item, "role") != "user":
            break
        texts.insert(0, _content(field(item, "content")))
    return "\n".join(texts)


def _content(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [field(part, "text") for part in content or ()]
    return "\n".join(part for part in parts if isinstance(part, str))


def is_history(given: Any) -> bool:
    """Return whether the input of a run has an answer of the model in it."""
    return isinstance(given, list) and any(field(item, "role") != "user" for item in given)


# ── reconciliation ──────────────────────────────────────────────────────────


def results(items: Sequence[Any], handoffs: Collection[str]) -> Iterator[SeenResult]:
    """Yield the results of tools in the input of a model; a handoff is not a tool."""
    names = {str(field(one, "call_id")): tool_name(one) for one in items if _is_call(one)}
    for item in items:
        if str(field(item, "type")).endswith(_OUTPUT):
            call_id = str(field(item, "call_id"))
            name = names.get(call_id) or str(field(item, "type")).removesuffix(_OUTPUT)
            if name not in handoffs:
                yield SeenResult(call_id, name)


def _is_call(item: Any) -> bool:
    return str(field(item, "type")).endswith("_call") and field(item, "call_id") is not None


def hosted(output: Sequence[Any]) -> Iterator[SeenResult]:
    """Yield the calls that the provider ran itself, from an answer of the model."""
    for item in output:
        kind = str(field(item, "type"))
        if kind in _HOSTED or kind == "mcp_call":
            yield SeenResult(str(field(item, "id")), tool_name(item))
        elif kind.endswith(_OUTPUT):
            yield SeenResult(str(field(item, "call_id")), kind.removesuffix(_OUTPUT))


def tool_name(item: Any) -> str:
    """Return the name of the tool that an item calls, as hooks know it."""
    name, server = field(item, "name"), field(item, "server_label")
    if server:
        return f"mcp__{server}__{name}"
    return str(name or str(field(item, "type")).removesuffix("_call"))


def handoff_names(agent: Any) -> set[str]:
    """Return the names under which a model hands over to other agents."""
    found = getattr(agent, "handoffs", None) or ()
    return {one.tool_name if isinstance(one, Handoff) else Handoff.default_tool_name(one) for one in found}


# ── tools ───────────────────────────────────────────────────────────────────


def parsed(arguments: str | None) -> dict[str, Json] | None:
    """Return the arguments of a call; none at all are an empty object, and None is what hooks could not judge."""
    if not (arguments or "").strip():
        return {}
    try:
        found = json.loads(arguments or "", parse_constant=_no_constant)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def unparsed(agent: Any, output: Sequence[Any]) -> Iterator[ToolApprovalItem]:
    """Yield the calls whose arguments no function can inspect: the SDK would ask a person about each of them."""
    for item in output:
        call = field(item, "type") == "function_call"
        if call and (not item.arguments.strip() or parsed(item.arguments) is None):
            yield ToolApprovalItem(agent=agent, raw_item=item, tool_name=item.name)


def fields_of(tools: Sequence[Any]) -> dict[str, Iterable[str]]:
    """Return the fields of function tools, by name; those of MCP servers have names that tell what they are."""
    found = [one for one in tools if isinstance(one, FunctionTool) and not server_of(one)]
    return {one.name: tuple(one.params_json_schema.get("properties") or ()) for one in found}


def server_of(tool: Any) -> str:
    """Return the MCP server of a tool; empty for any other."""
    origin = getattr(tool, "_tool_origin", None)
    return str(getattr(origin, "mcp_server_name", None) or "")


def mcp_tool_name(tool: Any) -> str:
    """Return the name that the server of a tool gives it; the SDK may have put the server in front."""
    binding = getattr(tool, "_mcp_tool_binding", None)
    return str(binding[1]) if binding else str(tool.name)


def with_notes(output: Json, notes: Sequence[str]) -> Json:
    """Return a result with the texts that belong to it, if it is a text."""
    return "\n\n".join([output, *notes]) if notes and isinstance(output, str) else output
