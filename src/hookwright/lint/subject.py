"""What the rules check: documents, the hooks they declare, and the programs those run."""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cached_property

import msgspec

from hookwright.config.jsonfile import Broken, JsonFault, Path, Tree, shown_pointer
from hookwright.config.parse import Found
from hookwright.config.scripts import Reach
from hookwright.config.settings import Declared
from hookwright.lint.launch import Launch, launch
from hookwright.lint.model import Position
from hookwright.lint.programs.ir import CodePlace, Program
from hookwright.lint.targets import Target
from hookwright.matching.matchers import Matcher, compile_matcher
from hookwright.protocol.events import CATALOGUE, EventRules
from hookwright.protocol.handlers import CommandHandler, Handler, MatcherGroup
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Plugin, Scope, Source


class Role(enum.Enum):
    """What a document is."""

    SETTINGS = "settings file"
    PLUGIN_HOOKS = "hooks file of a plugin"
    MANIFEST = "manifest of a plugin"
    COMPONENT = "skill or agent"


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options other than paths."""

    env: Mapping[str, str]
    target: Target = Target()


class Document(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One configuration file with its text."""

    path: str
    text: str
    role: Role
    origin: Source
    parsed: Tree | Broken
    #: The path of its hooks object.
    at: Path
    found: Found
    reach: Reach
    declared: Declared | None = None
    #: Faults of YAML frontmatter, which has no columns.
    faults: tuple[JsonFault, ...] = ()

    @property
    def tree(self) -> Tree | None:
        """The parsed value, or None when the text is broken."""
        return self.parsed if isinstance(self.parsed, Tree) else None

    @property
    def value(self) -> dict[str, Json]:
        """The top object; empty when there is none."""
        tree = self.tree
        return tree.value if tree is not None and isinstance(tree.value, dict) else {}

    @property
    def events(self) -> dict[str, Json]:
        """The hooks object, groups by event; empty when there is none."""
        found: Json = self.value
        for step in self.at:
            found = found.get(step) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def scope(self) -> Scope:
        """The scope of the file."""
        return self.origin.scope

    @property
    def committed(self) -> bool:
        """Whether the file is shared with others: project settings, plugins, their skills and agents."""
        return self.scope in (Scope.PROJECT, Scope.PLUGIN) or (
            self.scope is Scope.COMPONENT and self.origin.from_project
        )

    def offsets(self, path: Path) -> tuple[int, int] | None:
        """Return the offsets of a key and its value; None for YAML and for missing keys."""
        tree = self.tree
        if tree is None or self.role is Role.COMPONENT:
            return None
        spot = tree.spots
        offset = spot if isinstance(spot, int) else spot[0]
        for step in path:
            if isinstance(spot, int) or step not in spot[1]:
                return None
            offset, spot = spot[1][step]
        return offset, spot if isinstance(spot, int) else spot[0]

    def place(self, path: Path) -> Position:
        """Return the position of a key or an element."""
        tree = self.tree
        if tree is None:
            return Position(self.path)
        spot = tree.spots
        offset = spot if isinstance(spot, int) else spot[0]
        for step in path:
            if isinstance(spot, int) or step not in spot[1]:
                break
            offset, spot = spot[1][step]
        line = bisect_right(tree.starts, offset)
        column = 1 if self.role is Role.COMPONENT else offset - tree.starts[line - 1] + 1
        return Position(self.path, line, column, shown_pointer(path))


class CheckedHook(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One handler and the place of its declaration."""

    document: Document
    group: MatcherGroup
    handler: Handler
    group_at: Path
    at: Path
    entry: Mapping[str, Json]
    options: CheckOptions

    @property
    def event(self) -> str:
        """The event it runs on."""
        return self.group.event

    @property
    def rules(self) -> EventRules:
        """The rules of its event."""
        return CATALOGUE[self.event].rules

    @cached_property
    def matcher(self) -> Matcher:
        """The matcher, compiled as in the engine."""
        rules = self.rules
        return compile_matcher(self.group.matcher if rules.target is not None else None, narrow=rules.narrow)

    @property
    def command(self) -> CommandHandler | None:
        """The handler, if it runs a command."""
        return self.handler if isinstance(self.handler, CommandHandler) else None

    @property
    def plugin(self) -> Plugin | None:
        """The plugin it belongs to."""
        return self.handler.source.plugin

    @cached_property
    def reach(self) -> Reach:
        """The directories its command's paths may start from."""
        plugin = self.plugin
        reach = self.document.reach
        return msgspec.structs.replace(reach, plugin_root=plugin.root) if plugin is not None else reach

    @cached_property
    def launch(self) -> Launch:
        """What the command starts."""
        return launch(self.handler, self.reach) if self.command is not None else Launch()

    @property
    def programs(self) -> tuple[Program, ...]:
        """The readable programs: the command itself, then its scripts."""
        return self.launch.programs

    def place(self, *steps: str | int) -> Position:
        """Return the position of a key of the handler, or of the handler itself."""
        return self.document.place((*self.at, *steps))

    def matcher_place(self) -> Position:
        """Return the position of its matcher, or of the group."""
        return self.document.place((*self.group_at, "matcher"))

    def position(self, program: Program, place: CodePlace) -> Position:
        """Return the position of a place in one of its programs; for an inline command, that of the command."""
        if program.path:
            return Position(program.path, place.line, place.column)
        return self.place("command")


class Subject(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Everything one call of `check` checks."""

    documents: tuple[Document, ...]
    hooks: tuple[CheckedHook, ...]
    options: CheckOptions
    #: The checked project directories.
    projects: tuple[str, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    #: From the trust store: place of a handler -> what changed.
    changed: Mapping[str, str] = msgspec.field(default_factory=dict)

    @cached_property
    def commands(self) -> tuple[CheckedHook, ...]:
        """The hooks that run commands."""
        return tuple(hook for hook in self.hooks if hook.command is not None)

    def programs(self) -> Iterable[tuple[CheckedHook, Program]]:
        """List every program with the hook that runs it."""
        return ((hook, program) for hook in self.commands for program in hook.programs)

    @cached_property
    def events_of(self) -> Mapping[str, frozenset[str]]:
        """The events of each script."""
        found: dict[str, set[str]] = {}
        for hook, program in self.programs():
            if program.path:
                found.setdefault(program.path, set()).add(hook.event)
        return {path: frozenset(events) for path, events in found.items()}
