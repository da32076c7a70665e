"""Chat completions, as served by OpenAI and many others, through the official SDK."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from hookwright.models._per_loop import PerLoop
from hookwright.models._requests import api_timeout, client_headers
from hookwright.models._sdk import api_errors, load_sdk, unreadable
from hookwright.models._system_role import SystemRole, blocks, place_system_messages, plain_text
from hookwright.models.types import (
    ApiError,
    Block,
    Delta,
    Message,
    NoThinking,
    Request,
    Response,
    TextDelta,
    ThinkingBudget,
    ToolDefinition,
    ToolUseDelta,
    Tuning,
    Usage,
    error_kind,
)
from hookwright.protocol.jsontext import Json

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_API = "the chat-completions API"
DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-6.1-terra"

#: Models that think, with the lowest effort each accepts; the others do not accept an effort.
_EFFORTS = (
    (re.compile(r"^gpt-5(-mini|-nano)?(-20\d\d.*)?$"), "minimal"),
    (re.compile(r"^gpt-5\.\d+-(chat|pro|codex)"), None),
    (re.compile(r"^gpt-(5\.\d|[6-9])"), "none"),
    (re.compile(r"^o[1-9]"), "low"),
)
#: Efforts above the highest of the models that take one together with tools.
_HIGHEST = {"xhigh": "high", "max": "high"}
_STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def request_body(request: Request, name: str) -> dict[str, Json]:
    """Build the body for chat completions."""
    messages = [*_system(request.system), *_chat_messages(request.messages)]
    effort = _least_effort(name)
    limit = "max_completion_tokens" if re.match(r"gpt-([5-9])|o[1-9]", name) else "max_tokens"
    body: dict[str, Json] = {"model": name, "messages": messages, limit: request.max_tokens}
    if request.tools:
        body["tools"] = [_function(tool) for tool in request.tools]
    # Newer models accept tools on this API only without thinking.
    off = not request.thinking or isinstance(request.tuning.thinking, NoThinking)
    if effort is not None and (off or (request.tools and effort == "none")):
        body["reasoning_effort"] = effort
    elif effort is not None and request.tuning.effort is not None:
        body["reasoning_effort"] = _HIGHEST.get(request.tuning.effort, request.tuning.effort)
    if request.schema is not None:
        body["response_format"] = _response_format(request.schema)
    if request.purpose != "conversation":
        body["extra_headers"] = {"x-hookwright-purpose": request.purpose}
    return body


def _least_effort(name: str) -> str | None:
    return next((effort for pattern, effort in _EFFORTS if pattern.match(name)), None)


def ignored_tuning(tuning: Tuning, name: str) -> tuple[str, ...]:
    """Return what has no effect on a model that has tools, or another one, a sentence each."""
    least, found = _least_effort(name), []
    if isinstance(tuning.thinking, ThinkingBudget):
        found.append(f"--max-thinking-tokens has no effect on {name}: {_API} takes an effort instead.")
    if tuning.thinking_display is not None:
        found.append(f"--thinking-display has no effect on {name}: {_API} returns no thoughts.")
    if tuning.effort is not None and least is None:
        found.append(f"--effort has no effect on {name}: it does not take one.")
    elif tuning.effort is not None and least == "none":
        found.append(f"--effort has no effect on {name}: {_API} takes its tools only without thinking.")
    elif tuning.effort in _HIGHEST:
        found.append(f"--effort {tuning.effort} is `{_HIGHEST[tuning.effort]}` on {name}, the most it takes.")
    if tuning.betas:
        found.append(f"--betas has no effect on {name}: {', '.join(tuning.betas)} belongs to the Messages API.")
    if tuning.task_budget is not None:
        found.append(f"--task-budget has no effect on {name}: {_API} does not take one.")
    return tuple(found)


def _system(text: str) -> list[dict[str, Json]]:
    return [{"role": "system", "content": text}] if text else []


def _function(tool: ToolDefinition) -> dict[str, Json]:
    spec = {"name": tool.name, "description": tool.description, "parameters": dict(tool.input_schema)}
    return {"type": "function", "function": spec}


def _response_format(schema: Mapping[str, Json]) -> dict[str, Json]:
    """Ask for strict adherence where the schema allows it: closed, and every property required."""
    closed = schema.get("additionalProperties") is False
    strict = closed and set(schema.get("properties", {})) == set(schema.get("required", ()))
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema), "strict": strict}}


def _chat_messages(messages: Sequence[Message]) -> list[dict[str, Json]]:
    """Turn block messages into chat messages: tool results become separate messages, thinking is dropped."""
    out: list[dict[str, Json]] = []
    for message in place_system_messages(messages, SystemRole.ANYWHERE):
        if message["role"] == "system":
            out.append(message)
        elif message["role"] == "assistant":
            out.append(_assistant(message))
        else:
            out += _user(message)
    return out


def _assistant(message: Message) -> dict[str, Json]:
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
        }
        for block in blocks(message)
        if block["type"] == "tool_use"
    ]
    text = plain_text(message)
    return (
        {"role": "assistant", "content": text, "tool_calls": calls} if calls else {"role": "assistant", "content": text}
    )


def _user(message: Message) -> list[dict[str, Json]]:
    content = blocks(message)
    results = [
        {"role": "tool", "tool_call_id": block["tool_use_id"], "content": _result_text(block)}
        for block in content
        if block["type"] == "tool_result"
    ]
    parts = [_part(block) for block in content if block["type"] != "tool_result"]
    if not parts:
        return results
    only_text = all(part["type"] == "text" for part in parts)
    said: Any = "\n\n".join(part["text"] for part in parts) if only_text else parts
    return [*results, {"role": "user", "content": said}]


def _result_text(block: Block) -> str:
    content = block.get("content", "")
    text = content if isinstance(content, str) else plain_text({"role": "user", "content": content})
    return f"Error: {text}" if block.get("is_error") else text


def _part(block: Block) -> dict[str, Json]:
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    source = block.get("source", {})
    if block["type"] == "image" and source.get("type") == "base64":
        url = f"data:{source['media_type']};base64,{source['data']}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": json.dumps(block)}


class OpenAIModel:
    """Asks a chat-completions API; `connect` makes the SDK's client, once per event loop."""

    def __init__(
        self, connect: Callable[[], AsyncOpenAI], *, main_model: str = DEFAULT_MODEL, small_model: str | None = None
    ) -> None:
        self.main_model = main_model
        self.small_model = main_model if small_model is None else small_model
        self._client = PerLoop(connect)

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> OpenAIModel:
        """Read address, key and model from the environment variables the SDK reads."""
        key = env.get("OPENAI_API_KEY") or ""
        url = env.get("OPENAI_BASE_URL") or DEFAULT_URL
        known: dict[str, Json] = {"api_key": key, "base_url": url, "timeout": api_timeout(env)}
        known["default_headers"] = client_headers(env)

        def connect() -> AsyncOpenAI:
            return load().AsyncOpenAI(**known)  # type: ignore[no-any-return]

        return cls(connect, main_model=env.get("OPENAI_MODEL") or DEFAULT_MODEL)

    async def complete(self, request: Request) -> Response:
        """Ask and wait for the whole answer."""
        client = await self._client.get()
        with api_errors(_API, load(), _reported):
            return _response(await client.chat.completions.create(**self._body(request)))

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Ask and yield the answer piece by piece."""
        client = await self._client.get()
        answer = _Answer()
        with api_errors(_API, load(), _reported):
            body = {**self._body(request), "stream_options": {"include_usage": True}}
            async with await client.chat.completions.create(**body, stream=True) as stream:
                async for chunk in stream:
                    for delta in answer.add(chunk):
                        yield delta
            yield answer.response()

    async def close(self) -> None:
        """Close the connections of the running loop."""
        await self._client.close()

    def ignored(self, tuning: Tuning, model: str) -> tuple[str, ...]:
        """Return what has no effect on a model, a sentence each."""
        return ignored_tuning(tuning, model)

    def _body(self, request: Request) -> dict[str, Json]:
        return request_body(request, self.main_model if request.model is None else request.model)


def load() -> Any:
    """Import the SDK."""
    return load_sdk(_API, "openai")


class _Answer:
    """Collects the pieces of one streamed answer."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._finish: str | None = None
        self._usage: Any = None
        self._id = self._model = ""

    def add(self, chunk: Any) -> Iterator[Delta]:
        """Add a chunk and yield its deltas."""
        self._id, self._model = chunk.id or self._id, chunk.model or self._model
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices[:1]:
            self._finish = choice.finish_reason or self._finish
            if choice.delta.content:
                self._text.append(choice.delta.content)
                yield TextDelta(choice.delta.content)
            for piece in choice.delta.tool_calls or ():
                yield from self._add_call(piece)

    def _add_call(self, piece: Any) -> Iterator[Delta]:
        call = self._calls.get(piece.index)
        if call is None:
            call = self._calls[piece.index] = {"id": piece.id, "name": piece.function.name, "arguments": ""}
            yield ToolUseDelta(call["id"], call["name"])
        if piece.function.arguments:
            call["arguments"] += piece.function.arguments
            yield ToolUseDelta(call["id"], call["name"], piece.function.arguments)

    def response(self) -> Response:
        """Return the whole answer; raise ApiError if the stream broke off."""
        if self._finish is None:
            raise ApiError(f"{_API} broke off its answer")
        calls = [(call["id"], call["name"], call["arguments"]) for call in self._calls.values()]
        return Response(
            content=_content("".join(self._text), calls),
            stop_reason=_STOP_REASONS.get(self._finish, self._finish),
            model=self._model,
            id=self._id,
            usage=_usage(self._usage),
        )


def _response(completion: Any) -> Response:
    if isinstance(completion, str) or not completion.choices:
        raise unreadable(_API, str(completion)[:200])
    choice = completion.choices[0]
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or ()]
    return Response(
        content=_content(choice.message.content or "", calls),
        stop_reason=_STOP_REASONS.get(choice.finish_reason, choice.finish_reason),
        model=completion.model,
        id=completion.id,
        usage=_usage(completion.usage),
    )


def _content(text: str, calls: Sequence[tuple[str, str, str]]) -> tuple[Block, ...]:
    said = [{"type": "text", "text": text}] if text else []
    uses = [{"type": "tool_use", "id": id_, "name": name, "input": _input(raw)} for id_, name, raw in calls]
    return (*said, *uses)


def _input(arguments: str) -> dict[str, Json]:
    """Read a call's arguments; anything but a JSON object stays visible, so the tool can refuse it."""
    try:
        return msgspec.json.decode(arguments or "{}", type=dict[str, Json])
    except msgspec.DecodeError:
        return {"unreadable_arguments": arguments}


def _usage(usage: Json) -> Usage:
    if usage is None:
        return Usage()
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens or 0) if details is not None else 0
    return Usage(usage.prompt_tokens - cached, usage.completion_tokens, 0, cached)


def _reported(error: Any) -> ApiError | None:
    """Read an error the API reported."""
    sdk = load()
    if isinstance(error, sdk.APIStatusError):
        status = error.status_code
        text = error.body.get("message", error.message) if isinstance(error.body, dict) else error.message
        kind = error_kind(status, error.code or error.type)
        return ApiError(f"{_API} answered {status}: {text}", kind=kind, status=status)
    if isinstance(error, sdk.APIError):
        return ApiError(f"{_API} failed: {error.message}", kind=error_kind(None, error.code))
    return None
