"""One host in one folder: a home, a project, a state folder, a session, and a list of what went wrong."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from faults.hostile import ALLOW, DENY, NONE, answer, says
from faults.leftovers import MARK, State, forget_peak, leftovers, marked, peak, resident, state
from hookwright.config import Places
from hookwright.protocol.events import Event
from hookwright.protocol.outcome import Allow, Ask, Block, Deny, Outcome
from hookwright.protocol.samples import sample
from hookwright.session import HookSession, open_session
from hookwright.wiring import Powers

_WORDS: dict[type, str] = {Allow: ALLOW, Ask: "ask", Deny: DENY, Block: "block"}
#: The hook of the event after a fault; it matches this tool.
NEXT = "Next"
SIBLING = says(answer("deny").replace("told", "sibling"))


def word(outcome: Outcome) -> str:
    """Name what an event came to."""
    return _WORDS.get(type(outcome.decision), NONE)


def codes(outcome: Outcome) -> set[str]:
    """List the codes of an outcome's diagnostics."""
    return {diagnostic.code for diagnostic in outcome.diagnostics}


class World:
    """The places of one row, and what was found while it ran."""

    def __init__(self, folder: Path, mark: str) -> None:
        self.folder = folder
        self.mark = mark
        self.home = folder / "home"
        self.project = folder / "project"
        self.state = folder / "state"
        self.temporary = folder / "tmp"
        for made in (self.home / ".claude", self.project, self.state, self.temporary):
            made.mkdir(parents=True)
        self.tried = 0
        self.wrong: list[str] = []
        self.left: list[str] = []
        #: Why the row cannot be decided here.
        self.undecided = ""
        self.over = 0.0
        self.peak = 0.0
        self._base = 0.0
        self._before: State | None = None

    @property
    def env(self) -> dict[str, str]:
        """Give the environment that hooks inherit."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "HOOKWRIGHT_STATE_DIR": str(self.state),
            "HOOKWRIGHT_MANAGED_SETTINGS": str(self.folder / "none"),
            MARK: self.mark,
        }

    def event(self, tool: str, name: str = "PreToolUse", size: int = 0, **changes: Any) -> Event:
        """Make an event of a tool with so many bytes of text."""
        if size:
            changes["tool_input"] = {"command": "x" * size}
        return sample(name, cwd=str(self.project), tool_name=tool, **changes)

    @asynccontextmanager
    async def session(self, *groups: tuple[str, list[dict[str, Any]]], **more: Any) -> AsyncIterator[HookSession]:
        """Open a session with hooks by tool, and one for the event after the fault."""
        hooks = {"hooks": {"PreToolUse": [{"matcher": tool, "hooks": list(handlers)} for tool, handlers in groups]}}
        hooks["hooks"]["PreToolUse"].append({"matcher": NEXT, "hooks": [command(SIBLING)]})
        env = more.pop("env", self.env)
        places = Places(project=str(self.project), env=env, settings=(json.dumps(hooks),), **more.pop("places", {}))
        powers = more.pop("powers", Powers())
        async with open_session(places, powers=powers, journal=True, **more) as session:
            await self.next_works(session)  # warms up what is made once
            self.begin()
            yield session

    def begin(self) -> None:
        """Take what is there now as the state to come back to."""
        forget_peak()
        self._base = resident()
        self._before = state(self.mark, [self.project, self.temporary])

    def check(self, holds: bool, complaint: str, outcome: Outcome | None = None) -> None:
        """Count one expectation."""
        self.tried += 1
        if not holds:
            self.wrong.append(f"{complaint}: {shown(outcome)}" if outcome is not None else complaint)

    async def fire(self, session: HookSession, event: Event, limit: float | None = None) -> Outcome:
        """Fire an event and remember how long it went over its limit."""
        started = time.monotonic()
        outcome = await session.fire(event)
        if limit is not None:
            self.over = max(self.over, time.monotonic() - started - limit)
        return outcome

    async def next_works(self, session: HookSession) -> None:
        """Expect that an ordinary hook denies an ordinary event."""
        outcome = await session.fire(self.event(NEXT))
        self.check(word(outcome) == DENY and "sibling" in outcome.reasons, "the next event", outcome)

    def living(self) -> frozenset[int]:
        """List the processes that were not there when the row began."""
        assert self._before is not None
        return frozenset(marked(self.mark)) - {os.getpid()} - self._before.processes

    async def settle(self, allowed: int = 0) -> None:
        """Wait a moment for the kernel, then name what is left; so many processes may live on and are ended here."""
        assert self._before is not None
        self.peak = max(self.peak, peak() - self._base)
        found: list[str] = []
        for _ in range(100):
            after = state(self.mark, [self.project, self.temporary])
            found = leftovers(self._before, after)
            living = sum(text.startswith("process") for text in found)
            if living == allowed and len(found) == living:
                break
            await asyncio.sleep(0.02)
        extra = [text for text in found if not text.startswith("process")]
        living = sum(text.startswith("process") for text in found)
        if living != allowed:
            extra += [text for text in found if text.startswith("process")] or [f"{allowed} should live on, none does"]
        self.left += extra
        for pid in sorted(after.processes - self._before.processes):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)


def shown(outcome: Outcome) -> str:
    """Describe an outcome on one line."""
    errors = [run.verdict.error[:200] for run in outcome.runs if run.verdict.error]
    return f"{word(outcome)} {sorted(codes(outcome))} {[type(run.reply).__name__ for run in outcome.runs]} {errors}"


def command(text: str, **fields: Any) -> dict[str, Any]:
    """Make a command handler of a settings file."""
    return {"type": "command", "command": text.replace("PYTHON", sys.executable), **fields}
