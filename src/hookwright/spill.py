"""Spill long texts: they go to a private file, and the model reads a preview and the path."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler
from hookwright.protocol.outcome import SILENT, Verdict
from hookwright.storage import make_folder

#: Most characters of one text; not configurable, as in the protocol.
LIMIT = 10_000
PREVIEW = 2_000


def fit(verdict: Verdict, handler: Handler, event: Event) -> Verdict:
    """Cut every text of a verdict that is over the limit; reasons and stderr are never cut."""
    if verdict is SILENT:
        return verdict
    texts = {name: getattr(verdict, name) for name in ("context", "plain", "system_message")}
    message = verdict.fields.get("initial_user_message")
    if all(text is None or len(text) <= LIMIT for text in (*texts.values(), message)):
        return verdict
    notes: list[Diagnostic] = []
    changed = {name: _short(text, handler, event, notes) for name, text in texts.items()}
    fields: Mapping[str, object] = verdict.fields
    if isinstance(message, str):
        fields = {**fields, "initial_user_message": _short(message, handler, event, notes)}
    return msgspec.structs.replace(verdict, **changed, fields=fields, diagnostics=(*verdict.diagnostics, *notes))


def _short(text: str | None, handler: Handler, event: Event, notes: list[Diagnostic]) -> str | None:
    if text is None or len(text) <= LIMIT:
        return text
    size = f"{len(text.encode('utf-8', 'replace')) / 1024:.1f}KB"
    try:
        path = _save(text, event)
    except OSError as error:
        reason = f"{len(text)} characters could not be saved: {error}"
        notes.append(Diagnostic("spill-failed", reason, handler.source, Severity.WARNING))
        return f"<persisted-output>\nOutput too large ({size}) and not saved: {error.strerror}\n\n{_preview(text)}"
    notes.append(
        Diagnostic(
            "spilled",
            f"`{handler.label}` returned {len(text)} characters; the model sees {PREVIEW}, the full text is in {path}",
            handler.source,
            Severity.INFO,
        )
    )
    return f"<persisted-output>\nOutput too large ({size}). Full output saved to: {path}\n\n{_preview(text)}"


def _preview(text: str) -> str:
    return f"Preview (first 2KB):\n{text[:PREVIEW]}\n...\n</persisted-output>"


def _save(text: str, event: Event) -> str:
    folder = session_folder(event) + "/tool-results"
    make_folder(folder)
    path = f"{folder}/hook-{os.urandom(8).hex()}.txt"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        os.unlink(path)
        raise
    return path


def session_folder(event: Event) -> str:
    """Return the folder of this session, next to its transcript."""
    base = event.transcript_path.removesuffix(".jsonl")
    if not os.path.isabs(base):
        raise OSError(2, "the event has no absolute transcript_path")
    return base
