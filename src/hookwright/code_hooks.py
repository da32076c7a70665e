"""Register hooks in code: `@hooks.on(PreToolUse, "Bash")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hookwright.matching.matchers import MatchNothing, compile_matcher
from hookwright.protocol.events import CATALOGUE, Event
from hookwright.protocol.handlers import CallbackHandler, FunctionHandler, Handler, MatcherGroup, OnFailure
from hookwright.protocol.sources import Scope, Source
from hookwright.text import did_you_mean

F = TypeVar("F", bound=Callable[..., Any])


class Hooks:
    """Hooks of a program, in the order they were registered."""

    def __init__(self) -> None:
        self._groups: list[MatcherGroup] = []

    @property
    def groups(self) -> tuple[MatcherGroup, ...]:
        """The registered hooks, as `HookSet.build` and `HookSet.plus` take them."""
        return tuple(self._groups)

    def on(
        self,
        event: type[Event] | str,
        matcher: str | None = None,
        *,
        timeout: float | None = None,
        timeout_ms: float | None = None,
        on_failure: str = "continue",
        condition: str | None = None,
    ) -> Callable[[F], F]:
        """Register the decorated function for an event; `timeout` is in seconds, `timeout_ms` in milliseconds."""
        name = _name(event)
        limit = timeout_ms / 1000 if timeout_ms is not None else timeout
        failure = OnFailure(on_failure)
        _check(matcher)

        def register(function: F) -> F:
            handler = CallbackHandler(
                source=_source(function, name),
                function=function,
                timeout=limit,
                on_failure=failure,
                condition=condition,
            )
            self._add(name, matcher, handler)
            return function

        return register

    def until(
        self, error_message: str, *, event: type[Event] | str = "Stop", timeout_ms: float | None = None
    ) -> Callable[[F], F]:
        """Register a predicate over the conversation: while it is false, the agent continues with `error_message`."""
        if not error_message:
            raise ValueError("error_message is required: the model reads it as what to do next")
        name = _name(event)

        def register(function: F) -> F:
            limit = timeout_ms / 1000 if timeout_ms is not None else None
            handler = FunctionHandler(
                source=_source(function, name), function=function, error_message=error_message, timeout=limit
            )
            self._add(name, None, handler)
            return function

        return register

    def add(self, event: type[Event] | str, handler: Handler, matcher: str | None = None) -> None:
        """Register a handler of any kind."""
        _check(matcher)
        self._add(_name(event), matcher, handler)

    def _add(self, name: str, matcher: str | None, handler: Handler) -> None:
        self._groups.append(MatcherGroup(name, matcher, (handler,)))


def _name(event: type[Event] | str) -> str:
    name = event if isinstance(event, str) else event.__name__
    if name not in CATALOGUE:
        meant = did_you_mean(name, CATALOGUE) or f"; the events are {', '.join(CATALOGUE)}"
        raise ValueError(f"`{name}` is not an event{meant}")
    return name


def _check(matcher: str | None) -> None:
    """Raise ValueError for a matcher that can never match, since its hook would silently never run."""
    compiled = compile_matcher(matcher)
    if isinstance(compiled, MatchNothing):
        raise ValueError(f"the matcher `{matcher}` is not valid: {compiled.error}")


def _source(function: Callable[..., Any], event: str) -> Source:
    code = getattr(function, "__code__", None)
    path = code.co_filename if code is not None else ""
    line = code.co_firstlineno if code is not None else 0
    return Source(Scope.PROGRAM, path, f"{event} {getattr(function, '__qualname__', repr(function))}", line)
