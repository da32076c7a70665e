"""The configured handlers: plain frozen data, one class per kind."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Source


class Kind(enum.Enum):
    """The kinds of handlers, by their wire names."""

    COMMAND = "command"
    HTTP = "http"
    MCP_TOOL = "mcp_tool"
    PROMPT = "prompt"
    AGENT = "agent"
    CALLBACK = "callback"
    FUNCTION = "function"

    #: Members are singletons, the hash of Enum is slow Python code, and every event looks kinds up in tables.
    __hash__ = object.__hash__


class OnFailure(enum.Enum):
    """What a handler that failed means for the event."""

    CONTINUE = "continue"
    BLOCK = "block"


class HandlerMode(enum.Enum):
    """Whether what a handler says has an effect."""

    ENFORCE = "enforce"
    #: It runs and is recorded; it decides nothing.
    SHADOW = "shadow"


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """What every kind of handler has."""

    kind: ClassVar[Kind]

    source: Source
    #: The permission rule of the `if` key, as written.
    condition: str | None = None
    #: Seconds; None means the default of event and kind.
    timeout: float | None = None
    status_message: str | None = None
    once: bool = False
    on_failure: OnFailure = OnFailure.CONTINUE
    mode: HandlerMode = HandlerMode.ENFORCE

    @property
    def shadow(self) -> bool:
        """Whether the handler runs without any effect, to see what it would decide."""
        return self.mode is HandlerMode.SHADOW

    @property
    def label(self) -> str:
        """The handler as it was configured, not expanded."""
        raise AssertionError("every kind has its own label")

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes two handlers of one event duplicates (R-015)."""
        raise AssertionError("every kind has its own identity")

    @property
    def background(self) -> bool:
        """Whether the handler runs in the background."""
        return False


class CommandHandler(Handler, frozen=True, kw_only=True):
    """A shell line, or a program with arguments when `args` is given."""

    kind: ClassVar[Kind] = Kind.COMMAND

    command: str
    args: tuple[str, ...] | None = None
    shell: str | None = None
    is_async: bool = False
    async_rewake: bool = False
    #: `"warm"` runs a Python hook in a pre-warmed interpreter, `"resident"` keeps one resident process.
    worker: str | None = None

    @property
    def label(self) -> str:
        return self.command

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.kind, self.command, self.args, self.condition)

    @property
    def background(self) -> bool:
        return self.is_async or self.async_rewake


class HttpHandler(Handler, frozen=True, kw_only=True):
    """A URL that gets the event as a POST."""

    kind: ClassVar[Kind] = Kind.HTTP

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    allowed_env_vars: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.url

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.kind, self.url)


class McpToolHandler(Handler, frozen=True, kw_only=True):
    """A tool of a connected MCP server."""

    kind: ClassVar[Kind] = Kind.MCP_TOOL

    server: str
    tool: str
    input: dict[str, Json] = msgspec.field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.server}/{self.tool}"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.kind, self.server, self.tool, msgspec.json.encode(self.input, order="sorted"), self.condition)


class PromptHandler(Handler, frozen=True, kw_only=True):
    """A yes/no question to a model."""

    kind: ClassVar[Kind] = Kind.PROMPT

    prompt: str
    model: str | None = None
    continue_on_block: bool = False

    @property
    def label(self) -> str:
        return self.prompt

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.kind, self.prompt)


class AgentHandler(Handler, frozen=True, kw_only=True):
    """A small verifying agent; registered in code, its prompt may be a function of the messages."""

    kind: ClassVar[Kind] = Kind.AGENT

    prompt: str | Callable[[list[dict[str, Json]]], str]
    model: str | None = None

    @property
    def label(self) -> str:
        return self.prompt if isinstance(self.prompt, str) else getattr(self.prompt, "__name__", "agent")

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.kind, self.prompt)


class CallbackHandler(Handler, frozen=True, kw_only=True):
    """A Python callable that gets the event and returns an output object or nothing."""

    kind: ClassVar[Kind] = Kind.CALLBACK

    function: Callable[..., Any]

    @property
    def label(self) -> str:
        return "callback"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.kind, id(self.function))


class FunctionHandler(Handler, frozen=True, kw_only=True):
    """A Python predicate over the conversation, for Stop."""

    kind: ClassVar[Kind] = Kind.FUNCTION

    function: Callable[..., Any]
    error_message: str

    @property
    def label(self) -> str:
        return "function"

    @property
    def identity(self) -> tuple[object, ...]:
        return (self.kind, id(self.function))


class MatcherGroup(msgspec.Struct, frozen=True):
    """One matcher and its handlers, for one event."""

    event: str
    matcher: str | None
    handlers: tuple[Handler, ...]
