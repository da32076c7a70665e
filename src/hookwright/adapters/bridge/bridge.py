"""The bridge between a framework and the engine: one session of hooks for many conversations, from any thread."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures.thread  # noqa: F401 - loaded before the exit functions at the end are registered
import inspect
import logging
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar, Unpack

import msgspec

from hookwright.adapters.bridge.conversation import Conversation
from hookwright.adapters.bridge.orders import NativeCall, for_user
from hookwright.adapters.bridge.portal import CallerLoop, LoopChoice, Pending, Portal, Work
from hookwright.adapters.bridge.reconcile import SeenResult, refused, report
from hookwright.adapters.tools import Paths, Tool, ToolTable, unmapped, warning
from hookwright.agent.state.stops import Stops
from hookwright.agent.transcript import project_folder
from hookwright.code_hooks import Hooks
from hookwright.config import Places
from hookwright.errors import ConfigError
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import Event, PreToolUse, SessionEnd
from hookwright.protocol.handlers import OnFailure
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.samples import new_session_id
from hookwright.session import HookSession, open_session
from hookwright.visibility import as_sent, late_messages
from hookwright.wiring import Powers

if TYPE_CHECKING:
    from hookwright.adapters.bridge.turn import Turn

T = TypeVar("T")
E = TypeVar("E", bound=Event)

_LOG = logging.getLogger("hookwright.adapters")

#: Answers a question about a call: True lets it run.
Asked = Callable[[NativeCall, str], bool | Awaitable[bool]]


class Choices(TypedDict, total=False):
    """The options of a bridge and of every adapter; `Setup` describes them."""

    hooks: Hooks | None
    tools: Mapping[str, Tool | str | None]
    strict: bool
    ask: Literal["interrupt", "deny"] | Asked
    on_message: Callable[[str], None]
    permission_mode: str
    transcripts: str | None
    journal: bool
    powers: Powers | None
    loop: Literal["portal", "caller"]
    paths: Paths | None


def log_warning(text: str) -> None:
    """Write a message to the logger `hookwright.adapters`, as a warning."""
    _LOG.warning("%s", text)


class BridgeSetup(msgspec.Struct, frozen=True, kw_only=True):
    """How a bridge works."""

    #: Hooks in code, in addition to those of the settings files.
    hooks: Hooks | None = None
    #: Native tool → what it is to hooks: `"Bash"`, `Tool("Bash", input={…})`, or None to leave it as it is.
    tools: Mapping[str, Tool | str | None] = MappingProxyType({})
    #: Refuse to start with a tool that looks like one of Claude's and is not mapped, and refuse the model call after a
    #: tool that ran without hooks.
    strict: bool = False
    #: What a question of a hook does: the framework's own pause, a refusal, or a function that answers it.
    ask: Literal["interrupt", "deny"] | Asked = "interrupt"
    #: Receives what a person has to read: hooks that are not trusted, blocks, failures.
    on_message: Callable[[str], None] = log_warning
    permission_mode: str = "default"
    #: The folder of the transcripts; None for that of the project, empty to write none.
    transcripts: str | None = None
    journal: bool = False
    powers: Powers | None = None
    #: Where hooks run: in a thread of the bridge, or in the event loop of the caller.
    loop: Literal["portal", "caller"] = "portal"
    #: Makes the path of a tool's input absolute, for frameworks with their own file system.
    paths: Paths | None = None


class Bridge:
    """Runs the hooks of a project for the conversations of a framework.

    It can be called from any thread, with or without an event loop, and opens at its first use. A child process after
    `fork` starts with none of its parent's conversations. At the end of the process it closes itself.
    """

    def __init__(self, project: str | Places = ".", **choices: Unpack[Choices]) -> None:
        self.setup = BridgeSetup(**choices)
        self.places = Places(project=project) if isinstance(project, str) else project
        self.cwd = os.path.abspath(os.path.join(self.places.surroundings.cwd, self.places.project))
        paths = self.setup.paths
        self.table = ToolTable(self.setup.tools, paths if paths is not None else self._absolute)
        self._said: set[str] = set()
        self._begin()
        _MADE.add(self)

    def _begin(self) -> None:
        """Start without a loop, a session and conversations: when it is made, and in a child process."""
        self._lock = threading.Lock()
        self._loop: LoopChoice = Portal() if self.setup.loop == "portal" else CallerLoop()
        self._opening = BridgeOpening(self._open)
        self._conversations: dict[str, Conversation] = {}

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.cwd, path))

    def _open(self) -> AbstractAsyncContextManager[HookSession]:
        setup = self.setup
        return open_session(self.places, hooks=setup.hooks, powers=setup.powers, journal=setup.journal)

    def turn(self, session_id: str | None = None, *, agent: str = "", source: str = "startup") -> Turn:
        """Begin a run of an agent in a conversation; None begins a new conversation.

        Inside a tool call of another run of this bridge it is a subagent of that run, `agent` is its type, and
        `session_id` is ignored. `source` is `resume` if the framework already has a history of the conversation.
        """
        from hookwright.adapters.bridge.turn import begin

        return begin(self, session_id, agent, source)

    # ── for turns and adapters ──────────────────────────────────────────────

    def submit(self, work: Work[T]) -> Pending[T]:
        """Start a coroutine where the hooks run."""
        _USED.add(self)
        return self._loop.submit(work)

    def say(self, text: str) -> None:
        """Give a message to the person who reads the log; the same text is said once."""
        if text not in self._said:
            self._said.add(text)
            self.setup.on_message(text)

    def check(self, tools: Mapping[str, Iterable[str]]) -> None:
        """Report tools, by name with their fields, that look like one of Claude's and are not mapped.

        Raise ConfigError for them if the bridge is strict.
        """
        found = [warning(name, claude) for name, claude in unmapped(self.table, tools).items()]
        if found and self.setup.strict:
            raise ConfigError("\n".join(found))
        for text in found:
            self.say(text)

    def conversation(self, session_id: str | None = None) -> Conversation:
        """Return the conversation with an id; a new one if the id is None or not known."""
        name = new_session_id() if session_id is None else str(session_id)
        with self._lock:
            if name not in self._conversations:
                self._conversations[name] = Conversation(name, self._folder(), self.cwd)
            return self._conversations[name]

    def _folder(self) -> str:
        if self.setup.transcripts is not None:
            return self.setup.transcripts
        return project_folder(self.places.surroundings.config_dir, self.cwd, self.places.env)

    def stops(self) -> Stops:
        """Return a counter of the times that stop hooks send an agent back to work."""
        return Stops(self.places.env)

    async def session(self) -> HookSession:
        """Return the open session; the first call opens it and reports what does not run and why."""
        opened = self._opening.opened
        if opened is not None:
            return opened
        session = await self._opening.get()
        self._tell(session.loaded.diagnostics)
        return session

    async def fire(self, event: Event) -> Outcome:
        """Fire an event, and give people what they have to read of it."""
        return await self._fired(await self.session(), event)

    async def _fired(self, session: HookSession, event: Event) -> Outcome:
        outcome = await session.fire(event)
        for text in for_user(outcome):
            self.setup.on_message(text)
        self._tell(outcome.diagnostics)
        if session.notices:
            self._tell(session.notices)
            session.notices.clear()
        return outcome

    async def recheck(self, event: Event, before: Outcome) -> Outcome:
        """Let guards judge an input that was rewritten after PreToolUse."""
        session = await self.session()
        return await session.recheck(event, before.runs)

    def _tell(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            if diagnostic.severity is not Severity.INFO:
                self.say(str(diagnostic))

    async def collect(self) -> None:
        """Put what background hooks said into the conversations they belong to."""
        session = await self.session()
        for late in session.background.collect():
            if late.error is not None:
                self.say(f"{late.job.event.event_name} hook error: {late.error}")
            talk = self._conversations.get(late.job.event.session_id)
            if talk is not None:
                talk.waiting += [part.text for part in as_sent(late_messages(late))]

    async def reconcile(self, talk: Conversation, results: tuple[SeenResult, ...], like: PreToolUse) -> None:
        """Report tools that ran without hooks; a guard that fails closed, or `strict`, refuses the next model call."""
        session = await self.session()
        guarded: list[str] = []
        for result in results:
            self._unhooked(result)
            shaped = self.table.shaped(result.name, {})
            event = msgspec.structs.replace(like, tool_name=shaped.name, also=shaped.also, tool_use_id=result.id)
            guards = [one for one in session.engine.select(event).handlers if one.on_failure is OnFailure.BLOCK]
            if self.setup.strict or guards:
                guarded.append(result.name)
        if guarded:
            talk.refusals.append(refused(dict.fromkeys(guarded)))

    def _unhooked(self, result: SeenResult) -> None:
        key = f"unhooked {result.name}"
        if key not in self._said:
            self._said.add(key)
            self.setup.on_message(report(result))

    async def answered(self, call: NativeCall, question: str) -> bool | None:
        """Return the answer to a hook's question; None if the framework has to ask."""
        match self.setup.ask:
            case "interrupt":
                return None
            case "deny":
                return False
            case ask:
                answer = ask(call, question)
                return bool(await answer) if inspect.isawaitable(answer) else bool(answer)

    def event(self, kind: type[E], talk: Conversation, fields: Mapping[str, Json]) -> E:
        """Build an event of a conversation."""
        return kind(session_id=talk.id, transcript_path=talk.path, cwd=self.cwd, **fields)

    # ── the end ─────────────────────────────────────────────────────────────

    def env_files(self) -> list[tuple[str, str]]:
        """Return the files that hooks filled through CLAUDE_ENV_FILE, as (hook, path), for a shell tool to source."""
        opened = self._opening.opened
        return opened.env_files() if opened is not None else []

    def end(self, session_id: str, reason: str = "other") -> Pending[None]:
        """Fire SessionEnd for a conversation that was started, and forget it."""
        return self.submit(self._end(session_id, reason))

    async def _end(self, session_id: str, reason: str) -> None:
        talk = self._conversations.pop(session_id, None)
        if talk is None:
            return
        try:
            if talk.started:
                await self.fire(self.event(SessionEnd, talk, {"reason": reason}))
        finally:
            talk.close()

    async def aclose(self) -> None:
        """Fire SessionEnd for every conversation, then close the session and the thread."""
        if self._opening.used:
            await self.submit(self._close())
        self._loop.close()
        _USED.discard(self)

    def close(self) -> None:
        """Do the same from a plain function; a second call does nothing."""
        if self._opening.used and isinstance(self._loop, Portal):
            self.submit(self._close()).result()
        self._loop.close()
        _USED.discard(self)

    async def _close(self) -> None:
        opening, self._opening = self._opening, BridgeOpening(self._open)
        for name in list(self._conversations):
            talk = self._conversations.pop(name)
            try:
                if talk.started:
                    await self._fired(await opening.get(), self.event(SessionEnd, talk, {"reason": "other"}))
            finally:
                talk.close()
        await opening.close()


class BridgeOpening:
    """A session that opens at its first use, and closes in the task that opened it."""

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[HookSession]]) -> None:
        self._make = make
        self._task: asyncio.Task[None] | None = None
        #: The session, once it is open.
        self.opened: HookSession | None = None

    @property
    def used(self) -> bool:
        """Whether it was ever opened."""
        return self._task is not None

    async def get(self) -> HookSession:
        """Return the session; raise what opening it raised."""
        if self.opened is not None:
            return self.opened
        if self._task is None:
            self._ready: asyncio.Future[HookSession] = asyncio.get_running_loop().create_future()
            self._closing = asyncio.Event()
            self._task = asyncio.create_task(self._own())
        return await asyncio.shield(self._ready)

    async def _own(self) -> None:
        """Hold the session open. No `async with`: a child process that drops this coroutine must not close anything."""
        session = self._make()
        try:
            self.opened = await session.__aenter__()
        except Exception as error:  # the caller that waits for the session raises it
            self._ready.set_exception(error)
            return
        self._ready.set_result(self.opened)
        await self._closing.wait()
        await session.__aexit__(None, None, None)

    def abandon(self) -> None:
        """Forget the session in a child process, where its loop does not run: its parent closes it."""
        if self._task is not None:
            setattr(self._task, "_log_destroy_pending", False)  # noqa: B010 - asyncio itself does this for such tasks

    async def close(self) -> None:
        """Close the session, its background hooks and its workers."""
        if self._task is not None:
            self._closing.set()
            await self._task


# ── processes ───────────────────────────────────────────────────────────────

#: Every bridge of this process, for a child after `fork`.
_MADE: weakref.WeakSet[Bridge] = weakref.WeakSet()
#: Those with a loop: kept until they are closed, so that every session that started has an end.
_USED: set[Bridge] = set()


#: What bridges had in the parent process: a child never finalises it.
_PARENTS: list[object] = []


def _in_child() -> None:
    _USED.clear()
    for bridge in list(_MADE):
        _PARENTS.append((bridge._loop, bridge._opening, bridge._conversations))
        bridge._opening.abandon()
        bridge._begin()


def _at_exit() -> None:
    for bridge in list(_USED):
        bridge.close()


os.register_at_fork(after_in_child=_in_child)
# Functions of `atexit` run when no thread can be started any more, so hooks in code could not run there. Those of
# `threading` run before, the last one first: before that of `concurrent.futures.thread`, which is imported above.
getattr(threading, "_register_atexit", atexit.register)(_at_exit)
atexit.register(_at_exit)  # for what threads of the program did after that
