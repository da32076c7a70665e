"""`list --all`: the hooks of every agent on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence

import msgspec

from hookwright.cli.terminal import Style
from hookwright.config import Loaded
from hookwright.config.locations import Surroundings
from hookwright.dialects.model import Dialect, FileScope
from hookwright.dialects.reading.doubles import is_bridge, other_run
from hookwright.dialects.reading.model import AgentHooks, ForeignHook, Problem, Trouble
from hookwright.dialects.reading.read import read_agent
from hookwright.dialects.reading.trust import read_trust
from hookwright.dialects.table import dialects
from hookwright.protocol.jsontext import Json
from hookwright.selection import HookState
from hookwright.text import flat, one_line, plural, short_path

CLAUDE = "claude"


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One hook of one agent, as `list --all` shows it."""

    agent: str
    event: str
    #: Claude Code's event at the same moment; empty if there is none.
    claude_event: str
    path: str
    line: int
    matcher: str | None
    label: str
    #: The other place from which the agent runs the same; empty if it runs once.
    twice: str
    trust: str
    #: The hook comes from Claude Code's file.
    borrowed: bool = False
    bridge: bool = False


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One agent with everything it has here."""

    name: str
    title: str
    installed: bool
    files: tuple[str, ...]
    hooks: tuple[Listed, ...]
    problems: tuple[Problem, ...]
    trust: str


def inventory(loaded: Loaded, states: Sequence[HookState], around: Surroundings, project: str) -> list[Group]:
    """Read the hooks of Claude Code and of every agent with a table."""
    return [_claude(loaded, states, around), *(_agent(table, around, project) for table in dialects())]


def _claude(loaded: Loaded, states: Sequence[HookState], around: Surroundings) -> Group:
    hooks = tuple(
        Listed(
            agent=CLAUDE,
            event=state.entry.event,
            claude_event=state.entry.event,
            path=state.entry.handler.source.path,
            line=state.entry.handler.source.line or 1,
            matcher=state.entry.matcher.text or None,
            label=state.entry.handler.label,
            twice="",
            trust=f"in Hookwright: {'active' if state.off is None else state.off[1] or state.off[0].value}",
        )
        for state in states
    )
    unread = [item for item in loaded.diagnostics if item.code in ("unreadable-file", "invalid-json", "json-extras")]
    problems = tuple(
        Problem(Trouble.UNREADABLE, item.source.path, item.message, item.source.line or 1)
        for item in unread
        if item.source is not None
    )
    files = tuple(dict.fromkeys(hook.path for hook in hooks))
    installed = shutil.which("claude", path=around.env.get("PATH", "")) is not None
    trust = "folder trust in Claude Code; what Hookwright trusts is its own note"
    return Group(
        name=CLAUDE,
        title="Claude Code",
        installed=installed,
        files=files,
        hooks=hooks,
        problems=problems,
        trust=trust,
    )


def _agent(table: Dialect, around: Surroundings, project: str) -> Group:
    read = read_agent(table, around, project)
    notes = read_trust(table, around)
    hooks = tuple(_listed(hook, read, notes.of(hook, project), around) for hook in read.hooks)
    installed = bool(table.program) and shutil.which(table.program, path=around.env.get("PATH", "")) is not None
    return Group(
        name=table.name,
        title=f"{table.title} (table of {table.version})",
        installed=installed or not table.program,
        files=read.files,
        hooks=hooks,
        problems=(*read.problems, *notes.problems),
        trust=table.trust,
    )


def _listed(hook: ForeignHook, read: AgentHooks, trust: str, around: Surroundings) -> Listed:
    other = other_run(hook, read.hooks)
    return Listed(
        agent=hook.dialect.name,
        event=hook.event,
        claude_event=hook.moment.claude if hook.moment is not None else "",
        path=hook.path,
        line=hook.line,
        matcher=hook.matcher,
        label=hook.label,
        twice=f"{short_path(other.path, around.cwd, around.home)}:{other.line}" if other is not None else "",
        trust=trust,
        borrowed=hook.declared.scope is FileScope.CLAUDE,
        bridge=is_bridge(hook.command),
    )


def of_event(groups: Sequence[Group], event: str | None) -> list[Group]:
    """Keep the hooks at the moment of one of Claude Code's events; all of them without one."""
    if event is None:
        return list(groups)
    return [
        msgspec.structs.replace(group, hooks=tuple(hook for hook in group.hooks if hook.claude_event == event))
        for group in groups
    ]


def as_record(groups: Sequence[Group]) -> dict[str, Json]:
    """Return an inventory as plain values."""
    return {
        "agents": [
            {"agent": group.name, "installed": group.installed, "files": list(group.files), "trust": group.trust}
            for group in groups
        ],
        "hooks": [
            {
                "agent": hook.agent,
                "event": hook.event,
                "claude_event": hook.claude_event or None,
                "file": hook.path,
                "line": hook.line,
                "matcher": hook.matcher,
                "command": hook.label,
                "from_claude": hook.borrowed,
                "bridge": hook.bridge,
                "runs_twice": hook.twice or None,
                "trust": hook.trust or None,
            }
            for group in groups
            for hook in group.hooks
        ],
        "problems": [
            {
                "agent": group.name,
                "file": item.path,
                "line": item.line,
                "unreadable": item.trouble is Trouble.UNREADABLE,
                "what": item.what,
            }
            for group in groups
            for item in group.problems
        ],
    }


def as_lines(groups: Sequence[Group], style: Style, around: Surroundings) -> Iterator[str]:
    """Write an inventory as text: each agent with its files, hooks and what could not be read."""
    quiet = [group for group in groups if not group.files and not group.problems]
    for group in groups:
        if group in quiet:
            continue
        absent = "" if group.installed else "  (the program is not on PATH)"
        yield style.bold(group.title) + style.dim(f"{absent}  trust: {group.trust}")
        for hook in group.hooks:
            yield from _lines(hook, style, around)
        for problem in group.problems:
            place = f"{short_path(problem.path, around.cwd, around.home)}:{problem.line}"
            word = "not read" if problem.trouble is Trouble.UNREADABLE else "problem"
            yield f"  {style.bad(word)}: {flat(place)}: {flat(problem.what)}"
        if not group.hooks and not group.problems:
            shown = ", ".join(short_path(path, around.cwd, around.home) for path in group.files)
            yield style.dim(f"  no hooks in {flat(shown)}")
    total = sum(len(group.hooks) for group in groups)
    twice = sum(bool(hook.twice) for group in groups for hook in group.hooks)
    unread = sum(item.trouble is Trouble.UNREADABLE for group in groups for item in group.problems)
    yield style.dim(
        f"{plural(total, 'hook')}, {twice} of them run twice, {plural(unread, 'file')} not read"
        + (f"; no files of {', '.join(group.title.split(' (')[0] for group in quiet)}" if quiet else "")
    )


def _lines(hook: Listed, style: Style, around: Surroundings) -> Iterator[str]:
    matcher = one_line(f"`{hook.matcher}`") if hook.matcher not in (None, "", "*") else "every value"
    moment = f" (= {hook.claude_event})" if hook.claude_event and hook.claude_event != hook.event else ""
    place = f"{short_path(hook.path, around.cwd, around.home)}:{hook.line}"
    yield f"  {flat(hook.event)}{moment}, {matcher}  {one_line(hook.label)}"
    notes = [hook.trust] if hook.trust else []
    notes += ["from Claude Code's file"] if hook.borrowed else []
    notes += ["hands the event to Hookwright"] if hook.bridge else []
    yield f"      {style.dim(flat(place))}{style.dim('  ' + '; '.join(notes)) if notes else ''}"
    if hook.twice:
        yield f"      {style.warn(f'runs twice: also {flat(hook.twice)}')}"


def surroundings(project: str) -> tuple[Surroundings, str]:
    """Return the surroundings of the running command, and its project as an absolute path."""
    around = Surroundings.here(dict(os.environ), None, os.getcwd())
    return around, os.path.abspath(os.path.join(around.cwd, project))
