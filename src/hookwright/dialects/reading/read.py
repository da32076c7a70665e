"""Read the hooks of an agent, by the shape its table names."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from hookwright.config.jsonfile import Path, shown_pointer
from hookwright.config.locations import Surroundings
from hookwright.dialects.model import Dialect, FileScope, HookFile, Layout, Moment, UnknownEvent
from hookwright.dialects.portability import habits
from hookwright.dialects.reading.files import found_files
from hookwright.dialects.reading.model import AgentHooks, ForeignHook, Problem, Trouble
from hookwright.dialects.reading.tree import Absent, Content, Unread, read_content
from hookwright.protocol.jsontext import Json, json_type
from hookwright.text import did_you_mean


class ReadFile(msgspec.Struct, frozen=True):
    """What one file gives."""

    hooks: tuple[ForeignHook, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_agent(dialect: Dialect, around: Surroundings, project: str) -> AgentHooks:
    """Read all files of an agent, the user's and the project's.

    Law: every file that exists is in `files`; one that gives nothing because it cannot be read, or because the agent
    ignores it as a whole, is in `problems` with the reason.
    """
    files: list[str] = []
    hooks: list[ForeignHook] = []
    problems: list[Problem] = []
    for declared, path in found_files(dialect, around, project):
        files.append(path)
        if declared.layout is Layout.CODE:
            continue
        read = read_one(dialect, declared, path)
        hooks += read.hooks
        problems += read.problems
    return AgentHooks(dialect=dialect, files=tuple(files), hooks=tuple(hooks), problems=tuple(problems))


def read_one(dialect: Dialect, declared: HookFile, path: str) -> ReadFile:
    """Read one file of an agent."""
    content = read_content(path, comments=habits(dialect).comments)
    match content:
        case Absent():
            return ReadFile((), (Problem(Trouble.UNREADABLE, path, "it is a link that leads nowhere"),))
        case Unread(why, line, column):
            return ReadFile((), (Problem(Trouble.UNREADABLE, path, why, line, column),))
        case Content():
            return _Reader(dialect, declared, path, content).read()


class _Reader(msgspec.Struct, frozen=True):
    """One file while it is read."""

    dialect: Dialect
    declared: HookFile
    path: str
    content: Content

    def read(self) -> ReadFile:
        value = self.content.value
        if not isinstance(value, dict):
            return ReadFile((), (self._problem(Trouble.SHAPE, (), f"an object belongs here, not {json_type(value)}"),))
        at: Path = (self.declared.wrapper,) if self.declared.wrapper else ()
        inner = value.get(self.declared.wrapper) if self.declared.wrapper else value
        rejected = [key for key in value if self._rejects(key)]
        if rejected:
            what = f"{self.dialect.title} rejects the whole file because of the key `{rejected[0]}`"
            return ReadFile((), (self._problem(Trouble.VOID, (rejected[0],), what),))
        if inner is None:
            return ReadFile()
        if self.declared.layout is Layout.TOML_TABLES:
            return self._tables(inner, at)
        return self._events(inner, at)

    def _rejects(self, key: str) -> bool:
        known = habits(self.dialect).top_keys
        return bool(known) and self.path.endswith("hooks.json") and key not in known and not key.startswith("$")

    def _events(self, inner: Json, at: Path) -> ReadFile:
        if not isinstance(inner, dict):
            return ReadFile((), (self._problem(Trouble.SHAPE, at, f"events belong here, not {json_type(inner)}"),))
        hooks: list[ForeignHook] = []
        problems: list[Problem] = []
        for event, listed in inner.items():
            if event in habits(self.dialect).switches:
                continue
            here = (*at, event)
            moment = self.moment(event)
            if moment is None and event not in habits(self.dialect).other_names:
                problems.append(self._unknown(event, here))
            if not isinstance(listed, list):
                problems.append(self._problem(Trouble.SHAPE, here, f"a list belongs here, not {json_type(listed)}"))
                continue
            for index, item in enumerate(listed):
                found = self._item(event, moment, (*here, index), item)
                hooks += found.hooks
                problems += found.problems
        void = next((item for item in problems if item.trouble is Trouble.VOID), None)
        return ReadFile((), (void,)) if void is not None else ReadFile(tuple(hooks), tuple(problems))

    def _item(self, event: str, moment: Moment | None, at: Path, item: Json) -> ReadFile:
        """Read a group, or a handler in a flat file."""
        if not isinstance(item, dict):
            return ReadFile((), (self._problem(Trouble.SHAPE, at, f"an object belongs here, not {json_type(item)}"),))
        nested = item.get("hooks")
        flat = self.declared.layout is Layout.FLAT or (habits(self.dialect).groupless and "hooks" not in item)
        if flat and not isinstance(nested, list):
            hook = self._hook(event, moment, (at, at), (item, item))
            return ReadFile((hook,), tuple(self._keys(hook, self._handler_keys())))
        group_keys = {"matcher", "hooks", *habits(self.dialect).group_keys}
        problems = [self._key(key, (*at, key), group_keys) for key in item if key not in group_keys]
        if not isinstance(nested, list):
            what = f"a group without a list `hooks`: {self.dialect.title} runs nothing of it"
            return ReadFile((), (*problems, self._problem(Trouble.SHAPE, at, what)))
        hooks = []
        for index, entry in enumerate(nested):
            here = (*at, "hooks", index)
            if not isinstance(entry, dict):
                what = f"a handler is an object, not {json_type(entry)}"
                problems.append(self._problem(Trouble.SHAPE, here, what))
                continue
            hook = self._hook(event, moment, (at, here), (item, entry))
            hooks.append(hook)
            problems += self._keys(hook, self._handler_keys())
        return ReadFile(tuple(hooks), tuple(problems))

    def _tables(self, inner: Json, at: Path) -> ReadFile:
        """Read `[[hooks]]` tables."""
        if not isinstance(inner, list):
            what = f"`[[{self.declared.wrapper}]]` tables belong here, not {json_type(inner)}"
            return ReadFile((), (self._problem(Trouble.SHAPE, at, what),))
        hooks: list[ForeignHook] = []
        problems: list[Problem] = []
        for index, entry in enumerate(inner):
            here = (*at, index)
            event = entry.get("event") if isinstance(entry, dict) else None
            if not isinstance(entry, dict) or not isinstance(event, str):
                problems.append(self._problem(Trouble.SHAPE, here, "a table with `event` and `command` belongs here"))
                continue
            moment = self.moment(event)
            if moment is None:
                problems.append(self._unknown(event, (*here, "event")))
            hook = self._hook(event, moment, (here, here), (entry, entry))
            hooks.append(hook)
            problems += self._keys(hook, {"event", *self._handler_keys()})
        return ReadFile(tuple(hooks), tuple(problems))

    def moment(self, event: str) -> Moment | None:
        """Return the agent's event of a name; in Claude Code's file, by Claude Code's names."""
        if self.declared.scope is FileScope.CLAUDE:
            return self.dialect.moment_of(event)
        return self.dialect.moment(habits(self.dialect).other_names.get(event, event))

    def _hook(
        self, event: str, moment: Moment | None, at: tuple[Path, Path], read: tuple[dict[str, Json], dict[str, Json]]
    ) -> ForeignHook:
        group, entry = read
        keys = ("command",) if self.declared.scope is FileScope.CLAUDE else habits(self.dialect).command_keys
        return ForeignHook(
            dialect=self.dialect,
            declared=self.declared,
            path=self.path,
            content=self.content,
            event=event,
            moment=moment,
            group_at=at[0],
            at=at[1],
            group=group,
            entry=entry,
            command_key=next((key for key in keys if isinstance(entry.get(key), str)), ""),
        )

    def _handler_keys(self) -> set[str]:
        own = habits(self.dialect)
        flat = {"matcher"} if self.declared.layout is not Layout.GROUPS or own.groupless else set()
        return {*self.dialect.handler_keys, "type", *own.command_keys, *flat}

    def _keys(self, hook: ForeignHook, known: set[str]) -> Iterator[Problem]:
        """Yield the keys of a handler that the agent does not read; Claude Code's own file is checked elsewhere."""
        if self.declared.scope is FileScope.CLAUDE:
            return
        for key in hook.entry:
            if key not in known:
                yield self._key(key, (*hook.at, key), known)

    def _key(self, key: str, at: Path, known: set[str]) -> Problem:
        what = f"{self.dialect.title} does not read the key `{key}`{did_you_mean(key, known)}"
        return self._problem(Trouble.KEY, at, what)

    def _unknown(self, event: str, at: Path) -> Problem:
        title = self.dialect.title
        hint = did_you_mean(event, [moment.name for moment in self.dialect.moments])
        named = self.dialect.moment_of(event)
        hint = f"; there it is `{named.name}`" if named is not None else hint
        match self.dialect.unknown_event:
            case UnknownEvent.VOIDS_FILE:
                what = f"{title} does not know the event `{event}` and ignores the whole file{hint}"
                return self._problem(Trouble.VOID, at, what)
            case UnknownEvent.SKIPPED:
                what = f"{title} does not know the event `{event}` and skips its hooks{hint}"
            case UnknownEvent.UNSEEN:
                what = f"{title} does not know the event `{event}`; its hooks do not run{hint}"
        return self._problem(Trouble.EVENT, at, what)

    def _problem(self, trouble: Trouble, at: Path, what: str) -> Problem:
        line, column = self.content.spot(at)
        return Problem(trouble, self.path, what, line, column, shown_pointer(at))
