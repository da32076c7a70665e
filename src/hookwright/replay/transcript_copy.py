"""A transcript as it was when an event happened: hooks that read it must not read what came later."""

from __future__ import annotations

import contextlib
import hashlib
import os

from hookwright.replay.past import Past
from hookwright.storage import make_folder


class TranscriptCopy:
    """The transcript of one session at a time, cut at the event that is replayed."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(folder, "transcripts")
        self._of = ""
        self._lines = 0
        self._bytes = 0

    def path_of(self, past: Past) -> str:
        """Return the path hooks read; the file exists after `cut`."""
        session = past.event.session_id
        safe = session if session.replace("-", "").isalnum() and len(session) < 100 else _hashed(session)
        return os.path.join(self._folder, f"{safe}.jsonl")

    def cut(self, past: Past) -> bool:
        """Write the lines up to the event; return False if the event is not from a transcript that can be read.

        Events of a session come in the order of their lines, so most calls append a few lines.
        """
        source, target = past.place.file, self.path_of(past)
        if self._of != source or past.place.line < self._lines:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(target)
            self._of, self._lines, self._bytes = source, 0, 0
        if os.path.basename(source) != os.path.basename(past.event.transcript_path):
            return False
        try:
            self._append(source, target, past.place.line)
        except OSError:
            return False
        return True

    def _append(self, source: str, target: str, upto: int) -> None:
        make_folder(self._folder)
        with open(source, "rb") as lines, open(target, "ab", opener=_private) as out:
            lines.seek(self._bytes)
            while self._lines < upto and (line := lines.readline()):
                out.write(line)
                self._lines += 1
            self._bytes = lines.tell()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
