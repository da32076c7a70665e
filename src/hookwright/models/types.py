"""Requests to a model and its responses; the clients are in `hookwright.models`.

Messages are plain dicts in the block shape of the Messages API, which is the neutral form here:
`{"role": "user" | "assistant" | "system", "content": text or blocks}`, and a block is
`{"type": "text", "text"}`, `{"type": "tool_use", "id", "name", "input"}` or
`{"type": "tool_result", "tool_use_id", "content", "is_error"}`. A `system` message may appear anywhere; each
client turns it into what its API accepts. Blocks of other types are kept unchanged, so they can be sent back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec

from hookwright.errors import ModelError
from hookwright.protocol.jsontext import Json

Block = Mapping[str, Json]
Message = Mapping[str, Json]

#: Why a call failed, as the StopFailure event names it.
ErrorKind = Literal[
    "rate_limit",
    "overloaded",
    "authentication_failed",
    "billing_error",
    "invalid_request",
    "model_not_found",
    "server_error",
    "max_output_tokens",
    "unknown",
]


class ApiError(ModelError):
    """A model API refused a request, could not be reached or answered with something unreadable."""

    def __init__(self, message: str, *, kind: ErrorKind = "unknown", status: int | None = None) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.status = status


class NoModel(ApiError):
    """No model is configured."""

    def __init__(self) -> None:
        super().__init__(
            "no model is configured; set ANTHROPIC_API_KEY (or OPENAI_API_KEY), or pass Powers(model=...)",
            kind="authentication_failed",
        )


_KINDS_BY_CODE: dict[str | None, ErrorKind] = {
    "billing_error": "billing_error",
    "insufficient_quota": "billing_error",
    "enforced_spend_limit_reached": "billing_error",
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate_limit",
    "authentication_error": "authentication_failed",
    "permission_error": "authentication_failed",
    "api_error": "server_error",
    "timeout_error": "server_error",
    "model_not_found": "model_not_found",
}
_KINDS_BY_STATUS: dict[int | None, ErrorKind] = {
    401: "authentication_failed",
    402: "billing_error",
    403: "authentication_failed",
    404: "model_not_found",
    413: "invalid_request",
    422: "invalid_request",
    429: "rate_limit",
    529: "overloaded",
}


def error_kind(status: int | None, code: str | None) -> ErrorKind:
    """Classify a failed call by the error code in the answer, else by its HTTP status; a plain 400 is unknown."""
    if code in _KINDS_BY_CODE:
        return _KINDS_BY_CODE[code]
    if status in _KINDS_BY_STATUS:
        return _KINDS_BY_STATUS[status]
    return "server_error" if status is not None and status >= 500 else "unknown"


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool the model may call."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


class NoThinking(msgspec.Struct, frozen=True):
    """Thinking is turned off, or as low as the model allows."""


class ThinkingBudget(msgspec.Struct, frozen=True):
    """The model may think for this many tokens; a model that only knows adaptive thinking decides itself."""

    tokens: int


class AdaptiveThinking(msgspec.Struct, frozen=True):
    """The model decides when and how much it thinks."""


Thinking = NoThinking | ThinkingBudget | AdaptiveThinking


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """How a model works on the main conversation, where the API takes it."""

    #: None for the default of the API.
    thinking: Thinking | None = None
    #: How the API returns thoughts: `summarized` or `omitted`.
    thinking_display: str | None = None
    #: low, medium, high, xhigh or max.
    effort: str | None = None
    betas: tuple[str, ...] = ()
    #: Tokens the model is asked to manage with, over all requests of a prompt.
    task_budget: int | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model."""

    messages: Sequence[Message]
    system: str = ""
    tools: Sequence[ToolDefinition] = ()
    #: The JSON schema of the answer; None for free text.
    schema: Mapping[str, Json] | None = None
    #: None asks the client's main model.
    model: str | None = None
    max_tokens: int = 8192
    #: False turns thinking off, or as low as the model allows.
    thinking: bool = True
    tuning: Tuning = Tuning()
    #: What the call is for; anything but `conversation` is non-interactive. Clients send it as `x-hookwright-purpose`.
    purpose: str = "conversation"


class Usage(msgspec.Struct, frozen=True):
    """The tokens charged for a call."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, name) + getattr(other, name) for name in Usage.__struct_fields__))

    @property
    def context_tokens(self) -> int:
        """All tokens the model read."""
        return self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """The model's answer; `content` is sent back unchanged as the assistant's message."""

    content: tuple[Block, ...]
    stop_reason: str
    model: str
    id: str = ""
    usage: Usage = Usage()

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(block["text"] for block in self.content if block["type"] == "text")

    @property
    def tool_uses(self) -> tuple[Block, ...]:
        """The tool calls, in order."""
        return tuple(block for block in self.content if block["type"] == "tool_use")


class TextDelta(msgspec.Struct, frozen=True):
    """The next piece of the text."""

    text: str


class ToolUseDelta(msgspec.Struct, frozen=True):
    """The next piece of a tool call; the first one has an empty `partial_json`."""

    id: str
    name: str
    partial_json: str = ""


class Retrying(msgspec.Struct, frozen=True, kw_only=True):
    """A request failed and is sent again after a pause; nothing of its answer came before."""

    #: 1 for the first repetition.
    attempt: int
    most: int
    #: Seconds until then.
    delay: float
    status: int | None
    error: ErrorKind


#: A stream ends with exactly one Response, which contains all deltas of text and tool calls.
Delta = TextDelta | ToolUseDelta | Retrying | Response


@runtime_checkable
class Tunable(Protocol):
    """A model that knows which tuning it cannot apply."""

    def ignored(self, tuning: Tuning, model: str) -> tuple[str, ...]:
        """Return a sentence for each part of a tuning that has no effect on a model, or another one."""
        ...


class Model(Protocol):
    """A language model; every failure of its API is an ApiError."""

    @property
    def main_model(self) -> str:
        """The model that answers requests without a model name."""
        ...

    @property
    def small_model(self) -> str:
        """The model for hooks: the small fast one if configured, else the main one."""
        ...

    async def complete(self, request: Request) -> Response:
        """Ask and wait for the whole answer."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Ask and yield the answer piece by piece; closing the iterator ends the call."""
        ...

    async def close(self) -> None:
        """Close connections; the model can still be used afterwards."""
        ...
