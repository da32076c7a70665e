"""A progress line for long work, on terminals only."""

from __future__ import annotations

import time
from typing import TextIO

#: Seconds before the line appears; shorter work shows none.
PATIENCE = 0.4
_PAUSE = 0.1


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
        self._stream.write(f"\r\x1b[2K{self._what} {self._done}/{self._total}")
        self._stream.flush()

    def end(self) -> None:
        """Remove the line."""
        if self._stream is not None and self._visible:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
