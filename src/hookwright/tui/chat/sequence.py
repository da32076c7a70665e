"""What a hook may send to the terminal: titles, notifications and the bell, nothing that moves the cursor."""

from __future__ import annotations

import re

_ALLOWED = re.compile(r"(?:\x07|\x1b\](?:0|1|2|9|99|777);[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\))+")


def allowed(sequence: str | None) -> str | None:
    """Return a hook's `terminalSequence` if every part of it is harmless; otherwise None."""
    return sequence if sequence and _ALLOWED.fullmatch(sequence) else None
