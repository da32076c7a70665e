"""Earlier prompts of a project: one JSON line per prompt, in a private file."""

from __future__ import annotations

import contextlib
import json
import os

_KEPT = 1_000


class History:
    """Prompts of this and earlier sessions, and the current position among them."""

    def __init__(self, path: str | None, cwd: str) -> None:
        self._path = path
        self._cwd = cwd
        self._texts = _read(path, cwd) if path is not None else []
        self._place = len(self._texts)
        self._draft = ""

    def add(self, text: str) -> None:
        """Add a prompt, unless it repeats the last one."""
        if not self._texts or self._texts[-1] != text:
            self._texts.append(text)
            self._write(text)
        self.leave()

    def leave(self) -> None:
        """Return to the end of the history."""
        self._place = len(self._texts)
        self._draft = ""

    def back(self, current: str) -> str | None:
        """Return the previous prompt and keep the current text as a draft; None at the beginning."""
        if self._place == 0:
            return None
        if self._place == len(self._texts):
            self._draft = current
        self._place -= 1
        return self._texts[self._place]

    def forth(self) -> str | None:
        """Return the next prompt, or the draft after the last one; None at the end."""
        if self._place >= len(self._texts):
            return None
        self._place += 1
        return self._draft if self._place == len(self._texts) else self._texts[self._place]

    def _write(self, text: str) -> None:
        if self._path is None:
            return
        line = json.dumps({"cwd": self._cwd, "text": text}, ensure_ascii=False) + "\n"
        # A full disk or a read-only home is not a reason to fail: the prompt itself still works.
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, line.encode("utf-8", "surrogatepass"))
            finally:
                os.close(descriptor)


def _read(path: str, cwd: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 1_000_000))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with contextlib.suppress(ValueError):
            value = json.loads(line)
            if isinstance(value, dict) and value.get("cwd") == cwd and isinstance(value.get("text"), str):
                found.append(value["text"])
    return found[-_KEPT:]
