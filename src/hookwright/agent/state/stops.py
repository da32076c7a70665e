"""How often stop hooks may send an agent back to work."""

from __future__ import annotations

from collections.abc import Mapping

#: How often in a row a stop hook may send the agent back to work.
STOP_CAP = 8
CAP_VARIABLE = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
CAP_REACHED = "A stop hook blocked too many times in a row and was overridden; the turn ends."


class Stops:
    """How often a stop hook sent one agent back to work."""

    def __init__(self, env: Mapping[str, str]) -> None:
        text = env.get(CAP_VARIABLE, "")
        self._cap = int(text) if text.isascii() and text.isdigit() else STOP_CAP
        self._count = 0
        #: True while the agent continues because of a stop hook.
        self.active = False

    @property
    def exhausted(self) -> bool:
        """Whether the next block is overridden; with a cap of 0 none is."""
        return self._cap > 0 and self._count >= self._cap

    def continued(self) -> None:
        """Count one more continuation."""
        self._count += 1
        self.active = True

    def progress(self) -> None:
        """Start counting again: the agent ran tools in between."""
        self._count = 0
