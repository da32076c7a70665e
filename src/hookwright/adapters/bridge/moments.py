"""One law for both colours of a framework: a moment is a generator, run in a plain function or in a coroutine.

A moment yields a `Pending` to wait for it, or a request for the framework's own handler, and is sent the answer. What
waiting or the handler raises is raised in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any

from hookwright.adapters.bridge.portal import Pending

Steps = Generator[Any, Any, Any]


def _none(request: Any) -> Any:
    raise AssertionError(f"this moment has no handler for {request!r}")


def waited(steps: Steps, handler: Callable[[Any], Any] = _none) -> Any:
    """Run a moment in a plain function."""
    try:
        wanted = next(steps)
        while True:
            try:
                got = wanted.result() if isinstance(wanted, Pending) else handler(wanted)
            except BaseException as error:  # the moment decides what an error means
                wanted = steps.throw(error)
            else:
                wanted = steps.send(got)
    except StopIteration as end:
        return end.value


async def awaited(steps: Steps, handler: Callable[[Any], Awaitable[Any]] = _none) -> Any:
    """Run a moment in a coroutine."""
    try:
        wanted = next(steps)
        while True:
            try:
                got = await (wanted if isinstance(wanted, Pending) else handler(wanted))
            except BaseException as error:  # the moment decides what an error means
                wanted = steps.throw(error)
            else:
                wanted = steps.send(got)
    except StopIteration as end:
        return end.value
