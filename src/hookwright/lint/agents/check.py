"""The portability lint: every hook of Claude Code's files against every agent of `--for`."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from hookwright.config.locations import Surroundings
from hookwright.dialects.model import Dialect, Evidence, FileScope, Proof, UnknownEvent
from hookwright.dialects.portability import modest
from hookwright.dialects.reading.doubles import is_bridge, other_run
from hookwright.dialects.reading.files import found_files
from hookwright.dialects.reading.model import AgentHooks
from hookwright.dialects.reading.read import read_agent
from hookwright.lint.agents.answers import check_answers
from hookwright.lint.agents.fields import check_fields
from hookwright.lint.agents.hook import AgentHook, of_claude
from hookwright.lint.agents.matching import check_matching
from hookwright.lint.agents.settings import check_settings
from hookwright.lint.model import Finding
from hookwright.lint.subject import CheckedHook, Document, Subject
from hookwright.protocol.events import CATALOGUE
from hookwright.text import short_path


class _There(msgspec.Struct, frozen=True):
    """One document as one agent meets it."""

    document: Document
    dialect: Dialect
    #: The agent's hooks of this project and user.
    read: AgentHooks
    #: The agent loads the document by itself.
    loaded: bool

    def bridged(self, hook: CheckedHook) -> bool:
        """Return whether the agent hands the event of a hook to Hookwright, which runs the hook as it is meant."""
        return any(
            is_bridge(other.command) and other.moment is not None and other.moment.claude == hook.event
            for other in self.read.hooks
        )

    def copied(self, hook: CheckedHook) -> bool:
        """Return whether the agent's own files declare the same command for the same moment."""
        command = hook.command.command.strip() if hook.command is not None else ""
        return bool(command) and any(
            other.command.strip() == command and other.moment is not None and other.moment.claude == hook.event
            for other in self.read.hooks
            if other.declared.scope is not FileScope.CLAUDE
        )


def check_portability(subject: Subject) -> Iterator[Finding]:
    """Compare every hook with each agent that was asked for; without one nothing is read and nothing found."""
    for dialect in subject.options.target.agents:
        for document in subject.documents:
            hooks = [hook for hook in subject.hooks if hook.document is document]
            if document.events:
                there = _there(document, dialect, subject)
                yield from _document(there, hooks)
                yield from _hooks(there, hooks)


def _there(document: Document, dialect: Dialect, subject: Subject) -> _There:
    reach = document.reach
    around = Surroundings(subject.options.env, reach.home, reach.project_dir)
    own = [
        path for declared, path in found_files(dialect, around, reach.project_dir) if declared in dialect.loads_claude
    ]
    loaded = any(os.path.realpath(path) == os.path.realpath(document.path) for path in own)
    return _There(document, dialect, read_agent(dialect, around, reach.project_dir), loaded)


def _hooks(there: _There, hooks: list[CheckedHook]) -> Iterator[Finding]:
    for hook in hooks:
        if there.bridged(hook):
            yield from _twice(there, hook)
            continue
        seen = of_claude(hook, there.dialect)
        yield from check_settings(seen)
        yield from check_matching(seen)
        yield from check_fields(seen)
        yield from check_answers(seen)
        yield from _twice(there, hook)


def _document(there: _There, hooks: list[CheckedHook]) -> Iterator[Finding]:
    """HK906 and HK913: a file that the agent does not read, or reads and ignores as a whole."""
    document, dialect = there.document, there.dialect
    if not there.loaded:
        lost = [hook for hook in hooks if not there.bridged(hook) and not there.copied(hook)]
        if lost:
            some = f"{len(lost)} of its {len(hooks)} hooks do not run there"
            count = "none of its hooks runs there" if len(lost) == len(hooks) else some
            what = f"{dialect.title} does not read this file: {count}."
            write = f"`hookwright export --to {dialect.name}`, or declare them in {dialect.files[-1].path}."
            if not dialect.exported:
                write = f"Declare them in {dialect.files[0].path}."
            first = of_claude(lost[0], dialect)
            yield first.found("HK906", document.place(document.at), modest(dialect), (what, write))
        return
    unknown = [event for event in document.events if event in CATALOGUE and dialect.moment_of(event) is None]
    if unknown and hooks and dialect.unknown_event is UnknownEvent.VOIDS_FILE:
        proof = msgspec.structs.replace(dialect.proof, evidence=Evidence.REPORTED)
        yield _void(of_claude(hooks[0], dialect), document, unknown[0], proof)


def _void(hook: AgentHook, document: Document, event: str, proof: Proof) -> Finding:
    what = f"{hook.title} does not know `{event}`, and one unknown event voids the whole file without a word."
    write = f"Move the hooks of `{event}` to a file that {hook.title} does not read, such as the settings of a plugin."
    return hook.found("HK913", document.place((*document.at, event)), proof, (what, write))


def _twice(there: _There, hook: CheckedHook) -> Iterator[Finding]:
    """HK907: a hook that the agent runs twice."""
    place = hook.place()
    mine = [item for item in there.read.hooks if item.path == hook.document.path and item.pointer == place.pointer]
    other = other_run(mine[0], there.read.hooks) if mine else None
    if other is None:
        return
    where = f"{short_path(other.path, hook.document.reach.project_dir, hook.document.reach.home)}:{other.line}"
    by = "through Hookwright" if is_bridge(other.command) else "also declared"
    what = f"{there.dialect.title} loads this file and runs the hook twice: {by} in {where}."
    write = f"Keep one of the two: remove the entry of {where}, or this one."
    seen = of_claude(hook, there.dialect)
    yield seen.found("HK907", hook.place("command"), other.declared.proof, (what, write))
