"""Notice the end of a child process on an event loop, and reap it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable
from typing import Protocol

import msgspec


class ExitCode(msgspec.Struct, frozen=True):
    """The process returned a code."""

    code: int


class Signalled(msgspec.Struct, frozen=True):
    """A signal ended the process."""

    number: int


class Unknown(msgspec.Struct, frozen=True):
    """Nobody can tell: somebody else reaped the process, or it cannot be killed."""


Status = ExitCode | Signalled | Unknown


class ExitWatch(Protocol):
    """Calls back once, after it reaped the process."""

    def close(self) -> None:
        """Stop watching; harmless when it has ended."""


def watch_exit(loop: asyncio.AbstractEventLoop, pid: int, on_exit: Callable[[Status], None]) -> ExitWatch:
    """Watch a child by descriptor where the system has that, by a thread where not; raise OSError if neither works."""
    if hasattr(os, "pidfd_open"):
        try:
            fd = os.pidfd_open(pid)
        except OSError:  # an old kernel, a sandbox, or no descriptor left
            return _ThreadWatch(loop, pid, on_exit)
        return _PidfdWatch(loop, pid, fd, on_exit)
    return _ThreadWatch(loop, pid, on_exit)


def reap(pid: int, options: int) -> Status | None:
    """Collect a child's status; None while it runs, which only `os.WNOHANG` can find."""
    try:
        reaped, status = os.waitpid(pid, options)
    except ChildProcessError:  # the host reaps every child, or ignores SIGCHLD
        return Unknown()
    if reaped == 0:
        return None
    code = os.waitstatus_to_exitcode(status)
    return ExitCode(code) if code >= 0 else Signalled(-code)


def reap_within(pid: int, seconds: float) -> Status | None:
    """Block until a child that was killed is gone; None if it is still there after some seconds."""
    until = time.monotonic() + seconds
    while (status := reap(pid, os.WNOHANG)) is None and time.monotonic() < until:
        time.sleep(0.001)
    return status


class _PidfdWatch:
    __slots__ = ("_fd", "_loop", "_on_exit", "_pid")

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, fd: int, on_exit: Callable[[Status], None]) -> None:
        self._loop = loop
        self._pid = pid
        self._fd = fd
        self._on_exit = on_exit
        try:
            loop.add_reader(fd, self._look)
        except BaseException:
            os.close(fd)
            raise

    def _look(self) -> None:
        status = reap(self._pid, os.WNOHANG)
        if status is not None:
            self.close()
            self._on_exit(status)

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1


class _ThreadWatch:
    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, on_exit: Callable[[Status], None]) -> None:
        self._loop = loop
        self._pid = pid
        self._on_exit = on_exit
        try:
            threading.Thread(target=self._wait, name=f"wait-{pid}", daemon=True).start()
        except RuntimeError as problem:
            raise OSError(errno.EAGAIN, "no thread can be started to wait for it") from problem

    def _wait(self) -> None:
        status = reap(self._pid, 0)
        assert status is not None
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody is left to tell
            self._loop.call_soon_threadsafe(self._on_exit, status)

    def close(self) -> None:
        """Do nothing: the thread ends with the process."""
