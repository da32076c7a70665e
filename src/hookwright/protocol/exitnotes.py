"""What a hook author should know about how a process ended, whatever the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import Handler
from hookwright.protocol.replies import Exited

_INTERPRETER_ERRORS = re.compile(
    r"can't open file '[^']*'|No such file or directory|cannot open|[Ss]yntax error|SyntaxError|not found"
)
#: The part of a longer stream that is checked.
_LOOKED_AT = 65_536


def exit_notes(reply: Exited, handler: Handler, stderr: str) -> tuple[Diagnostic, ...]:
    """Return notes about an accidental exit 2, about dropped output and about output that is not text."""
    return tuple(
        Diagnostic(code, f"`{first_line(handler.label)}` {text}", handler.source, Severity.WARNING)
        for code, text in _notes(reply, stderr)
    )


def _notes(reply: Exited, stderr: str) -> Iterator[tuple[str, str]]:
    if reply.status == 2 and not reply.stdout.strip() and _INTERPRETER_ERRORS.search(stderr, 0, _LOOKED_AT):
        why = f"exited 2 because it could not start ({first_line(stderr)}), and 2 means block"
        yield "accidental-exit-2", f"{why}; fix the path or the script"
    if reply.lost:
        yield "working-directory-moved", reply.lost
    if reply.dropped:
        yield "output-too-large", f"printed {reply.dropped} bytes over the limit, which were dropped"
    if not _is_text(reply.stdout):
        yield "not-utf-8", "printed bytes that are not UTF-8; an answer in another encoding is not read"


def _is_text(data: bytes) -> bool:
    head = data[:_LOOKED_AT]
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if len(head) == len(data) or error.start < len(head) - 3:  # otherwise the cut split a character
            return False
    return b"\0" not in head  # UTF-16 of plain letters is valid UTF-8, with a NUL after each


def first_line(text: str) -> str:
    """Return the first line of a text, cut to a reasonable length."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 300 else line[:300] + "…"
