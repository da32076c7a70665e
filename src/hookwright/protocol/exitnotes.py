"""What a hook author should know about how a process ended, whatever its verdict is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import Handler
from hookwright.protocol.replies import Exited

_INTERPRETER_ERRORS = re.compile(
    r"can't open file '[^']*'|No such file or directory|cannot open|[Ss]yntax error|SyntaxError|not found"
)
#: What is looked at of a longer stream.
_LOOKED_AT = 65_536


def exit_notes(reply: Exited, handler: Handler, stderr: str) -> tuple[Diagnostic, ...]:
    """Tell of an exit 2 that was none, of output that was dropped, and of output that is no text."""
    return tuple(
        Diagnostic(code, f"`{first_line(handler.label)}` {text}", handler.source, Severity.WARNING)
        for code, text in _notes(reply, stderr)
    )


def _notes(reply: Exited, stderr: str) -> Iterator[tuple[str, str]]:
    if reply.status == 2 and not reply.stdout.strip() and _INTERPRETER_ERRORS.search(stderr, 0, _LOOKED_AT):
        why = f"exited 2 because it could not start ({first_line(stderr)}), and 2 means block"
        yield "accidental-exit-2", f"{why}; fix the path or the script"
    if reply.dropped:
        yield "output-too-large", f"printed {reply.dropped} bytes more than are kept"
    if not _is_text(reply.stdout):
        yield "not-utf-8", "printed bytes that are no UTF-8 text; an answer in another encoding is not read"


def _is_text(data: bytes) -> bool:
    head = data[:_LOOKED_AT]
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if len(head) == len(data) or error.start < len(head) - 3:  # else the cut went through a letter
            return False
    return b"\0" not in head  # UTF-16 of plain letters is valid UTF-8, with a NUL after each


def first_line(text: str) -> str:
    """Cut a text to one line of reasonable length."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 300 else line[:300] + "…"
