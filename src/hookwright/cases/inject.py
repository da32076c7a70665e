"""Failure injection: a handler's reply is replaced; everything after the reply is real."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from hookwright.errors import InvalidEvent
from hookwright.protocol.handlers import Handler, Kind
from hookwright.protocol.job import Executor, Job
from hookwright.protocol.replies import Exited, Failed, Failure, Reply, TimedOut
from hookwright.text import did_you_mean

#: The faults that can be injected, with their meaning.
FAULTS = {
    "timeout": "the hook times out",
    "crash": "the hook is killed by a signal, the server is down, or the callback raises",
    "garbage": "the hook prints half a JSON object",
    "missing": "the hook's program is missing",
    "huge": "the hook prints a megabyte of text",
    "slow": "the hook starts late (slow=2s, slow=300ms)",
}
_FAILURES = {
    Kind.HTTP: Failure.CONNECTION,
    Kind.MCP_TOOL: Failure.CONNECTION,
    Kind.PROMPT: Failure.MODEL,
    Kind.AGENT: Failure.MODEL,
}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}


class Fault(msgspec.Struct, frozen=True):
    """One fault and the handlers it affects; an empty pattern means all of them."""

    name: str
    pattern: str = ""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """The fault as the user types it."""
        return f"{self.name}={self.seconds:g}s" if self.name == "slow" else self.name

    def strikes(self, handler: Handler) -> bool:
        """Return whether a handler is affected: its label contains the pattern, or matches it as a glob."""
        return self.pattern in handler.label or fnmatchcase(handler.label, self.pattern)


def read_fault(text: str) -> Fault:
    """Read `timeout`, `slow=2s` or `crash:PATTERN`; raise InvalidEvent for anything else."""
    head, _, pattern = text.partition(":")
    name, equals, length = head.partition("=")
    if name not in FAULTS or (equals and name != "slow"):
        known = ", ".join("slow=2s" if known == "slow" else known for known in FAULTS)
        raise InvalidEvent(f"`{text}` cannot be injected; write one of {known}{did_you_mean(name, FAULTS)}")
    if name != "slow":
        return Fault(name, pattern)
    found = _DURATION.fullmatch(length)
    if found is None:
        raise InvalidEvent(f"`{text}`: write a delay, for example slow=2s or slow=300ms")
    return Fault(name, pattern, float(found[1]) * _UNITS[found[2]])


class Injector:
    """Wraps the executors of an engine and records the runs it changed."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        #: Run id → the fault, as the user types it.
        self.struck: dict[str, str] = {}

    def wrap(self, executors: Mapping[Kind, Executor]) -> dict[Kind, Executor]:
        """Return executors that check for faults first."""
        return {kind: self._before(executor) for kind, executor in executors.items()}

    def _before(self, executor: Executor) -> Executor:
        async def run(job: Job) -> Reply:
            for fault in self.faults:
                if fault.strikes(job.handler):
                    self.struck[job.run_id] = fault.text
                    return await _reply(fault, job, executor)
            return await executor(job)

        return run


async def _reply(fault: Fault, job: Job, executor: Executor) -> Reply:
    if fault.name == "slow":
        return await _slow(fault.seconds, job, executor)
    if fault.name == "timeout":
        return TimedOut(job.timeout if job.timeout is not None else 0.0)
    if job.handler.kind is not Kind.COMMAND:
        why = _FAILURES.get(job.handler.kind, Failure.EXCEPTION)
        return Failed(Failure.ANSWER if fault.name in ("garbage", "huge") else why, f"injected {fault.name}")
    match fault.name:
        case "crash":
            return Exited(128 + 11, b"", b"Segmentation fault\n", signal=11)
        case "garbage":
            return Exited(0, b'{"hookSpecificOutput": {"hookEventName": }', b"")
        case "huge":
            return Exited(0, b"x" * (1 << 20), b"")
        case _:
            return Exited(127, b"", b"sh: 1: injected: not found\n")


async def _slow(seconds: float, job: Job, executor: Executor) -> Reply:
    """Delay the handler; the delay is part of its timeout."""
    if job.timeout is not None and seconds >= job.timeout:
        await asyncio.sleep(job.timeout)
        return TimedOut(job.timeout)
    await asyncio.sleep(seconds)
    left = job.timeout - seconds if job.timeout is not None else None
    return await executor(msgspec.structs.replace(job, timeout=left))
