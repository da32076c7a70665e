"""What the daemon does for its callers: the same as the commands do themselves."""

from __future__ import annotations

import argparse
import functools
import json
import os
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NoReturn

from hookwright._version import __version__
from hookwright.cli.bridges.hook import answer
from hookwright.cli.fast.worker import asked
from hookwright.cli.parsers import parser_of
from hookwright.config import Places
from hookwright.dialects.firing import opened
from hookwright.processes.watchdog import Watchdog
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Kind
from hookwright.resident.forked import run_forked
from hookwright.resident.messages import Reply, Request
from hookwright.resident.server import Command, Daemon, Declined
from hookwright.session import HookSession
from hookwright.warm.workers import Workers
from hookwright.wiring import Powers

#: Projects whose workers are kept, at most; the least recently used ones make room.
_PROJECTS = 16


class Answers:
    """The commands of a daemon, with the workers they share."""

    def __init__(self, main: Callable[[list[str]], int]) -> None:
        self._main = main
        self._watchdog = Watchdog()
        #: By everything that a trust domain is relative to.
        self._workers: OrderedDict[tuple[str | None, ...], Workers] = OrderedDict()

    def commands(self, daemon: Callable[[], Daemon]) -> dict[str, Command]:
        """Return what each request calls, by its first argument."""

        async def status(_: Request) -> Reply:
            here = daemon()
            facts = {"pid": os.getpid(), "version": __version__, "socket": here.path, "answered": here.answered}
            return Reply(0, json.dumps({**facts, "running": len(here.running) - 1}).encode() + b"\n")

        async def stop(_: Request) -> Reply:
            daemon().retire()
            return Reply(0)

        return {"hook": self._hook, "worker": self._worker, "fire": self._fire, "status": status, "stop": stop}

    async def aclose(self) -> None:
        """End the workers and the watchdog."""
        for workers in self._workers.values():
            await workers.aclose()
        await self._watchdog.aclose()

    async def _hook(self, request: Request) -> Reply:
        args = _parsed(request.argv)

        def places(cwd: str) -> Places:
            return Places(project=cwd, env=request.env, cwd=request.cwd, sources=args.setting_sources, agent=args.agent)

        @asynccontextmanager
        async def open_here(places: Places, first: Event) -> AsyncIterator[HookSession]:
            powers = Powers(workers=await self._workers_of(request, first.cwd), watchdog=self._watchdog)
            async with opened(places, first, powers) as session:
                _refuse_other_kinds(session)
                yield session

        said = await answer(args, request.stdin, places, open_here)
        out = said.stdout + "\n" if said.stdout else ""
        return Reply(said.status, out.encode("utf-8", "backslashreplace"), said.stderr.encode("utf-8", "replace"))

    async def _worker(self, request: Request) -> Reply:
        workers = await self._workers_of(request, request.cwd)
        reply = await asked(_parsed(request.argv), request, workers)
        if reply is None:
            raise Declined
        return reply

    async def _fire(self, request: Request) -> Reply:
        reply = await run_forked(request, self._main)
        if reply is None:
            raise Declined
        return reply

    async def _workers_of(self, request: Request, cwd: str) -> Workers:
        env = request.env
        key = (cwd, request.cwd, env.get("HOME"), env.get("CLAUDE_CONFIG_DIR"), env.get("HOOKWRIGHT_TRUST"))
        workers = self._workers.pop(key, None) or Workers()
        self._workers[key] = workers
        if len(self._workers) > _PROJECTS:
            _, oldest = self._workers.popitem(last=False)
            await oldest.aclose()
        return workers


def _refuse_other_kinds(session: HookSession) -> None:
    """Decline where a hook is not a command: libraries for HTTP and models read the environment of their process."""
    if any(entry.handler.kind is not Kind.COMMAND for entry in session.engine.hooks):
        raise Declined


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Declined(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Declined(status, message)


@functools.lru_cache(maxsize=64)
def _parsed(argv: tuple[str, ...]) -> argparse.Namespace:
    """Read the options of a command; decline what it would print help or an error for."""
    return parser_of(argv[0], _Parser).parse_args(argv[1:])
