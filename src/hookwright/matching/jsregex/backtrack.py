"""Match patterns with back references: the backtracking of ECMA-262, without Python's stack and with a step budget.

A pattern becomes a list of instructions. A state is an instruction, a position, what the groups captured, and the
counters of the loops. Each state leads to others, best first. A state seen before has failed and is not tried again.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias, assert_never

import msgspec

from hookwright.matching.jsregex.parse import Parsed
from hookwright.matching.jsregex.syntax import (
    INFINITY,
    WORD,
    Anchor,
    At,
    BackReference,
    Chain,
    Chars,
    Either,
    GroupNode,
    Look,
    Node,
    Repeat,
    Side,
    TooComplex,
)

Direction: TypeAlias = Literal[1, -1]
Spans: TypeAlias = tuple[tuple[int, int] | None, ...]


class Take(msgspec.Struct, frozen=True):
    """Match one unit."""

    chars: Chars
    way: Direction


class Hold(msgspec.Struct, frozen=True):
    """Continue only at an anchor."""

    anchor: Anchor


class Fork(msgspec.Struct, frozen=True):
    """Continue at the first of several places that leads to a match."""

    targets: tuple[int, ...]


class Begin(msgspec.Struct, frozen=True):
    """Record where a group or a loop begins, before its first iteration."""

    slot: int


class Keep(msgspec.Struct, frozen=True):
    """Record what a group captured."""

    slot: int
    group: int


class Again(msgspec.Struct, frozen=True):
    """Match again what a group captured; the empty text if it captured nothing yet."""

    group: int
    way: Direction


class LoopTurn(msgspec.Struct, frozen=True):
    """Begin another iteration of a loop, or leave it."""

    slot: int
    loop: Repeat
    leave: int


class Return(msgspec.Struct, frozen=True):
    """End an iteration of a loop."""

    slot: int
    loop: Repeat
    turn: int


class Peek(msgspec.Struct, frozen=True):
    """Match a lookaround, whose instructions follow."""

    negated: bool
    leave: int


class Done(msgspec.Struct, frozen=True):
    """End a match."""


Instruction: TypeAlias = Take | Hold | Fork | Begin | Keep | Again | LoopTurn | Return | Peek | Done


class MatchState(NamedTuple):
    """An instruction and a position, with what was captured on the way.

    A slot of `counts` holds a loop's iterations and the start of the latest one, or (0, start) of an open group.
    """

    here: int
    at: int
    taken: Spans
    counts: Spans


class RegexProgram:
    """The instructions of a pattern."""

    def __init__(self, parsed: Parsed) -> None:
        self.names = parsed.names
        self.groups = parsed.groups
        self.slots = 0
        self.code: list[Instruction] = []
        self.emit(parsed.tree, 1)
        self.code.append(Done())

    def matches(self, subject: str, budget: int) -> bool:
        """Return whether the pattern matches anywhere in the subject, given in UTF-16 units."""
        nothing, counts = (None,) * (self.groups + 1), (None,) * self.slots
        starts = (MatchState(0, at, nothing, counts) for at in reversed(range(len(subject) + 1)))
        return _BacktrackRun(self.code, subject, budget).search(starts) is not None

    def emit(self, node: Node, way: Direction) -> None:
        """Emit the instructions of a part."""
        match node:
            case Chars():
                self.code.append(Take(node, way))
            case At():
                self.code.append(Hold(node.anchor))
            case BackReference(group):
                self.code.append(Again(self.names[group] if isinstance(group, str) else group, way))
            case Chain():
                for item in node.items[::way]:
                    self.emit(item, way)
            case Either():
                self.either(node, way)
            case Repeat():
                slot = self.begin()
                turn = self.hole()
                self.emit(node.body, way)
                self.code.append(Return(slot, node, turn))
                self.code[turn] = LoopTurn(slot, node, len(self.code))
            case GroupNode():
                slot = self.begin()
                self.emit(node.body, way)
                self.code.append(Keep(slot, node.number))
            case Look():
                peek = self.hole()
                self.emit(node.body, 1 if node.side is Side.AHEAD else -1)
                self.code.append(Done())
                self.code[peek] = Peek(node.negated, len(self.code))
            case _:
                assert_never(node)

    def begin(self) -> int:
        """Emit the beginning of a group or loop, and return its slot."""
        self.slots += 1
        self.code.append(Begin(self.slots - 1))
        return self.slots - 1

    def hole(self) -> int:
        """Reserve an instruction that depends on where its part ends."""
        self.code.append(Done())
        return len(self.code) - 1

    def either(self, node: Either, way: Direction) -> None:
        """Emit all alternatives, each with a jump to the end."""
        fork = self.hole()
        starts, exits = [], []
        for item in node.items:
            starts.append(len(self.code))
            self.emit(item, way)
            exits.append(self.hole())
        self.code[fork] = Fork(tuple(starts))
        for place in exits:
            self.code[place] = Fork((len(self.code),))


class _BacktrackRun:
    """Search one subject; the searches of lookarounds share its budget."""

    def __init__(self, code: Sequence[Instruction], subject: str, budget: int) -> None:
        self.code = code
        self.subject = subject
        self.budget = self.left = budget

    def search(self, starts: Iterable[MatchState]) -> MatchState | None:
        """Return the first state that ends a match; the last start is the best."""
        waiting, seen = list(starts), set[MatchState]()
        while waiting:
            state = waiting.pop()
            if isinstance(self.code[state.here], Done):
                return state
            if state in seen:
                continue
            seen.add(state)
            if self.left <= 0:
                raise TooComplex(f"no answer within {self.budget} steps")
            self.left -= 1
            waiting.extend(reversed(self.follow(state)))
        return None

    def follow(self, state: MatchState) -> Sequence[MatchState]:
        """Return the states after one instruction, best first."""
        here, at, taken, counts = state
        instruction = self.code[here]
        match instruction:
            case Take(chars, way):
                index = at if way == 1 else at - 1
                fits = 0 <= index < len(self.subject) and ord(self.subject[index]) in chars
                return (MatchState(here + 1, at + way, taken, counts),) if fits else ()
            case Hold(anchor):
                return (MatchState(here + 1, at, taken, counts),) if self.holds(anchor, at) else ()
            case Fork(targets):
                return [MatchState(target, at, taken, counts) for target in targets]
            case Begin(slot):
                return (MatchState(here + 1, at, taken, _with(counts, slot, (0, at))),)
            case Keep(slot, group):
                _, start = counts[slot] or (0, at)
                span = (min(start, at), max(start, at))
                return (MatchState(here + 1, at, _with(taken, group, span), _with(counts, slot, None)),)
            case Again(group, way):
                begin, end = taken[group] or (0, 0)
                start = at if way == 1 else at - (end - begin)
                fits = start >= 0 and self.subject.startswith(self.subject[begin:end], start)
                return (MatchState(here + 1, at + way * (end - begin), taken, counts),) if fits else ()
            case LoopTurn():
                return self.turn(instruction, state)
            case Return():
                return self.turned(instruction, state)
            case Peek(negated, leave):
                inside = self.search([MatchState(here + 1, at, taken, counts)])
                if (inside is None) is not negated:
                    return ()
                return (MatchState(leave, at, taken if inside is None else inside.taken, counts),)
            case Done():
                return ()
            case _:
                assert_never(instruction)

    def turn(self, instruction: LoopTurn, state: MatchState) -> Sequence[MatchState]:
        """Begin an iteration, with the loop's groups reset, or leave the loop."""
        loop, slot = instruction.loop, instruction.slot
        turns, _ = state.counts[slot] or (0, 0)
        leave = MatchState(instruction.leave, state.at, state.taken, _with(state.counts, slot, None))
        if turns >= loop.most:
            return (leave,)
        taken = tuple(None if group in loop.groups else span for group, span in enumerate(state.taken))
        enter = MatchState(state.here + 1, state.at, taken, _with(state.counts, slot, (turns, state.at)))
        if turns < loop.least:
            return (enter,)
        return (enter, leave) if loop.greedy else (leave, enter)

    def turned(self, instruction: Return, state: MatchState) -> Sequence[MatchState]:
        """Count an iteration; an empty one fails after the required iterations."""
        loop, slot = instruction.loop, instruction.slot
        turns, began = state.counts[slot] or (0, 0)
        if turns >= loop.least and state.at == began:
            return ()
        # Without an upper bound, iterations beyond the required ones are not counted, so that equal states are equal.
        turns = min(turns + 1, loop.least) if loop.most == INFINITY else turns + 1
        return (MatchState(instruction.turn, state.at, state.taken, _with(state.counts, slot, (turns, state.at))),)

    def holds(self, anchor: Anchor, at: int) -> bool:
        """Return whether an anchor matches at a position."""
        match anchor:
            case Anchor.START:
                return at == 0
            case Anchor.END:
                return at == len(self.subject)
            case Anchor.WORD:
                return self.is_word(at - 1) is not self.is_word(at)
            case Anchor.NOT_WORD:
                return self.is_word(at - 1) is self.is_word(at)
            case _:
                assert_never(anchor)

    def is_word(self, index: int) -> bool:
        """Return whether there is a word character at an index."""
        return 0 <= index < len(self.subject) and ord(self.subject[index]) in WORD


def _with(spans: Spans, index: int, span: tuple[int, int] | None) -> Spans:
    return (*spans[:index], span, *spans[index + 1 :])
