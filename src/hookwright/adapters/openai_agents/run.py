"""One run of an agent in the OpenAI Agents SDK, and what happens around each of its tool calls."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from agents import UserError

from hookwright.adapters.bridge.orders import Before, NativeCall
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.bridge.turn import Turn
from hookwright.adapters.openai_agents.values import field, with_notes
from hookwright.protocol.jsontext import Json

F = TypeVar("F", bound=Callable[..., Any])

_NOT_APPROVED = "The call was not approved."

#: What identifies an operation of a patch: its kind, path, text and new path.
Operation: TypeAlias = tuple[str, str, str | None, str | None]


class Inner:
    """A tool call that runs; an agent inside it may pause."""

    def __init__(self) -> None:
        self.paused = False


#: The tool call in this context.
_inner: contextvars.ContextVar[Inner | None] = contextvars.ContextVar("hookwright_openai_call", default=None)


class Run:
    """One run of an agent, until no person has to answer for it any more."""

    def __init__(self, turn: Turn, *, above: Run | None, prompt: str | None, lasting: bool, delta: bool) -> None:
        self.turn = turn
        #: The run whose tool call this run is part of.
        self.above = above
        self.within = _inner.get()
        #: The user's prompt; None if the run continues with the answer of a person.
        self.prompt = prompt
        self.prompted = False
        #: Whether the conversation can continue after this run.
        self.lasting = lasting
        #: Whether a model request has only what is new, since the service keeps the rest.
        self.delta = delta
        #: An agent that took over by a handoff.
        self.took_over: Turn | None = None
        #: Names under which models handed over.
        self.handoffs: set[str] = set()
        #: Why a hook ended the run.
        self.ended: str | None = None
        #: Whether the model is being called.
        self.asking = False
        #: Messages that hooks added to requests of this run, each with its place.
        self.added: list[tuple[int, Any]] = []
        #: What hooks decided about calls that are not over, by id.
        self.orders: dict[str, tuple[NativeCall, Before]] = {}
        #: What tools raised, by the id of the call.
        self.failures: dict[str, str] = {}
        #: Calls that the provider ran itself and that were not compared yet.
        self.provider: list[SeenResult] = []
        #: Runs inside tool calls of this run that wait for a person, by the id of each call that they wait for.
        self.paused: dict[str, Run] = {}
        #: The operations of patches as calls, and those that belong together.
        self.operations: dict[Operation, NativeCall] = {}
        self.patches: dict[str, list[NativeCall]] = {}
        #: Why operations that follow must not run, by the id of the operation.
        self.verdicts: dict[str, str | None] = {}

    @property
    def active(self) -> Turn:
        """The run of the agent that works: the one that took over, or the first."""
        return self.took_over if self.took_over is not None else self.turn

    def taken(self) -> list[SeenResult]:
        """Return the calls of the provider, once."""
        taken, self.provider = self.provider, []
        return taken

    def refused(self, items: Sequence[Any]) -> Iterator[tuple[NativeCall, str]]:
        """Yield the calls that a person refused, with the reason: hooks asked about them, and they have a result."""
        for item in items:
            name = str(field(item, "call_id"))
            if str(field(item, "type")).endswith("_call_output") and name in self.orders:
                call, _ = self.orders.pop(name)
                said = field(item, "output")
                yield call, said if isinstance(said, str) else _NOT_APPROVED

    def question(self, call_id: str) -> str | None:
        """Return what hooks ask about a call of this run, or of a run inside one of its calls."""
        found = self.orders.get(call_id)
        if found is not None:
            return found[1].ask
        inner = self.paused.get(call_id)
        return inner.question(call_id) if inner is not None else None

    async def judged(self, call: NativeCall) -> Before:
        """Return what hooks decide about a call; they are asked once."""
        if call.id not in self.orders:
            self.orders[call.id] = (call, await self.active.pre(call))
        return self.orders[call.id][1]

    async def order(self, call: NativeCall) -> Before:
        """Return what hooks decided about a call that now runs: if they asked, a person approved it."""
        found = self.orders.pop(call.id, None)
        order = found[1] if found is not None else await self.active.resume(call)
        self.ended = order.stop or self.ended
        return order


#: The run that goes on in this context.
running: contextvars.ContextVar[Run | None] = contextvars.ContextVar("hookwright_openai_run", default=None)


def current() -> Run:
    """Return the run of this context; raise UserError where there is none, since hooks could not be asked."""
    run = running.get()
    if run is None:
        raise UserError("hooks cannot be asked outside a run of HookedRunner: resume this run with the same runner")
    return run


#: Runs a tool with an input and returns its result.
Work = Callable[[Before], Awaitable[Json]]


async def around(call: NativeCall, work: Work, sticks: bool = True) -> Json:
    """Run a tool as hooks decide; its result carries the texts of hooks if it can."""
    run = current()
    order = await run.order(call)
    if order.refusal is not None:
        return with_notes(order.refusal, order.notes)
    inner = Inner()
    with run.active.inside(), _inside(inner):
        try:
            output = await work(order)
        except Exception as error:  # whatever a tool raises is a failure that hooks hear of; the SDK handles it
            after = await run.active.failed(call, str(error) or type(error).__name__)
            await run.active.later(after.notes)
            raise
    if inner.paused:  # an agent inside the call waits for a person: the call is not over, and the SDK makes it again
        run.orders[call.id] = (call, order)
        return output
    return await _ended(run, call, output, sticks)


async def _ended(run: Run, call: NativeCall, output: Json, sticks: bool) -> Json:
    failure = run.failures.pop(call.id, None)
    if failure is not None:
        after = await run.active.failed(call, failure)
        final = output
    else:
        after = await run.active.post(call, output)
        final = after.output if after.rewritten else output
    run.ended = after.stop or run.ended
    if sticks and isinstance(final, str):
        return with_notes(final, after.notes)
    await run.active.later(after.notes)
    return final


@contextmanager
def _inside(inner: Inner) -> Iterator[None]:
    token = _inner.set(inner)
    try:
        yield
    finally:
        _inner.reset(token)


#: The mark of what already has hooks around it.
HOOKED = "__hookwright__"


def marked(function: F) -> F:
    """Mark a function that has hooks around it."""
    setattr(function, HOOKED, True)
    return function


async def asks(call: NativeCall, own: Any, *args: Any) -> bool:
    """Return whether a person has to approve a call: hooks ask, or the tool's own rule does."""
    order = await current().judged(call)
    if order.refusal is not None:
        return False
    needed = own(*args) if callable(own) else own
    needed = await needed if hasattr(needed, "__await__") else needed
    return order.ask is not None or bool(needed)


async def result_of(made: Any) -> Any:
    """Return the result of a function of the program, which may be a coroutine."""
    return await made if hasattr(made, "__await__") else made
