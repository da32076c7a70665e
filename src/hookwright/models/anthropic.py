"""The Messages API, through the official SDK."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from hookwright.models._limits import api_timeout
from hookwright.models._per_loop import PerLoop
from hookwright.models._sdk import api_errors, load_sdk, unreadable
from hookwright.models._system_role import SystemRole, place_system_messages
from hookwright.models.types import (
    ApiError,
    Delta,
    Request,
    Response,
    TextDelta,
    ToolUseDelta,
    Tuning,
    Usage,
    error_kind,
)
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import canonical_model

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

_API = "the Messages API"
DEFAULT_URL = "https://api.anthropic.com"
DEFAULT_MODEL = "claude-sonnet-5-5"
#: The short names used in settings files.
ALIASES = {"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}


class Abilities(msgspec.Struct, frozen=True):
    """What differs between the models of this API."""

    system_role: SystemRole
    #: The body keys that turn thinking off, or as low as the model allows.
    without_thinking: Mapping[str, Json]


_VERSION = re.compile(r"claude-(?:(?P<line>[a-z]+)-)?(?P<major>\d)(?:[-.](?P<minor>\d{1,2}))?(?![\d])")
_DISABLED = {"thinking": {"type": "disabled"}}


def abilities(name: str) -> Abilities:
    """Return what a model accepts, by its name; for an unknown one, what every model accepts."""
    found = _VERSION.match(canonical_model(name))
    if found is None:
        return Abilities(SystemRole.NOWHERE, {})
    version = (int(found["major"]), int(found["minor"] or 0))
    # Names with a provider's prefix belong to other clouds, which do not accept system messages at all.
    takes_system = name.startswith("claude-") and version >= (4, 8)
    role = SystemRole.AFTER_USER if takes_system else SystemRole.NOWHERE
    if found["line"] in ("fable", "mythos") or (found["line"] == "opus" and version >= (5, 5)):
        return Abilities(role, {"output_config": {"effort": "low"}})
    if found["line"] == "sonnet" and version >= (5, 5):
        return Abilities(role, {"thinking": {"type": "between_tools"}})
    return Abilities(role, _DISABLED if version >= (4, 0) else {})


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
    body.update(_tuned(request.tuning, can))
    if request.purpose != "conversation":
        body.setdefault("extra_headers", {})["x-hookwright-purpose"] = request.purpose
    return body


def _tuned(tuning: Tuning, can: Abilities) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if tuning.thinking_tokens == 0:
        found.update(can.without_thinking)
    elif tuning.thinking_tokens is not None:
        found["thinking"] = {"type": "enabled", "budget_tokens": tuning.thinking_tokens}
    if tuning.effort is not None:
        found["output_config"] = {**found.get("output_config", {}), "effort": tuning.effort}
    if tuning.betas:
        found["extra_headers"] = {"anthropic-beta": ",".join(tuning.betas)}
    return found


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
        if retries.isascii() and retries.isdigit():
            known["max_retries"] = int(retries)

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

    def _name(self, request: Request) -> str:
        return self.main_model if request.model is None else ALIASES.get(request.model, request.model)

    async def _create(self, body: Mapping[str, Json]) -> Response:
        client = await self._client.get()
        with api_errors(_API, load(), _reported):
            return _response(await client.messages.create(**body))


def load() -> Any:
    """Import the SDK."""
    return load_sdk(_API, "anthropic")


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
