"""The executors of a replay: the engine's own, with what they may not do left out and what they did written down."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping

import msgspec

from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler, Kind
from hookwright.protocol.job import Executor, Job
from hookwright.protocol.replies import Exited, Failed, Failure, Reply, TimedOut
from hookwright.protocol.wire import encode_event
from hookwright.replay.facts import PASSING, PastFacts
from hookwright.replay.isolation.views import View
from hookwright.replay.model import Code, Doubt
from hookwright.replay.past import Past, Provenance

#: Kinds of handlers that are not asked in a replay.
NOT_ASKED = {
    Kind.PROMPT: Code.MODEL,
    Kind.AGENT: Code.MODEL,
    Kind.HTTP: Code.HTTP,
    Kind.MCP_TOOL: Code.MCP,
    Kind.CALLBACK: Code.CODE,
    Kind.FUNCTION: Code.CODE,
}
_KEPT_FROM_WRITING = re.compile(rb"Permission denied|Read-only file system|Operation not permitted|PermissionError")
_NO_NETWORK = re.compile(
    rb"[Nn]etwork is unreachable|[Nn]ame resolution|[Cc]ould not resolve|getaddrinfo|ENETUNREACH|EAI_AGAIN"
    rb"|Name or service not known|nodename nor servname"
)
#: What equal events have instead of the ids and paths of a session.
_CONSTANT = "replay"


class Witness(msgspec.Struct):
    """What was seen while one event was replayed, by handler id."""

    doubts: list[Doubt] = msgspec.field(default_factory=list)
    reused: set[str] = msgspec.field(default_factory=set)
    #: Milliseconds of the run whose answer was used again.
    took: dict[str, float] = msgspec.field(default_factory=dict)


class KeptAnswers:
    """Answers to events of equal content, of handlers that depend on nothing else."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[Exited, float]] = {}

    def get(self, key: bytes) -> tuple[Exited, float] | None:
        """Return the answer to an equal event, and the milliseconds it took."""
        return self._known.get(key)

    def put(self, key: bytes, reply: Exited, ms: float) -> None:
        """Keep an answer."""
        self._known[key] = (reply, ms)


def moved(path: str, project: str, copy: str) -> str:
    """Return a path of the project as a path of its copy; any other path as it is."""
    if path == project or path.startswith(project.rstrip("/") + "/"):
        return copy + path[len(project) :]
    return path


class Inside:
    """Starts hooks in the copy of the project that belongs to a view; what they read says where it happened."""

    def __init__(self, command: Executor, place: Callable[[str], str]) -> None:
        self._command = command
        self._place = place

    async def __call__(self, job: Job) -> Reply:
        """Pass the job on with another working directory; its payload stays the same."""
        cwd = self._place(job.event.cwd)
        return await self._command(msgspec.structs.replace(job, event=msgspec.structs.replace(job.event, cwd=cwd)))


class Watched:
    """Wraps the executors of one configuration; everything after the reply is the engine's own."""

    def __init__(
        self,
        asked: Mapping[Kind, Executor],
        facts: Callable[[Handler], PastFacts],
        view: View,
        answers: KeptAnswers | None,
    ) -> None:
        self._command = asked[Kind.COMMAND]
        #: Executors of other kinds that are asked.
        self._others: dict[Kind, Executor] = {kind: asked[kind] for kind in asked if kind is not Kind.COMMAND}
        self._state = ""
        self._facts = facts
        self._view = view
        self._answers = answers
        self._turn = asyncio.Lock()
        self._past: Past | None = None
        self._witness = Witness()

    def executors(self, pure: frozenset[str]) -> dict[Kind, Executor]:
        """Return executors for every kind; handlers whose id is in `pure` are asked once about equal events."""

        async def command(job: Job) -> Reply:
            # One at a time: what a hook wrote is then known to be its own.
            async with self._turn:
                return await self._asked(job, pure)

        found = dict(self._others)
        found[Kind.COMMAND] = command
        for kind in NOT_ASKED:
            found.setdefault(kind, self._not_asked)
        return found

    def begin(self, past: Past, state: str) -> Witness:
        """Start to watch the hooks of one event; answers in one state of the files are not those in another."""
        self._past, self._witness, self._state = past, Witness(), state
        return self._witness

    async def _not_asked(self, job: Job) -> Reply:
        facts = self._facts(job.handler)
        if not facts.idle:
            self._witness.doubts.append(Doubt(NOT_ASKED[job.handler.kind], facts.id))
        return Failed(Failure.UNSUPPORTED, f"{job.handler.kind.value} handlers are not asked in a replay")

    async def _asked(self, job: Job, pure: frozenset[str]) -> Reply:
        facts = self._facts(job.handler)
        if facts.id not in pure:
            reply = await self._command(job)
        else:
            reply = await self._by_content(job, facts)
        if not facts.idle:
            self._witness.doubts += self._doubts(facts, reply)
        return reply

    async def _by_content(self, job: Job, facts: PastFacts) -> Reply:
        """Ask a handler about the content of an event, or use its answer to an equal one."""
        same = without_passing(job.event)
        payload = encode_event(same)
        about = (facts.id, self._state, job.event.cwd)
        key = hashlib.sha256(b"\0".join((*(part.encode() for part in about), payload))).digest()
        known = self._answers.get(key) if self._answers is not None else None
        if known is not None:
            self._witness.reused.add(facts.id)
            self._witness.took[facts.id] = known[1]
            return known[0]
        before, began = self._view.written(), asyncio.get_running_loop().time()
        reply = await self._command(msgspec.structs.replace(job, event=same, payload=payload))
        took = (asyncio.get_running_loop().time() - began) * 1000
        if self._view.written() != before:
            # What it says may depend on what it left. Other hooks of the session may have written before it.
            self._witness.doubts.append(Doubt(Code.STATE, facts.id, "it wrote, though not when it was tried"))
        elif isinstance(reply, Exited) and self._answers is not None:
            self._answers.put(key, reply, took)
        return reply

    def _doubts(self, facts: PastFacts, reply: Reply) -> list[Doubt]:
        """Return why this answer may not be that of then.

        Law: a reply that shows a refused write or a missing network is doubted; so is one of a handler that uses the
        network, reads the clock, or names a field whose value is not known or only assumed, if its text or this reply
        decides anything.
        """
        found = []
        printed = reply.stderr + reply.stdout if isinstance(reply, Exited) else b""
        if self._view.isolated and _KEPT_FROM_WRITING.search(printed):
            found.append(Doubt(Code.WRITE, facts.id))
        matters = facts.decides or bool(printed.strip()) or (isinstance(reply, Exited) and reply.status != 0)
        if self._view.isolated and (_NO_NETWORK.search(printed) or (facts.network and matters)):
            found.append(Doubt(Code.NETWORK, facts.id))
        if isinstance(reply, TimedOut):
            found.append(Doubt(Code.TIMEOUT, facts.id, f"{reply.limit:g} s"))
        if facts.clock and matters:
            found.append(Doubt(Code.CLOCK, facts.id))
        if self._past is not None and matters:
            unsure = (Provenance.UNKNOWN, Provenance.ASSUMED)
            unknown = [name for name, how in self._past.provenance.items() if how in unsure]
            found += [Doubt(Code.FIELD, facts.id, name) for name in sorted(unknown) if facts.names(name)]
        return found


def without_passing(event: Event) -> Event:
    """Return an event with constants for the ids and paths that differ between events of equal content."""
    known: Mapping[str, str] = {name: _CONSTANT for name in PASSING if isinstance(getattr(event, name, None), str)}
    return msgspec.structs.replace(event, **known)
