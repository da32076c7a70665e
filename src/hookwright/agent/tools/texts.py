"""Keep texts short enough for a model."""

from __future__ import annotations

#: Characters of a command's output that hooks and the model get.
OUTPUT_LIMIT = 30_000


def cut_middle(text: str, limit: int) -> str:
    """Cut a long text in the middle, where it matters least, and say how much is gone."""
    if len(text) <= limit:
        return text
    head = limit // 2
    tail = limit - head
    return f"{text[:head]}\n\n... [{len(text) - limit} characters truncated] ...\n\n{text[-tail:]}"
