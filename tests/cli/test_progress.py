"""The line that says how far long work has come: on a terminal alone, and gone at the end."""

from __future__ import annotations

import os
import pty

import pytest

from hookwright.cli.progress import Progress


def steps(descriptor: int, read_from: int, monkeypatch: pytest.MonkeyPatch) -> bytes:
    now = iter(float(second) for second in range(10))
    monkeypatch.setattr("hookwright.cli.progress.time.monotonic", lambda: next(now))
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        line = Progress(stream, "cases", 3)
        for _ in range(3):
            line.step()
        line.end()
    seen = b""
    while True:
        try:
            piece = os.read(read_from, 1000)
        except OSError:  # how a terminal says that its other end is closed
            return seen
        if not piece:
            return seen
        seen += piece


def test_a_terminal_sees_it_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    outer, inner = pty.openpty()
    seen = steps(inner, outer, monkeypatch).decode()
    os.close(outer)
    assert [part for part in seen.split("\r\x1b[2K") if part] == ["cases 1/3", "cases 2/3", "cases 3/3"]
    assert seen.endswith("\r\x1b[2K")


def test_a_pipe_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    outer, inner = os.pipe()
    seen = steps(inner, outer, monkeypatch)
    os.close(outer)
    assert seen == b""
