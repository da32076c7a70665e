"""Write Markdown: tables, code, and the line that says where a page comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hookwright.protocol.events import Plain

GENERATED = "<!-- Made by docs/generate.py from the code. Do not edit; run `make docs`. -->"

PLAIN = {
    Plain.CONTEXT: "context for the model",
    Plain.PATH: "its last line is the path of the new worktree",
    Plain.DROPPED: "verbose view only",
}


def page(title: str, *parts: str) -> str:
    """Put a page together."""
    return "\n\n".join([f"# {title}", GENERATED, *parts]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; a pipe inside a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(text: str, language: str = "") -> str:
    """Write a block of code."""
    return f"```{language}\n{text.strip()}\n```"


def bullets(items: Iterable[str]) -> str:
    """Write a list."""
    return "\n".join(f"- {item}" for item in items)


def ticked(words: Iterable[str]) -> str:
    """Write words as code, with commas."""
    return ", ".join(f"`{word}`" for word in words)
