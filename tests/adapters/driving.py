"""What drivers of frameworks have in common: a run to its end, a cancelled one, and one without a running loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from adapters.scenarios import Ran


def ended(ran: Ran, work: Callable[[], Any], close: Callable[[], None], *errors: type[Exception]) -> Ran:
    """Run to the end, keep the answer or what the framework raised, and close the hooks."""
    try:
        ran.answer = work()
    except errors as error:
        ran.error = str(error)
    finally:
        close()
    return ran


def cancelled(start: Callable[[], Any], when: Callable[[], bool]) -> None:
    """Start a run, and cancel it as soon as `when` is true."""

    async def main() -> None:
        task = asyncio.ensure_future(start())
        while not when():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(main())


def blocking(work: Callable[[], Any]) -> Any:
    """Run without a running loop; a framework that leaves the loop it needs open gets one from here."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return work()
    finally:
        loop.close()
        asyncio.set_event_loop(None)
