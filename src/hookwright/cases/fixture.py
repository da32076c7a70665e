"""Fire single events from a Python test: the same runner as for cases, one call per event."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hookwright.cases.case import Case
from hookwright.cases.inject import read_fault
from hookwright.cases.run import Runner
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.errors import InvalidEvent
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.samples import tool_input
from hookwright.protocol.wire import encode
from hookwright.text import did_you_mean


class HookBench:
    """The hooks of one project, for firing events at them; tests write to scratch copies only.

    The project's hooks are trusted: running the project's tests runs its code anyway.
    """

    def __init__(self, project: str = ".", *, places: Places | None = None) -> None:
        base = places if places is not None else Places(project=project)
        self._places = msgspec.structs.replace(base, trust=TrustPolicy.EVERYTHING)
        self._loop: asyncio.Runner | None = None
        self._runner: Runner | None = None

    def fire(
        self,
        event: str,
        tool: str | None = None,
        input: Mapping[str, Json] | None = None,  # noqa: A002 - the word of the case files
        *,
        given: CaseSetup | None = None,
        **fields: Any,
    ) -> Outcome:
        """Fire an event and wait for every hook; further fields of the event are keywords."""
        if self._loop is None:
            self._loop = asyncio.Runner()
        return self._loop.run(self.afire(event, tool, input, given=given, **fields))

    async def afire(
        self,
        event: str,
        tool: str | None = None,
        input: Mapping[str, Json] | None = None,  # noqa: A002 - the word of the case files
        *,
        given: CaseSetup | None = None,
        **fields: Any,
    ) -> Outcome:
        """Do the same inside a running event loop; use one loop for all calls."""
        if self._runner is None:
            self._runner = await Runner(self._places).__aenter__()
        own = {**fields, **({"tool_input": dict(input)} if input is not None else {})}
        result = await self._runner.run(_case(event, tool, own, given if given is not None else CaseSetup()))
        return result.outcome

    def close(self) -> None:
        """Stop what still runs and remove the scratch folders."""
        if self._loop is not None:
            if self._runner is not None:
                self._loop.run(self.aclose())
            self._loop.close()
            self._loop = None

    async def aclose(self) -> None:
        """Do the same inside a running event loop."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.__aexit__(None, None, None)


class CaseSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The surroundings of one event, with the keys of the case files."""

    settings: Mapping[str, Json] | None = None
    files: Mapping[str, str] = msgspec.field(default_factory=dict)
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    inject: Sequence[str] = ()
    model: Any = None


def _case(event: str, tool: str | None, fields: Mapping[str, Json], given: CaseSetup) -> Case:
    if event not in CATALOGUE:
        raise InvalidEvent(f"`{event}` is not an event{did_you_mean(event, CATALOGUE)}")
    if tool is not None and tool_input(tool, "/") is None and CATALOGUE[event].rules.target == "tool_name":
        fields, tool = {"tool_name": tool, "tool_input": {}, **fields}, None
    said = given.model if isinstance(given.model, str) else encode(given.model).decode()
    return Case(
        name=event,
        event=event,
        fields=fields,
        variant=tool,
        settings=given.settings,
        files=given.files,
        env=given.env,
        faults=tuple(read_fault(text) for text in given.inject),
        model="" if given.model is None else said,
        path="test",
    )
