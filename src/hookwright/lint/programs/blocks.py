"""Walk and change blocks of statements: every statement with what comes before it, and streams turned elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from hookwright.lint.programs.ir import (
    Arm,
    Block,
    Branch,
    Call,
    Catch,
    CodePlace,
    Eat,
    Hole,
    How,
    Leave,
    Loop,
    Say,
    Stmt,
    Stream,
    Test,
    Text,
    Try,
    Within,
    text,
)


class Condition(msgspec.Struct, frozen=True):
    """The arm of a branch that is taken, or None for the rest."""

    branch: Branch
    arm: Arm | None


class Point(msgspec.Struct, frozen=True):
    """A statement with all that must have happened before it."""

    stmt: Stmt
    before: tuple[Stmt, ...] = ()
    under: tuple[Condition, ...] = ()
    inside: tuple[Try | Catch | Loop, ...] = ()
    #: The inner shells and children around it, the outermost first.
    within: tuple[Point, ...] = ()
    #: What comes before it in its own block.
    near: tuple[Stmt, ...] = ()
    #: What follows, up to the end of the program or of the inner shell.
    after: tuple[Stmt, ...] = ()

    @property
    def said(self) -> tuple[Say, ...]:
        """List what was surely printed before, by children and subshells too."""
        return tuple(stmt for stmt in flat(self.before) if isinstance(stmt, Say))

    @property
    def caught(self) -> bool:
        """Whether it is in an exception handler."""
        return any(isinstance(part, Catch) for part in self.inside)


def flat(block: Iterable[Stmt]) -> Iterator[Stmt]:
    """List statements, with the inner ones that always run."""
    for stmt in block:
        yield stmt
        if isinstance(stmt, Within | Try):
            yield from flat(stmt.body)


def points(block: Block) -> Iterator[Point]:
    """List all statements of a program, in the order of the text."""
    yield from _points(block, Point(Leave(CodePlace(), 0)))


def _points(block: Block, outer: Point) -> Iterator[Point]:
    before = outer.before
    for index, stmt in enumerate(block):
        here = replace(outer, stmt=stmt, before=before, near=block[:index], after=(*block[index + 1 :], *outer.after))
        yield here
        match stmt:
            case Branch(arms=arms, otherwise=otherwise):
                for arm in arms:
                    yield from _points(arm.body, replace(here, under=(*here.under, Condition(stmt, arm))))
                yield from _points(otherwise, replace(here, under=(*here.under, Condition(stmt, None))))
            case Loop(body=body):
                yield from _points(body, replace(here, inside=(*here.inside, stmt)))
            case Within(body=body):
                yield from _points(body, replace(here, within=(*here.within, here), after=()))
            case Try(body=body, catches=catches, final=final):
                yield from _points(body, replace(here, inside=(*here.inside, stmt)))
                for catch in catches:
                    yield from _points(catch.body, replace(here, inside=(*here.inside, catch)))
                yield from _points(final, here)
            case _:
                pass
        before = (*before, stmt)


def calls(block: Block) -> Iterator[Call]:
    """List everything that is started."""
    return (point.stmt for point in points(block) if isinstance(point.stmt, Call))


def leaves_always(block: Block) -> bool:
    """Return whether a block always ends the program."""
    for stmt in block:
        match stmt:
            case Leave(how=how):
                if how is not How.RETURN:
                    return True
            case Branch(arms=arms, otherwise=otherwise):
                if otherwise and leaves_always(otherwise) and all(leaves_always(arm.body) for arm in arms):
                    return True
            case Try(body=body, final=final):
                if leaves_always(body) or leaves_always(final):
                    return True
            case _:
                pass
    return False


def all_tests(block: Block) -> Iterator[Test]:
    """List every test of a block."""
    for point in points(block):
        if isinstance(point.stmt, Branch):
            for arm in point.stmt.arms:
                yield from (atom for atom, _ in arm.test.atoms())


# ── changes ─────────────────────────────────────────────────────────────────


def changed(block: Block, change: Callable[[Stmt], Stmt]) -> Block:
    """Change every statement, the innermost first."""

    def one(stmt: Stmt) -> Stmt:
        match stmt:
            case Branch(arms=arms, otherwise=otherwise):
                inner = tuple(replace(arm, body=changed(arm.body, change)) for arm in arms)
                stmt = replace(stmt, arms=inner, otherwise=changed(otherwise, change))
            case Loop(body=body) | Within(body=body):
                stmt = replace(stmt, body=changed(body, change))
            case Try(body=body, catches=catches, final=final):
                handlers = tuple(replace(catch, body=changed(catch.body, change)) for catch in catches)
                stmt = replace(stmt, body=changed(body, change), catches=handlers, final=changed(final, change))
            case _:
                pass
        return change(stmt)

    return tuple(one(stmt) for stmt in block)


def redirected(block: Block, out: Stream, err: Stream) -> Block:
    """Turn both streams of a block elsewhere."""
    turned = {Stream.OUT: out, Stream.ERR: err, Stream.AWAY: Stream.AWAY}

    def change(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Say):
            return replace(stmt, stream=turned[stmt.stream])
        if isinstance(stmt, Call):
            return replace(stmt, out=turned[stmt.out], err=turned[stmt.err])
        return stmt

    return changed(block, change) if (out, err) != (Stream.OUT, Stream.ERR) else block


def checked(block: Block) -> Block:
    """Mark the status of the calls of a block as checked."""

    def change(stmt: Stmt) -> Stmt:
        return replace(stmt, checked=True) if isinstance(stmt, Call | Within) else stmt

    return changed(block, change)


def moved(block: Block, lines: int) -> Block:
    """Shift a block to its place inside another program."""

    def down(place: CodePlace) -> CodePlace:
        return CodePlace(place.line + lines, place.column)

    def change(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Branch):
            arms = tuple(replace(arm, test=replace(arm.test, place=down(arm.test.place))) for arm in stmt.arms)
            stmt = replace(stmt, arms=arms)
        return replace(stmt, place=down(stmt.place))

    return changed(block, change) if lines else block


def printed(block: Block) -> Text:
    """Return what a block prints on stdout, as far as it is known."""
    parts: list[Text | Hole] = []
    sure = True
    for point in points(block):
        stmt = point.stmt
        if isinstance(stmt, Say) and stmt.stream is Stream.OUT:
            parts.append(stmt.text)
        elif isinstance(stmt, Call) and stmt.out is Stream.OUT:
            parts.append(Hole(frozenset(origin for word in stmt.words for origin in word.origins)))
        elif isinstance(stmt, Branch | Loop | Try | Leave | Eat):
            sure = sure and isinstance(stmt, Eat)
    if sure:
        return text(*parts)
    both = frozenset(origin for part in parts for origin in part.origins)
    return text(Hole(both)) if parts else Text()
