"""How often stop hooks may send an agent back to work."""

from __future__ import annotations

from collections.abc import Mapping

#: How often in a row a stop hook may send the agent back to work.
STOP_CAP = 8
CAP_VARIABLE = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
#: Claude Code's own words.
_CAP_REACHED = (
    "A hook blocked the turn from ending {count} consecutive times — overriding and ending turn. For Stop/SubagentStop "
    "hooks, check stop_hook_active in the input and return success while it's true. Set "
    f"{CAP_VARIABLE} to raise this limit."
)


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

    @property
    def cap_reached(self) -> str:
        """What the user reads when a block is overridden."""
        return _CAP_REACHED.format(count=self._count + 1)

    def continued(self) -> None:
        """Count one more continuation."""
        self._count += 1
        self.active = True

    def progress(self) -> None:
        """Start counting again: the agent ran tools in between."""
        self._count = 0
