"""Ctrl+C during a replay: noted at once, and taken where nothing is half done."""

from __future__ import annotations

import signal
import threading
from types import FrameType

#: So many times Ctrl+C ends the program wherever it is.
_IMPATIENT = 3


class Interrupts:
    """Notes Ctrl+C instead of raising KeyboardInterrupt, except while `waits` is true.

    Law: what runs while `waits` is false is never cut short, so a report is whole, whenever Ctrl+C is pressed; what
    runs while it is true ends at once, also if Ctrl+C was pressed before. Pressed three times it always ends.
    """

    def __init__(self) -> None:
        self._count = 0
        self._waits = False

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._before)

    @property
    def noted(self) -> bool:
        """Whether Ctrl+C was pressed."""
        return self._count > 0

    @property
    def waits(self) -> bool:
        """Whether Ctrl+C raises KeyboardInterrupt."""
        return self._waits

    @waits.setter
    def waits(self, now: bool) -> None:
        self._waits = now
        if now and self._count:
            raise KeyboardInterrupt

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._count += 1
        if self._waits or self._count >= _IMPATIENT:
            raise KeyboardInterrupt
