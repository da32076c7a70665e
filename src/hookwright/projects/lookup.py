"""Run the search program: each request in its own process, within a time limit."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import msgspec

from hookwright.processes.guard import RUN_VARIABLE, mark_prefix, start_guarded
from hookwright.processes.process import Command, ExitCode, Expired, Limits, NotStarted, Process, start
from hookwright.processes.watchdog import Watchdog
from hookwright.projects.files import Refused
from hookwright.protocol.jsontext import Json

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_MAIN = "import sys; sys.path.insert(0, sys.argv[1]); from hookwright.projects.search import main; main()"
_LIMITS = Limits(stdout=64 * 1024 * 1024)


class Search(msgspec.Struct, frozen=True):
    """How searches are started, and how long one may take in seconds."""

    #: `HOME` is what `~` means; a mark in it is continued.
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    watchdog: Watchdog | None = None
    limit: float = 20.0

    async def ask(self, tool: str, **request: Json) -> Json:
        """Return the program's answer; raise Refused with the reason when there is none."""
        command = Command(
            argv=(sys.executable, "-I", "-S", "-X", "utf8", "-c", _MAIN, _ROOT),
            cwd="/",
            env=self.env,
            stdin=msgspec.json.encode({"tool": tool, **request}),
            mark=f"{RUN_VARIABLE}={mark_prefix(self.env)}{tool.lower()}",
        )
        process = start_guarded(command, self.limit, self.watchdog, _start)
        if isinstance(process, NotStarted):
            raise Refused(f"{tool} could not be started: {process.message}")
        ended = await process.wait()
        if isinstance(ended, Expired):
            raise Refused(f"{tool} took over {self.limit:g} seconds. Use a simpler pattern or a smaller folder.")
        if ended.status != ExitCode(0):
            raise Refused(f"{tool} failed: {ended.output.stderr.data.decode('utf-8', 'replace')[-2000:]}")
        if ended.output.stdout.truncated:
            raise Refused(f"{tool} found more than {_LIMITS.stdout:,} bytes; search a smaller folder.")
        answer = msgspec.json.decode(ended.output.stdout.data)
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer


def _start(command: Command, limit: float | None) -> Process | NotStarted:
    return start(command, limit, _LIMITS)
