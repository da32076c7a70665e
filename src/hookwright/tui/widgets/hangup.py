"""Notice that the terminal is gone: a closed window, a killed tmux, a lost connection."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import select
import threading
import time
from collections.abc import Callable

from textual.driver import Driver

#: 128 and SIGHUP, as a shell reports it.
HUNG_UP = 129
#: Seconds for the hooks of SessionEnd; after them the process ends whatever still holds it up.
_PATIENCE = 30.0


class Hangup:
    """Watches the terminal from a thread of its own: the loop may be stuck in a write to it."""

    def __init__(self, driver: Driver | None, on_hangup: Callable[[], None]) -> None:
        self._driver = driver
        self._on_hangup = on_hangup
        self._loop = asyncio.get_running_loop()
        self.happened = False
        threading.Thread(target=self._watch, daemon=True, name="terminal").start()

    def note(self) -> None:
        """Give the terminal up: nothing is written to it from now on, and what waits to be written is dropped."""
        if self.happened:
            return
        self.happened = True
        if self._driver is not None:
            setattr(self._driver, "write", _nothing)  # noqa: B010 - a method of another class, on this object alone
            waiting = getattr(getattr(self._driver, "_writer_thread", None), "_queue", None)
            if isinstance(waiting, queue.Queue):
                with contextlib.suppress(queue.Empty):
                    while True:  # a write that blocks the loop continues
                        waiting.get_nowait()

    def _watch(self) -> None:
        poll = select.poll()
        for descriptor in (0, 2):
            poll.register(descriptor, 0)  # hang-ups are reported unasked
        poll.poll()
        self.note()
        with contextlib.suppress(RuntimeError):  # the loop is closed: the chat has ended
            self._loop.call_soon_threadsafe(self._on_hangup)
        time.sleep(_PATIENCE)
        os._exit(HUNG_UP)


def _nothing(_data: str) -> None:
    """Write nothing."""
