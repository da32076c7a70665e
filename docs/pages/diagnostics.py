"""The diagnostics reference: a heading for every code."""

from __future__ import annotations

from pages.markdown import page

from hookwright.protocol.diagnostics import CODES


def diagnostics() -> str:
    """Write the page."""
    return page(
        "Diagnostics",
        "What a hook author did wrong is a diagnostic: a code, a message with place, value and way out, and source. "
        "Codes are never renamed. `hookwright fire`, `list` and `explain` print them; "
        "in code they are `Loaded.diagnostics` and `Outcome.diagnostics`.",
        *(f"## {code}\n\n{text}" for code, text in CODES.items()),
    )
