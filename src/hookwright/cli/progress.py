"""A progress line for long work, on terminals only."""

from __future__ import annotations

import time
from typing import TextIO

#: Seconds before the line appears; shorter work shows none.
PATIENCE = 0.4
_PAUSE = 0.1
#: Seconds after which the line also says how fast it goes.
_LONG = 3.0


class Progress:
    """A counter that is shown on a terminal and invisible in a pipe or a log."""

    def __init__(self, stream: TextIO, what: str, total: int) -> None:
        self._stream = stream if stream.isatty() else None
        self._what = what
        self._total = total
        self._done = 0
        self._began = self._shown = time.monotonic()
        self._visible = False

    def step(self) -> None:
        """Count one."""
        self._done += 1
        now = time.monotonic()
        if self._stream is None or now - self._began < PATIENCE or now - self._shown < _PAUSE:
            return
        self._shown, self._visible = now, True
        self._stream.write(f"\r\x1b[2K{self._what} {self._done}/{self._total}{self._pace(now - self._began)}")
        self._stream.flush()

    def _pace(self, seconds: float) -> str:
        """Return the rate and the time left, once there is enough to judge by."""
        if seconds < _LONG or self._done >= self._total:
            return ""
        rate = self._done / seconds
        left = (self._total - self._done) / rate
        minutes = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
        return f", {rate:.0f} per second, {minutes} left" if rate >= 1 else f", {minutes} left"

    def end(self) -> None:
        """Remove the line."""
        if self._stream is not None and self._visible:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
