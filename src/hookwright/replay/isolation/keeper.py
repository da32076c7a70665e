"""Two processes for a view: one inside, which runs hooks, and its keeper outside, which has the rights to renew it."""

from __future__ import annotations

import os
import select
import signal
import socket
from typing import NoReturn, Protocol

from hookwright.errors import HookwrightError
from hookwright.replay.isolation import kernel

_RENEW, _DONE = b"renew", b"done"
_MESSAGE = 65536


class Stage(Protocol):
    """What a keeper prepares for the process inside."""

    def renew(self, inside: int, /) -> None:
        """Undo everything that was written in the view; `inside` is the process that asks."""
        ...

    def close(self) -> None:
        """Remove what the view leaves outside, after every process inside has ended."""
        ...


class Keeper:
    """The keeper as the process inside knows it."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def renew(self) -> None:
        """Ask for a fresh view and wait until it is there."""
        self._channel.send(_RENEW)
        answer = self._channel.recv(_MESSAGE)
        if answer != _DONE:
            reason = answer.decode(errors="replace") or "its keeper ended"
            raise HookwrightError(f"the view could not be renewed: {reason}")


def split(stage: Stage) -> Keeper:
    """Continue in a child, which ends with this process; this process becomes the keeper and never returns."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child != 0:
        theirs.close()
        _keep(stage, child, ours)
    ours.close()
    # A signal from a hook or the terminal does not interrupt the process inside: its owner ends it. A handler instead
    # of SIG_IGN, because hooks would inherit that.
    signal.signal(signal.SIGINT, _ignore)
    return Keeper(theirs)


def end_with_keeper() -> None:
    """End the process inside when its keeper ends; call this after the last change of rights."""
    kernel.die_with_parent(signal.SIGKILL)


def _ignore(number: int, frame: object) -> None:
    """Do nothing about a signal."""


def _keep(stage: Stage, child: int, channel: socket.socket) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waiting = select.poll()
    ended = os.pidfd_open(child)
    waiting.register(ended, select.POLLIN)
    waiting.register(channel, select.POLLIN)
    status: int | None = None
    while status is None:
        for descriptor, _ in waiting.poll():
            if descriptor == ended:
                _, status = os.waitpid(child, 0)
            elif not _serve(stage, child, channel):
                waiting.unregister(channel)
    stage.close()
    _end_like(status)


def _serve(stage: Stage, child: int, channel: socket.socket) -> bool:
    """Answer one request; return whether more can come."""
    if not channel.recv(_MESSAGE):
        return False
    try:
        stage.renew(child)
        channel.send(_DONE)
    except (OSError, HookwrightError) as problem:
        channel.send(str(problem).encode()[:_MESSAGE])
    return True


def _end_like(status: int) -> NoReturn:
    """End as the process inside did, so that its owner sees the same exit."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
