"""Detect the end of a child process on an event loop, and reap it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import select
import threading
import time
import weakref
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
    """The status is unknown: another part of this program reaped the process, or it cannot be killed."""


Status = ExitCode | Signalled | Unknown


class ExitWatch(Protocol):
    """Calls back once, after it has reaped the process."""

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


#: Each event is reported once: a copy of the descriptor in a fork cannot keep us awake.
_ONCE = select.EPOLLIN | select.EPOLLONESHOT if hasattr(select, "epoll") else 0


class _Hub:
    """One descriptor for the pidfds of all children of one loop, watched by the loop as long as it lives.

    Registering each child with the loop and removing it again would cost 15 µs more, 2 % of `sh -c true`.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.epoll = select.epoll()
        #: pidfd → the watch it belongs to.
        self.watches: dict[int, _PidfdWatch] = {}
        loop.add_reader(self.epoll.fileno(), self._ready)

    def _ready(self) -> None:
        # With a single child it is clear which one ended.
        alone = len(self.watches) == 1
        for fd in list(self.watches) if alone else [fd for fd, _ in self.epoll.poll(0)]:
            watch = self.watches.get(fd)
            if watch is not None:
                watch.look()


#: Nothing here keeps a hub: its loop does, by the reader, and with the loop its descriptor goes.
_hubs: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[_Hub]] = weakref.WeakKeyDictionary()


def _hub_of(loop: asyncio.AbstractEventLoop) -> _Hub:
    known = _hubs.get(loop)
    hub = known() if known is not None else None
    if hub is None:
        hub = _Hub(loop)
        _hubs[loop] = weakref.ref(hub)
    return hub


class _PidfdWatch:
    __slots__ = ("_fd", "_hub", "_on_exit", "_pid")

    def __init__(self, loop: asyncio.AbstractEventLoop, pid: int, fd: int, on_exit: Callable[[Status], None]) -> None:
        self._pid = pid
        self._fd = fd
        self._on_exit = on_exit
        try:
            self._hub = _hub_of(loop)
            self._hub.epoll.register(fd, _ONCE)
            self._hub.watches[fd] = self
        except BaseException:  # on any exception the descriptor is ours to close
            os.close(fd)
            raise

    def look(self) -> None:
        """Reap the child if it has ended; keep waiting if it has not."""
        status = reap(self._pid, os.WNOHANG)
        if status is None:
            self._hub.epoll.modify(self._fd, _ONCE)
            return
        self.close()
        self._on_exit(status)

    def close(self) -> None:
        # Closing the last descriptor unregisters it; a copy in a fork of ours may cause one needless check.
        if self._fd >= 0:
            del self._hub.watches[self._fd]
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
        with contextlib.suppress(RuntimeError):  # the loop was closed, and with it every waiter
            self._loop.call_soon_threadsafe(self._on_exit, status)

    def close(self) -> None:
        """Do nothing: the thread ends with the process."""
