"""A real terminal for tests: a pty with a process in it, and a small reader of what it draws."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence

#: Long enough for a busy machine; a test that passes never waits for it.
PATIENCE = 30.0

ENTER, ESCAPE, UP, DOWN, TAB = "\r", "\x1b", "\x1b[A", "\x1b[B", "\t"
PAGE_UP, CTRL_C, CTRL_D, CTRL_J, CTRL_O, SHIFT_TAB = "\x1b[5~", "\x03", "\x04", "\n", "\x0f", "\x1b[Z"

_SEQUENCE = re.compile(
    r"\x1b\[(?P<private>[<-?]?)(?P<args>[\d;:]*)(?P<middle>[ -/]*)(?P<final>[@-~])"  # CSI
    r"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b[P^_X][^\x1b]*\x1b\\"
    r"|\x1b[()*+][0-9A-Za-z]"
    r"|\x1b(?![\[\]P^_X()*+])[ -~]"
)
_PART = re.compile(r"\x1b(?:\[[<-?]?[\d;:]*[ -/]*|\][^\x07\x1b]*\x1b?|[P^_X][^\x1b]*\x1b?|[()*+])?\Z")


class Screen:
    """Cells, a cursor, and just as much of a terminal as full-screen programs need."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._cells = [[" "] * columns for _ in range(rows)]
        self._x = self._y = 0
        self._rest = ""
        #: Every style that was asked for, and every sequence to the terminal itself.
        self.styles: set[str] = set()
        self.titles: list[str] = []
        #: True in the middle of a frame, as programs say that know this terminal can wait for its end.
        self.is_drawing = False
        self.answers: list[str] = []

    def resize(self, columns: int, rows: int) -> None:
        """Begin with an empty screen of another size."""
        self.__init__(columns, rows)  # type: ignore[misc]

    @property
    def lines(self) -> list[str]:
        """Give the rows as text."""
        return ["".join(row).rstrip() for row in self._cells]

    def feed(self, text: str) -> None:
        """Draw what a program wrote."""
        text, self._rest = self._rest + text, ""
        place = 0
        while place < len(text):
            char = text[place]
            if char != "\x1b":
                self._char(char)
                place += 1
                continue
            found = _SEQUENCE.match(text, place)
            if found is None:
                if _PART.match(text, place):
                    self._rest = text[place:]
                    return
                place += 1
                continue
            self._sequence(found)
            place = found.end()

    def _char(self, char: str) -> None:
        if char == "\r":
            self._x = 0
        elif char == "\n":
            self._y = min(self._y + 1, self.rows - 1)
        elif char == "\b":
            self._x = max(0, self._x - 1)
        elif char >= " ":
            self._draw(char)

    def _draw(self, char: str) -> None:
        if unicodedata.combining(char) or char in "\ufe0e\ufe0f\u200d":
            return
        width = 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if self._x < self.columns and self._y < self.rows:
            self._cells[self._y][self._x] = char
            for place in range(self._x + 1, min(self._x + width, self.columns)):
                self._cells[self._y][place] = ""
        self._x += width

    def _sequence(self, found: re.Match[str]) -> None:
        if found["osc"] is not None:
            self.titles.append(found["osc"])
        final = found["final"]
        if found["private"] == "?" and found["args"] == "2026":
            if found["middle"] == "$":
                self.answers.append("\x1b[?2026;2$y")
            else:
                self.is_drawing = final == "h"
        if final is None or found["private"] or found["middle"]:
            return
        numbers = [int(part) if part else 0 for part in re.split("[;:]", found["args"])]
        first = numbers[0]
        match final:
            case "H" | "f":
                self._y = min(max(first, 1), self.rows) - 1
                self._x = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.columns) - 1
            case "A" | "B":
                step = max(first, 1) * (-1 if final == "A" else 1)
                self._y = min(max(self._y + step, 0), self.rows - 1)
            case "C" | "D":
                step = max(first, 1) * (1 if final == "C" else -1)
                self._x = min(max(self._x + step, 0), self.columns - 1)
            case "G":
                self._x = max(first, 1) - 1
            case "J":
                start = 0 if first == 2 else self._y
                for row in range(start, self.rows):
                    self._cells[row] = [" "] * self.columns
            case "K":
                self._cells[self._y][self._x :] = [" "] * (self.columns - self._x)
            case "m":
                self.styles.add(found["args"])


class Terminal:
    """A program on a terminal: type, look, wait for words."""

    def __init__(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str], columns: int = 100, rows: int = 32
    ) -> None:
        self.screen = Screen(columns, rows)
        #: Everything the program wrote.
        self.raw = b""
        self._closed = False
        self._lock = threading.Condition()
        self._master, slave = os.openpty()
        _size(slave, columns, rows)

        def own_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", **env},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=own_terminal,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.close_window()

    def close_window(self) -> None:
        """Close the terminal's own side, as a closed window, a killed multiplexer or a lost connection does."""
        if not self._closed:
            self._closed = self.process.poll() is None
            self._reader.join(10)
            self._closed = True
            os.close(self._master)

    def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with contextlib.suppress(OSError):  # EIO: the program is gone
            while not self._closed:
                if not select.select([self._master], [], [], 0.1)[0]:
                    continue
                data = os.read(self._master, 65536)
                if not data:
                    break
                with self._lock:
                    self.raw += data
                    self.screen.feed(decoder.decode(data))
                    self._lock.notify_all()
                    answers, self.screen.answers = self.screen.answers, []
                self.send(*answers)
        with self._lock:
            self._lock.notify_all()

    # ── looking ─────────────────────────────────────────────────────────────

    @property
    def text(self) -> str:
        """Give what is on the screen."""
        with self._lock:
            return "\n".join(self.screen.lines)

    def wait(self, words: str, *, gone: bool = False) -> str:
        """Wait until words are on the screen, or until they are gone; return the screen."""
        return self.until(lambda text: (words in text) is not gone, f"{words!r}{' to go' if gone else ''}")

    def until(self, holds: Callable[[str], bool], what: str) -> str:
        """Wait until something holds of the screen."""
        deadline = time.monotonic() + PATIENCE
        with self._lock:
            while self.screen.is_drawing or not holds("\n".join(self.screen.lines)):
                left = deadline - time.monotonic()
                over = self.process.poll() is not None and not self._reader.is_alive()
                if left <= 0 or over:
                    shown = "\n".join(self.screen.lines)
                    raise AssertionError(f"waited for {what}; the screen was:\n{shown}")
                self._lock.wait(min(left, 0.5))
            return "\n".join(self.screen.lines)

    def ended(self) -> int:
        """Wait for the end of the program; return its status."""
        return self.process.wait(PATIENCE)

    # ── typing ──────────────────────────────────────────────────────────────

    def send(self, *keys: str) -> None:
        """Press keys, or type words."""
        for key in keys:
            os.write(self._master, key.encode())

    def say(self, text: str) -> None:
        """Type a line, see it arrive, and send it."""
        self.send(text)
        self.wait(text[-20:])
        self.send(ENTER)

    def resize(self, columns: int, rows: int) -> None:
        """Make the terminal larger or smaller, as a window does."""
        with self._lock:
            self.screen.resize(columns, rows)
        _size(self._master, columns, rows)


def _size(descriptor: int, columns: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
