"""A process with one thread that makes calls for another process: hooks are isolated in it, and it may be killed."""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from typing import IO, TypeVar

from hookwright.errors import HookwrightError
from hookwright.replay.isolation.alone import packed_problem

Result = TypeVar("Result")

_LENGTH = struct.Struct(">Q")


class InnerKilled(HookwrightError):
    """The process was killed, or exited, before it answered."""


class InnerProcess:
    """The process, as its owner knows it.

    It is started as a program, not forked: its owner may have threads, and may be a daemon of multiprocessing, which
    has no children of that kind. It ends when its owner does.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hookwright.replay.fleet.inner"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def ask(self, function: Callable[..., Result], *arguments: object) -> Result:
        """Return what a function of a module returns there, or raise what it raises; raise InnerKilled at its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _send(self._process.stdin, pickle.dumps((function, arguments)))
            answer = _received(self._process.stdout)
        except OSError:
            answer = None
        if answer is None:
            self.close()
            raise InnerKilled(f"the process that replays hooks ended with {self._process.returncode}")
        worked, result = pickle.loads(answer)
        if not worked:
            raise result
        given: Result = result
        return given

    def close(self) -> None:
        """End the process, and everything it started in a view."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _received(pipe: IO[bytes]) -> bytes | None:
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    data = pipe.read(size)
    return data if len(data) == size else None


def main() -> None:
    """Answer calls until the owner is gone; what called functions print goes to stderr."""
    asked, answered = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    with contextlib.suppress(OSError), open(asked, "rb") as questions, open(answered, "wb") as answers:
        while (question := _received(questions)) is not None:
            _send(answers, _answer(question))


def _answer(question: bytes) -> bytes:
    try:
        function, arguments = pickle.loads(question)
        return pickle.dumps((True, function(*arguments)))
    except Exception as problem:  # whatever it is, the caller gets it
        return packed_problem(problem)


if __name__ == "__main__":
    main()
