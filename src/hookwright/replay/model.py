"""What a replay finds: what hooks say now about each past event, how sure that is, and how it differs."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence

import msgspec

from hookwright.protocol.events import CATALOGUE
from hookwright.replay.labels import Label
from hookwright.replay.past import Fate, Past

#: Decisions from the most permissive to the strictest; `allow` skips the question that no opinion leaves to the host.
RANKS = {"allow": 0, "none": 1, "ask": 2, "defer": 3, "block": 4, "deny": 4, "stop": 5}
_REFUSED = RANKS["deny"]
_RANKED = {name: rank for rank, name in enumerate(CATALOGUE)}


class Code(enum.Enum):
    """Why what a hook said now may not be what it would have said then."""

    FIELD = "the history does not have a field it names, or not for certain"
    CLOCK = "it reads the clock"
    NETWORK = "it uses the network, which a replay does not have"
    WRITE = "it was kept from writing"
    FILES = "the files of then are not known"
    ELSEWHERE = "it names a file of your machine that was not sent to workers"
    STATE = "it depends on what earlier events left, which this replay does not have"
    TRANSCRIPT = "it reads the transcript, which has grown since"
    MODEL = "it asks a model, and a replay asks none"
    HTTP = "it calls a server, and a replay calls none"
    MCP = "it calls an MCP tool, and a replay calls none"
    CODE = "it is a function of a program that is not running"
    UNTRUSTED = "it is not trusted and did not run"
    FAILED = "it failed"
    TIMEOUT = "it did not end in time"
    POISON = "the process that replayed it was killed"
    BUDGET = "the replay ended before this event"


class Doubt(msgspec.Struct, frozen=True, order=True):
    """One reason why an outcome may be wrong."""

    code: Code
    #: The id of the handler; empty if the doubt is about the whole event.
    handler: str = ""
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.code.value}: {self.detail}" if self.detail else self.code.value


class Ran(msgspec.Struct, frozen=True):
    """One run of a handler in a replay."""

    handler: str
    #: What this handler decided, as a word of `RANKS`.
    decision: str
    #: How the run ended: success, blocking, non-blocking error, cancelled.
    ending: str
    ms: float
    #: Whether the answer to an equal event was used again.
    reused: bool = False
    #: Whether the verdict has no effect: the handler is in shadow mode.
    shadow: bool = False


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """What the hooks of one configuration say about one past event."""

    #: The combined decision, as a word of `RANKS`.
    decision: str = "none"
    reasons: tuple[str, ...] = ()
    #: A digest of the rewritten input or output; empty if nothing is rewritten.
    rewritten: str = ""
    #: A digest of every other text and field the hooks gave.
    said: str = ""
    #: Characters of context for the model.
    context: int = 0
    runs: tuple[Ran, ...] = ()
    skipped: int = 0
    doubts: tuple[Doubt, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the event's action would be refused or the turn ended, as far as the hooks that ran say."""
        return RANKS[self.decision] >= _REFUSED

    @property
    def undecided(self) -> bool:
        """Whether a doubt may touch the decision.

        Law: it may, unless a handler without a doubt refuses: no other answer makes a refusal weaker. A doubt about the
        whole event always may.
        """
        if not self.doubts:
            return False
        doubted = {doubt.handler for doubt in self.doubts}
        sure = (run for run in self.runs if run.handler not in doubted and not run.shadow)
        return "" in doubted or not any(RANKS[run.decision] >= _REFUSED for run in sure)


class Bucket(enum.Enum):
    """How two outcomes of one event differ."""

    SAME = "same"
    STRICTER = "stricter"
    LOOSER = "looser"
    REWRITTEN = "rewritten"
    SAID = "said"
    UNDECIDED = "undecided"


#: The buckets that are changes, in the order of a report.
CHANGED = (Bucket.STRICTER, Bucket.LOOSER, Bucket.REWRITTEN, Bucket.SAID)


def compare(before: Replayed, now: Replayed) -> Bucket:
    """Return the bucket of a pair of outcomes of one event.

    Law, the first that applies:
    1. if a doubt may touch either decision, the pair is undecided: it is neither same nor approved;
    2. the decisions are compared from permissive to strict: allow, no opinion, ask, defer, deny or block, end of turn;
    3. a refused action has no input, so a rewrite is compared only where nothing is refused;
    4. then every other text and field is compared;
    5. what is left is the same.
    Swapping the two swaps stricter and looser and changes no other bucket.
    """
    if before.undecided or now.undecided:
        return Bucket.UNDECIDED
    old, new = RANKS[before.decision], RANKS[now.decision]
    if new != old:
        return Bucket.STRICTER if new > old else Bucket.LOOSER
    if new < _REFUSED and before.rewritten != now.rewritten:
        return Bucket.REWRITTEN
    if (before.reasons, before.said) != (now.reasons, now.said):
        return Bucket.SAID
    return Bucket.SAME


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One past event with both outcomes."""

    past: Past
    before: Replayed
    now: Replayed
    bucket: Bucket
    #: The id of a call of the same turn that would now be refused, so that this event might never have happened.
    after: str | None = None
    #: What a person says about the call.
    label: Label | None = None

    @property
    def is_call(self) -> bool:
        """Whether the event comes before a tool runs, so that its fate says whether a refusal would have been right."""
        return self.past.event.rules.opens_call

    @property
    def now_refused(self) -> bool:
        """Whether a call that was not refused before is refused now, without a doubt."""
        return self.is_call and self.bucket is Bucket.STRICTER and self.now.refused

    @property
    def likely_false(self) -> bool:
        """Whether a call is now refused that a person calls right, or that ran then and succeeded."""
        return self.now_refused and self._is(Label.OK, Fate.SUCCEEDED)

    @property
    def agrees(self) -> bool:
        """Whether a call is now refused that a person calls wrong, or rejected then."""
        return self.now_refused and self._is(Label.BAD, Fate.REJECTED)

    @property
    def missed(self) -> bool:
        """Whether a call that a person calls wrong is not refused, without a doubt."""
        return self.is_call and self.label is Label.BAD and not self.now.refused and not self.now.undecided

    def _is(self, label: Label, fate: Fate) -> bool:
        """Return whether a call has a label; a call without any, whether it has a fate."""
        return self.past.fate is fate if self.label is None else self.label is label


def unrun(past: Past, doubt: Doubt) -> Change:
    """Return an event that was not replayed: undecided, with one doubt about the whole event."""
    nothing = Replayed(doubts=(doubt,))
    return Change(past=past, before=nothing, now=nothing, bucket=compare(nothing, nothing))


def ordered(pasts: Iterable[Past]) -> list[Past]:
    """Return events by session, time and place, whatever order they were read in.

    Law: the result depends on the set of events alone. Sessions are in the order of their ids; inside a session, events
    with a time are in the order of their times, and equal times, or events without one, in the order of their lines;
    events of one line are in the order of the catalogue.
    """
    return sorted(pasts, key=_position)


def _position(past: Past) -> tuple[str, float, str, int, int, str]:
    place, event = past.place, past.event
    when = past.time if past.time is not None else 0.0
    return event.session_id, when, place.file, place.line, _RANKED[event.event_name], past.call


def once(pasts: Sequence[Past]) -> tuple[list[Past], int]:
    """Return each event once, and how many copies there were.

    Law: copies are events of the same name with the same tool use id, or with the same place in the same session if
    they have none; the earliest of them in time, then by file and line, is kept.
    """
    kept: dict[tuple[str, str], Past] = {}
    for past in sorted(pasts, key=lambda one: _position(one)[1:]):
        kept.setdefault(_identity(past), past)
    return ordered(kept.values()), len(pasts) - len(kept)


def _identity(past: Past) -> tuple[str, str]:
    call = getattr(past.event, "tool_use_id", None)
    return past.event.event_name, call if isinstance(call, str) and call else past.call


def turns(pasts: Sequence[Past]) -> list[str]:
    """Return the turn of each event of one session, in order.

    Law: events with a prompt id belong to the turn of that id; any other event belongs to the turn of the event before
    it, and every prompt begins a turn.
    """
    found: list[str] = []
    current = ""
    for number, past in enumerate(pasts):
        prompt = past.event.prompt_id
        if isinstance(prompt, str):
            current = prompt
        elif past.event.event_name == "UserPromptSubmit":
            current = f"turn {number}"
        found.append(current)
    return found


def mark_after(changes: Sequence[Change], turn_of: Sequence[str]) -> list[Change]:
    """Mark the events of one session that might never have happened.

    Law: after a call that is refused now and was not before, every later event of the same turn names that call, the
    first one if there are several; no other event is marked, and no decision changes.
    """
    refused: dict[str, str] = {}
    marked = []
    for change, turn in zip(changes, turn_of, strict=True):
        first = refused.get(turn)
        marked.append(change if first is None else msgspec.structs.replace(change, after=first))
        if change.now_refused:
            refused.setdefault(turn, change.past.call)
    return marked
