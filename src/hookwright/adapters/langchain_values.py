"""Between the messages of LangChain and what hooks read."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from langchain.agents.structured_output import AutoStrategy, ToolStrategy
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from hookwright.adapters.bridge.orders import After
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.protocol.jsontext import Json

#: What a tool call comes to.
Answer: TypeAlias = ToolMessage | Command[Any]


def results(messages: Sequence[AnyMessage], outputs: Collection[str] = ()) -> Iterator[SeenResult]:
    """Yield the tool results of a conversation.

    Structured output is not a tool call to hooks. An error is not judged: the framework and its middlewares write
    errors for calls that they did not run.
    """
    calls = [call for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]
    names = {call["id"]: call["name"] for call in calls}
    for one in messages:
        if isinstance(one, ToolMessage) and one.status != "error":
            name = one.name or names.get(one.tool_call_id) or "a tool"
            if name not in outputs:
                yield SeenResult(one.tool_call_id, name)


def hosted(messages: Sequence[AnyMessage]) -> Iterator[SeenResult]:
    """Yield the calls that the provider ran itself."""
    for message in messages:
        if isinstance(message, AIMessage) and isinstance(message.content, list):
            for block in message.content_blocks:
                if block["type"] == "server_tool_call":
                    yield SeenResult(block["id"], block["name"])


def output_tools(wanted: Any) -> frozenset[str]:
    """Return the names of the tools by which a model gives structured output."""
    strategy = ToolStrategy(wanted.schema) if isinstance(wanted, AutoStrategy) else wanted
    return frozenset(one.name for one in strategy.schema_specs) if isinstance(strategy, ToolStrategy) else frozenset()


def message_of(answer: Answer, call_id: str) -> ToolMessage | None:
    """Return the result of a call; a command may hold it, or none."""
    if isinstance(answer, ToolMessage):
        return answer
    update = answer.update if isinstance(answer, Command) else None
    found = update.get("messages", ()) if isinstance(update, Mapping) else ()
    return next((one for one in found if isinstance(one, ToolMessage) and one.tool_call_id == call_id), None)


def value(message: ToolMessage | None) -> Json:
    """Return a result as hooks read it: its text, if it has nothing else."""
    if message is None:
        return None
    content: Any = message.content
    only_text = isinstance(content, str) or all(isinstance(one, str) or one.get("type") == "text" for one in content)
    return text(message) if only_text else content


def text(message: BaseMessage) -> str:
    """Return the text of a message."""
    return str(message.text)


def replaced(answer: Answer, message: ToolMessage, after: After) -> Answer:
    """Return an answer with what hooks made of its result; a rewritten result leaves no artifact that holds more."""
    if not after.rewritten and not after.notes:
        return answer
    kept: Any = _text(after.output) if after.rewritten else message.content
    content = "\n\n".join([kept, *after.notes]) if isinstance(kept, str) else [*kept, *_blocks(after.notes)]
    artifact = None if after.rewritten else message.artifact
    changed = message.model_copy(update={"content": content, "artifact": artifact})
    if isinstance(answer, ToolMessage):
        return changed
    update = dict(answer.update)  # type: ignore[arg-type]  # it has messages, so it is a mapping
    update["messages"] = [changed if one is message else one for one in update["messages"]]
    return Command(graph=answer.graph, update=update, resume=answer.resume, goto=answer.goto)


def _blocks(texts: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": "text", "text": one} for one in texts]


def last_prompts(messages: Sequence[AnyMessage]) -> list[HumanMessage]:
    """Return the user's messages after which the model has not spoken."""
    found: list[HumanMessage] = []
    for one in reversed(messages):
        if not isinstance(one, HumanMessage):
            break
        found.insert(0, one)
    return found


def user_messages(texts: Sequence[str]) -> list[HumanMessage]:
    """Return texts of hooks as messages of the user."""
    return [HumanMessage(one) for one in texts]


def _text(given: Json) -> str:
    return given if isinstance(given, str) else json.dumps(given, default=str)
