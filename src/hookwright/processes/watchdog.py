"""End the hooks of a host that was killed.

A hook leads its own session, so the system does not end it with its host: after `kill -9` it would keep running. The
watchdog is a second, small process. The host tells it through a pipe which runs are alive; when the host is gone, it
ends them and exits. It costs three short writes per hook, and one process per session, started with the first hook.

    python -I -S watchdog.py HOST_PID        lines on stdin: `+MARK`, `=MARK PID`, `-MARK`
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import time

#: Seconds between SIGTERM and SIGKILL, as for a hook at its time limit.
GRACE = 1.5
_LOOK = 0.02
_CLOSING = 5.0


class Watchdog:
    """The host's side: reports which runs are alive."""

    def __init__(self) -> None:
        self._live: dict[str, int] = {}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The pid of the watchdog's own process; None until it is needed."""
        return self._process.pid if self._process is not None else None

    def guard(self, mark: str) -> None:
        """Register a run before its process starts, so that it is known at every moment."""
        self._live[mark] = 0
        self._say(f"+{mark}\n")

    def started(self, mark: str, pid: int) -> None:
        """Register the process of a run: its pid finds it even where its environment cannot be read."""
        self._live[mark] = pid
        self._say(f"={mark} {pid}\n")

    def release(self, mark: str) -> None:
        """Report that a run is over; processes it left in the background are not ended."""
        if self._live.pop(mark, None) is not None:
            self._say(f"-{mark}\n")

    async def aclose(self) -> None:
        """Close the watchdog, and wait until it has exited."""
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        until = time.monotonic() + _CLOSING
        while process.poll() is None:
            if time.monotonic() > until:
                process.kill()
            await asyncio.sleep(_LOOK / 4)

    def _say(self, line: str) -> None:
        if self._process is None or self._process.poll() is not None:
            self._start()
            line = "".join(f"+{mark}\n={mark} {pid}\n" if pid else f"+{mark}\n" for mark, pid in self._live.items())
        if self._process is not None and self._process.stdin is not None:
            # A stopped watchdog must not stop the host: what does not fit into the pipe is dropped.
            with contextlib.suppress(OSError):
                os.write(self._process.stdin.fileno(), line.encode())

    def _start(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        command = [sys.executable, "-I", "-S", os.path.abspath(__file__), str(os.getpid())]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
                bufsize=0,
            )
        except OSError:  # no process can be started, so no hook can either
            self._process = None
            return
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)


# ── the watchdog's own process ──────────────────────────────────────────────


def main(host: int) -> None:
    """Listen until the host is gone, then end the runs it left."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    end(listen(host))


def listen(host: int) -> dict[str, int]:
    """Keep the list of live runs until stdin or the host ends; return the runs left."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    with contextlib.suppress(
        OSError, AttributeError
    ):  # an old kernel, or a system without it: then only the pipe reports the end
        poll.register(os.pidfd_open(host), select.POLLIN)
    live: dict[str, int] = {}
    pending = b""
    gone = False
    while not gone:
        ready = [descriptor for descriptor, _ in poll.poll()]
        gone = any(descriptor != 0 for descriptor in ready)
        if 0 in ready or gone:
            os.set_blocking(0, not gone)
            piece = _read()
            gone = gone or not piece
            while piece:
                *lines, pending = (pending + piece).split(b"\n")
                for line in lines:
                    _note(line.decode("ascii", "replace"), live)
                piece = _read() if gone else b""
    return live


def _read() -> bytes:
    try:
        return os.read(0, 65536)
    except OSError:
        return b""


def _note(line: str, live: dict[str, int]) -> None:
    found = re.fullmatch(r"([+=-])(\w+=[\w./-]+)(?: (\d{1,9}))?", line)
    if found is None:  # a line that names no run must not end anything
        return
    sign, mark, pid = found.groups()
    if sign == "-":
        live.pop(mark, None)
    else:
        live[mark] = int(pid) if pid is not None else live.get(mark, 0)


def end(live: dict[str, int]) -> None:
    """End the processes of every run: each group by SIGTERM, then whatever is left by SIGKILL.

    A run without a pid was being started when its host died: its process may get its mark only now, so it is
    searched for until the time is up.
    """
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    from hookwright.processes.group import Group, leaders

    groups: dict[int, Group] = {}
    until = time.monotonic() + GRACE
    open_ = dict(live)
    while open_ or any(group.alive() for group in groups.values()):
        for mark, pid in list(open_.items()):
            found = leaders(mark) | ({pid} if pid else set())
            for leader in found - groups.keys():
                groups[leader] = group = Group(leader, mark)
                group.signal(signal.SIGTERM)
                group.signal(signal.SIGCONT)
            if found:
                del open_[mark]
        if time.monotonic() > until:
            break
        time.sleep(_LOOK)
    for group in groups.values():
        group.signal(signal.SIGKILL)
        group.end_strays()


if __name__ == "__main__":
    main(int(sys.argv[1]))
