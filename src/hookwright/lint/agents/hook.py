"""A hook as another agent sees it, from Claude Code's file or from the agent's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from hookwright.config.jsonfile import shown_pointer
from hookwright.config.scripts import Reach
from hookwright.dialects.model import Dialect, Evidence, Moment, Proof
from hookwright.dialects.portability import evidence
from hookwright.dialects.reading.model import ForeignHook
from hookwright.lint.catalogue import RULES
from hookwright.lint.launch import Launch, launch
from hookwright.lint.model import Finding, Position, Severity
from hookwright.lint.programs.ir import CodePlace, Program
from hookwright.lint.subject import CheckedHook
from hookwright.protocol.events import CATALOGUE, EventRules
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Scope, Source


class AgentHook(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One hook in the eyes of one agent."""

    dialect: Dialect
    #: The agent's event; None if it has none of that name.
    moment: Moment | None
    #: Claude Code's event at that moment, or the event as written.
    event: str
    matcher: str | None
    kind: str
    command: str
    entry: Mapping[str, Json]
    launch: Launch
    #: The place of a key of the handler; of the handler itself for an empty key.
    spot: Callable[[str], Position]
    matcher_spot: Position
    event_spot: Position
    #: It comes from Claude Code's file.
    borrowed: bool

    @property
    def rules(self) -> EventRules | None:
        """The rules of Claude Code's event."""
        return CATALOGUE[self.event].rules if self.event in CATALOGUE else None

    @property
    def title(self) -> str:
        """The agent's name in messages."""
        return self.dialect.title

    def position(self, program: Program, place: CodePlace) -> Position:
        """Return a place in one of its programs; for an inline command, that of the command."""
        return Position(program.path, place.line, place.column) if program.path else self.spot("command")

    def found(self, rule: str, at: Position, proof: Proof, text: tuple[str, str]) -> Finding:
        """Make a finding with the agent, its versions and the evidence; what is not recorded is never an error."""
        what, write = text
        severity = RULES[rule].severity
        if severity is Severity.ERROR and proof.evidence is not Evidence.RECORDED:
            severity = Severity.WARNING
        shown = f"{what} [{evidence(self.dialect, proof)}]"
        return Finding(rule, at, shown, write, severity, agent=self.dialect.name)


def of_claude(hook: CheckedHook, dialect: Dialect) -> AgentHook:
    """Return a hook of Claude Code's file as an agent sees it."""
    return AgentHook(
        dialect=dialect,
        moment=dialect.moment_of(hook.event),
        event=hook.event,
        matcher=hook.group.matcher,
        kind=hook.handler.kind.value,
        command=hook.command.command if hook.command is not None else "",
        entry=hook.entry,
        launch=hook.launch,
        spot=lambda key: hook.place(key) if key else hook.place(),
        matcher_spot=hook.matcher_place(),
        event_spot=hook.document.place((*hook.document.at, hook.event)),
        borrowed=True,
    )


def of_foreign(hook: ForeignHook, project: str, home: str) -> AgentHook:
    """Return a hook of an agent's own file."""

    def spot(key: str) -> Position:
        steps = (hook.command_key or key,) if key == "command" else (key,) if key else ()
        return Position(hook.path, *hook.spot(*steps), shown_pointer((*hook.at, *steps)))

    handler = CommandHandler(source=Source(Scope.USER, hook.path), command=hook.command)
    runs = hook.kind == "command" and bool(hook.command)
    line, column = hook.content.spot((*hook.group_at, "matcher"))
    return AgentHook(
        dialect=hook.dialect,
        moment=hook.moment,
        event=(hook.moment.claude if hook.moment is not None else "") or hook.event,
        matcher=hook.matcher,
        kind=hook.kind,
        command=hook.command,
        entry=hook.entry,
        launch=launch(handler, Reach(project, project, home)) if runs else Launch(),
        spot=spot,
        matcher_spot=Position(hook.path, line, column, shown_pointer((*hook.group_at, "matcher"))),
        event_spot=Position(hook.path, *hook.content.spot(hook.group_at[:-1]), shown_pointer(hook.group_at[:-1])),
        borrowed=False,
    )
