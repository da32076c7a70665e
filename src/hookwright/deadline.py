"""Wait for a reply within a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator
from types import CoroutineType, coroutine
from typing import Any, cast

from hookwright.protocol.replies import Reply, TimedOut


async def within(reply: Awaitable[Reply], limit: float) -> Reply:
    """Wait for a reply until `limit` seconds have passed, then cancel it and return `TimedOut`.

    A coroutine runs to its first suspension before any timer is set: one that answers without waiting needs no clock.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    if isinstance(reply, CoroutineType):
        try:
            reply = _resume(reply, reply.send(None))
        except StopIteration as done:
            return cast(Reply, done.value)
    deadline = asyncio.timeout_at(began + limit)
    try:
        async with deadline:
            return await reply
    except TimeoutError:
        if not deadline.expired():
            raise
        return TimedOut(limit)


@coroutine
def _resume(work: CoroutineType[Any, Any, Reply], waits_for: Any) -> Generator[Any, Any, Reply]:
    """Drive a coroutine that has started and now waits for something."""
    try:
        while True:
            try:
                sent = yield waits_for
            except BaseException as error:  # every exception thrown in here is meant for the coroutine
                waits_for = work.throw(error)
            else:
                waits_for = work.send(sent)
    except StopIteration as done:
        return cast(Reply, done.value)
