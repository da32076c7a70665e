"""The values of Google ADK as hooks read them, and the way back."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.genai import types
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from hookwright.adapters.bridge.orders import After
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.protocol.jsontext import Json

#: A tool that no model is offered: calling it carries what a Stop hook said back to the model.
CONTINUE = "hookwright_continue"
#: Calls of the framework itself; they ask a person, and run nothing.
ASKING = ("adk_request_confirmation", "adk_request_credential", "adk_request_input")
#: The framework's own tool for an answer with a schema: calling it is the answer.
ANSWER = "set_model_response"
#: The key under which a result carries what hooks say about it.
NOTES = "hook_messages"
MISFIT = "A hook rewrote the input of this call, and it does not fit the tool, so it did not run."

Result: TypeAlias = dict[str, Any]


def arguments_of(call_id: str, context: InvocationContext) -> dict[str, Json]:
    """Return the input of an earlier call of the session."""
    for event in reversed(context.session.events):
        for one in event.get_function_calls():
            if one.id == call_id:
                return dict(one.args or {})
    return {}


def misfit(tool: BaseTool, given: Mapping[str, Json]) -> str | None:
    """Return why an input that a hook wrote does not fit a function; None if it does, or the tool checks it itself."""
    if not isinstance(tool, FunctionTool):
        return None
    parameters = inspect.signature(tool.func, eval_str=True).parameters
    for name, value in given.items():
        kind = parameters[name].annotation if name in parameters else Any
        try:
            TypeAdapter(Any if kind is inspect.Parameter.empty else kind).validate_python(value)
        except PydanticSchemaGenerationError:
            continue
        except ValidationError as error:
            return f"{MISFIT} {name}: {error.errors()[0]['msg']}"
    return None


def value(result: Json) -> Json:
    """Return a result as hooks read it: the framework wraps a value that is not an object."""
    return result["result"] if isinstance(result, dict) and [*result] == ["result"] else result


def with_notes(native: Json, after: After) -> Result:
    """Return a result as the framework has it, with what hooks say about it."""
    output = after.output if after.rewritten else value(native)
    shown = output if isinstance(output, dict) else {"result": output}
    return {**shown, **({NOTES: list(after.notes)} if after.notes else {})}


def fields_of(tool: BaseTool) -> Sequence[str]:
    """Return the names of a tool's parameters."""
    declared = tool._get_declaration()
    if declared is None:
        return ()
    schema = declared.parameters_json_schema
    if isinstance(schema, dict):
        return tuple(schema.get("properties", ()))
    return tuple((declared.parameters.properties or ()) if declared.parameters is not None else ())


def parts_of(content: types.Content | None) -> list[types.Part]:
    """Return the parts of a content, if there are any."""
    return list(content.parts or ()) if content is not None else []


def of_a_tool(name: str | None) -> bool:
    """Return whether a result is that of a tool, and not of the framework or of ours."""
    return name not in (CONTINUE, ANSWER, *ASKING)


def results(contents: Sequence[types.Content]) -> Iterator[SeenResult]:
    """Yield the results of function calls."""
    for one in (part.function_response for content in contents for part in parts_of(content)):
        if one is not None and one.id and of_a_tool(one.name):
            yield SeenResult(one.id, one.name or "a tool")


def executed(contents: Sequence[types.Content | None]) -> Iterator[SeenResult]:
    """Yield code that the provider, or the agent's code executor, ran: neither calls a tool."""
    for content in contents:
        for part in parts_of(content):
            if part.code_execution_result is not None:
                yield SeenResult(
                    f"code-{hash(str(part.code_execution_result.output)) & 0xFFFFFFFF:x}", "code_execution"
                )


def grounded(response: LlmResponse) -> list[SeenResult]:
    """Return the searches that the provider made for an answer."""
    found = response.grounding_metadata
    queries = (found.web_search_queries or found.retrieval_queries or ()) if found is not None else ()
    return [SeenResult(f"search-{query}", "web_search") for query in queries]


def without_continue(contents: Sequence[types.Content]) -> list[types.Content]:
    """Return a history in which what a Stop hook said is a message of the user, and not a call."""
    kept: list[types.Content] = []
    for content in contents:
        parts: list[types.Part] = []
        for part in parts_of(content):
            if part.function_response is not None and part.function_response.name == CONTINUE:
                said = (part.function_response.response or {}).get("messages", ())
                parts += [types.Part(text=str(text)) for text in said]
            elif part.function_call is None or part.function_call.name != CONTINUE:
                parts.append(part)
        if parts or not parts_of(content):
            kept.append(content if parts == content.parts else types.Content(role=content.role, parts=parts))
    return kept


def from_user(text: str) -> types.Content:
    """Return a message of the user."""
    return types.Content(role="user", parts=[types.Part(text=text)])


def from_model(text: str) -> types.Content:
    """Return an answer of the model."""
    return types.Content(role="model", parts=[types.Part(text=text)])


def answered_by_hooks(text: str) -> LlmResponse:
    """Return a response that takes the place of a model call."""
    return LlmResponse(content=from_model(text))
