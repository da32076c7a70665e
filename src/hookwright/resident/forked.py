"""Run a command of the command line in a fork of the daemon, which has its modules already."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from hookwright.processes.exits import ExitCode, Status, watch_exit
from hookwright.resident.messages import Reply, Request

#: Seconds between SIGINT, at which a command ends its hooks, and SIGKILL.
_GRACE = 4.0
Main = Callable[[list[str]], int]


async def run_forked(request: Request, main: Main) -> Reply | None:
    """Run a command as its caller would; None if its process must do that.

    Law: the fork is made only while the daemon has one thread, since another one could hold a lock forever. A caller
    that leaves interrupts the command.
    """
    if threading.active_count() > 1:
        return None
    files = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr")]
    try:
        os.pwrite(files[0], request.stdin, 0)
        status = await _run(request, main, files)
        if not isinstance(status, ExitCode):
            return None
        return Reply(status.code, *(os.pread(file, os.fstat(file).st_size, 0) for file in files[1:]))
    finally:
        for file in files:
            os.close(file)


async def _run(request: Request, main: Main, files: list[int]) -> Status:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Status] = loop.create_future()
    pid = os.fork()
    if pid == 0:
        _become(request, main, files)
    watch_exit(loop, pid, ended.set_result)
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        for number, patience in ((signal.SIGINT, _GRACE), (signal.SIGKILL, _GRACE)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            await asyncio.wait((ended,), timeout=patience)
            if ended.done():
                break
        raise


def _become(request: Request, main: Main, files: list[int]) -> NoReturn:
    """Turn this fork into the command; it never returns."""
    status = 1
    try:
        gc.freeze()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor, file in enumerate(files):
            os.dup2(file, descriptor)
        os.closerange(3, 1 << 16)
        os.environ.clear()
        os.environ.update(request.env)
        os.chdir(request.cwd)
        sys.argv = ["hookwright", *request.argv]
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - open as long as the process
        status = main(list(request.argv))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # no exception of a command may continue as the daemon
        with contextlib.suppress(BaseException):
            sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)
