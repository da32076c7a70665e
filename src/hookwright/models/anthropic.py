"""The Messages API, through the official SDK."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from hookwright.models._per_loop import PerLoop
from hookwright.models._requests import api_timeout, client_headers
from hookwright.models._sdk import api_errors, load_sdk, unreadable
from hookwright.models._system_role import SystemRole, place_system_messages
from hookwright.models.types import (
    AdaptiveThinking,
    ApiError,
    Delta,
    NoThinking,
    Request,
    Response,
    Retrying,
    TextDelta,
    ThinkingBudget,
    ToolUseDelta,
    Tuning,
    Usage,
    error_kind,
)
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import canonical_model, has_effort

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_API = "the Messages API"
#: How often a request of the conversation is repeated, as in Claude Code.
DEFAULT_RETRIES = 10
#: How often a request is repeated, at most, whose repetitions are not reported: a hook's question has a time limit.
_UNSEEN_RETRIES = 2
_PASSING = frozenset({408, 409, 429})
_BUSY = frozenset({"overloaded", "rate_limit", "server_error"})
#: Seconds: the first and the longest pause before a repetition, and the longest one the API may ask for.
_FIRST_PAUSE, _LAST_PAUSE, _LONGEST_WISH = 0.5, 32.0, 60
DEFAULT_URL = "https://api.anthropic.com"
DEFAULT_MODEL = "claude-sonnet-5-5"
#: The short names used in settings files.
ALIASES = {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}


class Abilities(msgspec.Struct, frozen=True):
    """What differs between the models of this API."""

    system_role: SystemRole
    #: The body keys that turn thinking off, or as low as the model allows.
    without_thinking: Mapping[str, Json]
    #: Whether thinking can be `adaptive`, and whether it can have a budget.
    adaptive: bool = False
    budget: bool = True
    effort: bool = False
    task_budget: bool = False


_VERSION = re.compile(r"claude-(?:(?P<line>[a-z]+)-)?(?P<major>\d)(?:[-.](?P<minor>\d{1,2}))?(?![\d])")
_DISABLED = {"thinking": {"type": "disabled"}}
#: For models that always think.
_LEAST = {"output_config": {"effort": "low"}}
TASK_BUDGETS = "task-budgets-2026-03-13"


def abilities(name: str) -> Abilities:
    """Return what a model accepts, by its name; for an unknown one, what every model accepts."""
    found = _VERSION.match(canonical_model(name))
    if found is None:
        return Abilities(SystemRole.NOWHERE, {})
    version = (int(found["major"]), int(found["minor"] or 0))
    # Names with a provider's prefix belong to other clouds, which do not accept system messages at all.
    takes_system = name.startswith("claude-") and version >= (4, 8)
    return Abilities(
        SystemRole.AFTER_USER if takes_system else SystemRole.NOWHERE,
        _without_thinking(found["line"], version),
        adaptive=version >= (4, 6),
        budget=version < (4, 7),
        effort=has_effort(name),
        task_budget=version >= (5, 5) or (version >= (4, 7) and found["line"] in ("opus", "fable", "mythos")),
    )


def _without_thinking(line: str | None, version: tuple[int, int]) -> Mapping[str, Json]:
    if line in ("fable", "mythos") or (line == "opus" and version >= (5, 5)):
        return _LEAST
    if line == "sonnet" and version >= (5, 5):
        return {"thinking": {"type": "between_tools"}}
    return _DISABLED if version >= (4, 0) else {}


def request_body(request: Request, name: str) -> dict[str, Json]:
    """Build the body for the Messages API, without what enforces JSON."""
    can = abilities(name)
    body: dict[str, Json] = {
        "model": name,
        "max_tokens": request.max_tokens,
        "messages": place_system_messages(request.messages, can.system_role),
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = [msgspec.structs.asdict(tool) for tool in request.tools]
    if not request.thinking:
        body.update(can.without_thinking)
    body.update(_tuned(request, can))
    if request.purpose != "conversation":
        body.setdefault("extra_headers", {})["x-hookwright-purpose"] = request.purpose
    return body


def _tuned(request: Request, can: Abilities) -> dict[str, Json]:
    tuning = request.tuning
    found = _thinking(request, can)
    output = dict(found.get("output_config", {}))
    betas = list(tuning.betas)
    if tuning.effort is not None and can.effort:
        output["effort"] = tuning.effort
    if tuning.task_budget is not None and can.task_budget:
        output["task_budget"] = {"type": "tokens", "total": tuning.task_budget}
        betas.append(TASK_BUDGETS)
    if output:
        found["output_config"] = output
    if betas:
        found["extra_headers"] = {"anthropic-beta": ",".join(dict.fromkeys(betas))}
    return found


def _thinking(request: Request, can: Abilities) -> dict[str, Json]:
    """Return the body keys for thinking; its budget is part of the tokens of the answer."""
    shown = {} if request.tuning.thinking_display is None else {"display": request.tuning.thinking_display}
    match request.tuning.thinking:
        case NoThinking():
            return dict(can.without_thinking)
        case ThinkingBudget(tokens=tokens) if can.budget:
            thinking = {"type": "enabled", "budget_tokens": tokens, **shown}
            return {"thinking": thinking, "max_tokens": request.max_tokens + tokens}
        case ThinkingBudget() | AdaptiveThinking() if can.adaptive:
            return {"thinking": {"type": "adaptive", **shown}}
    return {}


def ignored_tuning(tuning: Tuning, name: str) -> tuple[str, ...]:
    """Return what has no effect on a model, or another one, a sentence each."""
    can, found = abilities(name), []
    match tuning.thinking:
        case NoThinking() if can.without_thinking is _LEAST:
            found.append(f"{name} always thinks; instead of no thinking it is asked for the effort `low`.")
        case NoThinking() if not can.without_thinking:
            found.append(f"--thinking disabled has no effect on {name}.")
        case AdaptiveThinking() if not can.adaptive:
            found.append(f"--thinking adaptive has no effect on {name}: it takes --max-thinking-tokens.")
        case ThinkingBudget(tokens=tokens) if not can.budget:
            found.append(f"{name} decides itself how much it thinks; it is not limited to {tokens} tokens.")
    if tuning.effort is not None and not can.effort:
        found.append(f"--effort has no effect on {name}: it does not take one.")
    if tuning.task_budget is not None and not can.task_budget:
        found.append(f"--task-budget has no effect on {name}: it does not take one.")
    return tuple(found)


def with_schema(body: Mapping[str, Json], schema: Mapping[str, Json]) -> dict[str, Json]:
    """Add a schema the API enforces for the answer."""
    output = {**body.get("output_config", {}), "format": {"type": "json_schema", "schema": dict(schema)}}
    return {**body, "output_config": output}


def with_prefill(body: Mapping[str, Json]) -> dict[str, Json]:
    """Start the answer with `{`, for models without structured output."""
    return {**body, "messages": [*body["messages"], {"role": "assistant", "content": "{"}]}


class AnthropicModel:
    """Asks the Messages API; `connect` makes the SDK's client, once per event loop."""

    def __init__(
        self, connect: Callable[[], AsyncAnthropic], *, main_model: str = DEFAULT_MODEL, small_model: str | None = None
    ) -> None:
        self.main_model = ALIASES.get(main_model, main_model)
        self.small_model = self.main_model if small_model is None else ALIASES.get(small_model, small_model)
        self._client = PerLoop(connect)
        self._without_schema: set[str] = set()

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> AnthropicModel:
        """Read address, key and models from the environment variables Claude Code reads."""
        key = env.get("ANTHROPIC_API_KEY") or None
        token = None if key else env.get("ANTHROPIC_AUTH_TOKEN") or None
        url = env.get("ANTHROPIC_BASE_URL") or DEFAULT_URL
        retries = env.get("CLAUDE_CODE_MAX_RETRIES", "")
        # Without an explicit time limit the SDK refuses long answers that are not streamed.
        known: dict[str, Json] = {"api_key": key, "auth_token": token, "base_url": url, "timeout": api_timeout(env)}
        known["default_headers"] = client_headers(env)
        known["max_retries"] = int(retries) if retries.isascii() and retries.isdigit() else DEFAULT_RETRIES

        def connect() -> AsyncAnthropic:
            return load().AsyncAnthropic(**known)  # type: ignore[no-any-return]

        main = env.get("ANTHROPIC_MODEL") or DEFAULT_MODEL
        return cls(connect, main_model=main, small_model=env.get("ANTHROPIC_SMALL_FAST_MODEL") or None)

    async def complete(self, request: Request) -> Response:
        """Ask and wait for the whole answer."""
        name = self._name(request)
        body = request_body(request, name)
        if request.schema is None:
            return await self._create(body)
        if name not in self._without_schema:
            try:
                return await self._create(with_schema(body, request.schema))
            except ApiError as error:
                if not _refuses_schema(error):
                    raise
                self._without_schema.add(name)
        return _opened(await self._create(with_prefill(body)))

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Ask and yield the answer piece by piece; only models with structured output enforce a schema."""
        body = request_body(request, self._name(request))
        if request.schema is not None:
            body = with_schema(body, request.schema)
        client = await self._client.get()
        attempt, begun = 0, False
        while True:
            try:
                async for delta in self._stream(client.with_options(max_retries=0), body):
                    begun = True
                    yield delta
                return
            except ApiError as error:
                delay = None if begun or attempt >= client.max_retries else retry_delay(error, attempt)
                if delay is None:
                    raise
                status, kind = error.status, error.kind
            attempt += 1
            yield Retrying(attempt=attempt, most=client.max_retries, delay=delay, status=status, error=kind)
            await asyncio.sleep(delay)

    async def _stream(self, client: AsyncAnthropic, body: Mapping[str, Json]) -> AsyncIterator[Delta]:
        tool: Any = None
        with api_errors(_API, load(), _reported):
            async with client.messages.stream(**body) as stream:
                async for event in stream:
                    if event.type == "text":
                        yield TextDelta(event.text)
                    elif event.type == "content_block_start":
                        tool = event.content_block if event.content_block.type == "tool_use" else None
                        if tool is not None:
                            yield ToolUseDelta(tool.id, tool.name)
                    elif event.type == "input_json" and tool is not None:
                        yield ToolUseDelta(tool.id, tool.name, event.partial_json)
                yield _response(await stream.get_final_message())

    async def close(self) -> None:
        """Close the connections of the running loop."""
        await self._client.close()

    def ignored(self, tuning: Tuning, model: str) -> tuple[str, ...]:
        """Return what has no effect on a model, a sentence each."""
        return ignored_tuning(tuning, ALIASES.get(model, model))

    def _name(self, request: Request) -> str:
        return self.main_model if request.model is None else ALIASES.get(request.model, request.model)

    async def _create(self, body: Mapping[str, Json]) -> Response:
        client = await self._client.get()
        client = client.with_options(max_retries=min(client.max_retries, _UNSEEN_RETRIES))
        with api_errors(_API, load(), _reported):
            return _response(await client.messages.create(**body))


def load() -> Any:
    """Import the SDK."""
    return load_sdk(_API, "anthropic")


def retry_delay(error: ApiError, attempt: int) -> float | None:
    """Return the seconds until a failed request is sent again, after so many repetitions; None if it is not.

    Law: the API's own word decides (`x-should-retry`); else requests are repeated that did not reach it, that it was
    too busy for or failed at. The pause is the one it asks for (`retry-after`), up to a minute, else half a second,
    doubled each time up to 32, and up to a quarter more, so that clients do not return together.
    """
    answer = getattr(error.__cause__, "response", None)
    headers: Mapping[str, str] = {} if answer is None else answer.headers
    asked = headers.get("x-should-retry")
    passing = isinstance(error.__cause__, load().APIConnectionError) or error.status in _PASSING
    if asked == "false" or not (asked == "true" or passing or error.kind in _BUSY):
        return None
    wanted = headers.get("retry-after", "")
    if wanted.isascii() and wanted.isdigit() and 0 < int(wanted) <= _LONGEST_WISH:
        return float(wanted)
    pause: float = min(_FIRST_PAUSE * 2**attempt, _LAST_PAUSE)
    return pause * (1 + random.random() / 4)


def _refuses_schema(error: ApiError) -> bool:
    pattern = r"output_config|output_format|output format|json_schema|structured output"
    return error.status == 400 and re.search(pattern, str(error), re.IGNORECASE) is not None


def _opened(response: Response) -> Response:
    """Put the prefilled `{` back in front of the text."""
    return msgspec.structs.replace(response, content=({"type": "text", "text": "{" + response.text},))


def _response(message: Any) -> Response:
    """Read the SDK's message; raise ApiError if a part of it is missing."""
    # The SDK returns half a message for a stream that broke off, and a string for an answer that is not JSON.
    if isinstance(message, str) or getattr(message, "stop_reason", None) is None or message.usage is None:
        raise unreadable(_API, str(message)[:200])
    usage = message.usage
    return Response(
        content=tuple(block.to_dict() for block in message.content),
        stop_reason=message.stop_reason,
        model=message.model,
        id=message.id,
        usage=Usage(
            usage.input_tokens or 0,
            usage.output_tokens or 0,
            usage.cache_creation_input_tokens or 0,
            usage.cache_read_input_tokens or 0,
        ),
    )


def _reported(error: Any) -> ApiError | None:
    """Read an error the API reported."""
    if not isinstance(error, load().APIStatusError):
        return None
    # An error inside a stream comes with the stream's own status, 200.
    status = error.status_code if error.status_code >= 400 else None
    where = f"{_API} failed" if status is None else f"{_API} answered {status}"
    kind = error_kind(status, error.error_code or error.type)
    return ApiError(f"{where}: {error.api_message or error.message}", kind=kind, status=status)
