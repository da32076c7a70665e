"""One line on a terminal that says how far a long piece of work has come; silent everywhere else."""

from __future__ import annotations

import time
from typing import TextIO

#: Work that ends sooner needs no line.
PATIENCE = 0.4
_PAUSE = 0.1


class Progress:
    """Counts towards a total and shows it; a pipe or a log sees nothing of it."""

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
        """Take the line away."""
        if self._stream is not None and self._visible:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
