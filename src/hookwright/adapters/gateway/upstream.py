"""The server's side: a process that is started for the client, with its stderr passed through."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol

from hookwright.errors import McpError
from hookwright.processes.group import Group
from hookwright.processes.watchdog import Watchdog

#: Seconds a server has to exit by itself after its stdin was closed, and after SIGTERM.
_LEAVE, _TERM = 1.0, 0.7
_CHUNK = 65_536
MARK = "HOOKWRIGHT_MCP_SERVER"


class Upstream(Protocol):
    """A server, whichever way it is reached."""

    async def send(self, line: bytes) -> None:
        """Send a line; one that cannot be sent any more is dropped, since `chunks` ends."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield what the server sends, until it is gone."""

    async def ended(self) -> tuple[int, str]:
        """Return the exit status and the words for the end of a server that is gone."""

    async def close(self) -> None:
        """End the server."""


class ServerProcess:
    """A server on stdio."""

    def __init__(self, process: Process, mark: str, watchdog: Watchdog) -> None:
        self._process = process
        self._mark = mark
        self._watchdog = watchdog

    @classmethod
    async def start(cls, argv: Sequence[str], env: Mapping[str, str], watchdog: Watchdog) -> ServerProcess:
        """Start a server as leader of its own group, which ends as a whole; raise McpError if it cannot start."""
        mark = f"{MARK}={os.urandom(8).hex()}"
        watchdog.guard(mark)
        try:
            process = await asyncio.create_subprocess_exec(
                *argv, stdin=PIPE, stdout=PIPE, env={**env, MARK: mark.removeprefix(f"{MARK}=")}, start_new_session=True
            )
        except (OSError, ValueError) as error:
            watchdog.release(mark)
            raise McpError(f"the MCP server `{argv[0]}` cannot be started: {_reason(error)}") from None
        watchdog.started(mark, process.pid)
        return cls(process, mark, watchdog)

    async def send(self, line: bytes) -> None:
        """Write a line to the server's stdin."""
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            self._process.stdin.write(line)
            await self._process.stdin.drain()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield what the server prints to stdout."""
        assert self._process.stdout is not None
        while chunk := await self._process.stdout.read(_CHUNK):
            yield chunk

    async def ended(self) -> tuple[int, str]:
        """Wait for the exit of a server that closed its stdout; one that does not exit is ended."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _LEAVE)
        status = self._process.returncode
        if status is None:
            return 1, "closed its output"
        return (128 - status, f"was ended by signal {-status}") if status < 0 else (status, f"exited with {status}")

    async def close(self) -> None:
        """Close stdin and wait; then SIGTERM and SIGKILL to the server's whole group."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        group = Group(self._process.pid, self._mark)
        if not await self._gone(_LEAVE):
            group.signal(signal.SIGTERM)
            await self._gone(_TERM)
        group.signal(signal.SIGKILL)
        group.end_strays()
        await self._process.wait()
        self._watchdog.release(self._mark)

    async def _gone(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), seconds)
        return self._process.returncode is not None


def _reason(error: OSError | ValueError) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
