"""What an export cannot carry, by name: reasons to refuse it, and remarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from hookwright.config import Loaded
from hookwright.dialects.model import AnswerEffect, Dialect
from hookwright.hookset import Entry
from hookwright.protocol.events import CATALOGUE, Exit2
from hookwright.protocol.handlers import Kind
from hookwright.protocol.sources import place


class Losses(msgspec.Struct, frozen=True):
    """What stops an export, and what it only reports."""

    refusals: tuple[str, ...]
    remarks: tuple[str, ...]


def losses(dialect: Dialect, loaded: Loaded) -> Losses:
    """Return what the agent cannot do with the hooks of a project.

    Law: a hook that would never run there, or that would run and could not decide anything it decides in Claude Code,
    is named; the first kind stops the export.
    """
    return Losses(tuple(_never(dialect, loaded)), tuple(_weaker(dialect, loaded)))


def _named(entry: Entry) -> str:
    return f"{place(entry.handler.source)} {entry.event}: {entry.handler.label[:80]}"


def _never(dialect: Dialect, loaded: Loaded) -> Iterator[str]:
    for entry in loaded.hooks:
        moment = dialect.moment_of(entry.event)
        if moment is None or not moment.exported:
            why = moment.note if moment is not None else f"{dialect.title} has no such event"
            yield f"{_named(entry)} never runs: {why}"
        elif entry.handler.kind is Kind.MCP_TOOL:
            yield f"{_named(entry)} never runs: the bridge connects no MCP servers"


def _weaker(dialect: Dialect, loaded: Loaded) -> Iterator[str]:
    limit = float(dialect.clock.seconds(dialect.clock.exported) or dialect.clock.exported)
    for entry in loaded.hooks:
        moment = dialect.moment_of(entry.event)
        if moment is None or not moment.exported:
            continue
        rules = CATALOGUE[entry.event].rules
        if not moment.refused_by and rules.exit_2 not in (Exit2.NOTHING, Exit2.FAIL):
            yield f"{_named(entry)} cannot refuse: {moment.note or 'the agent reads no refusal there'}"
        if entry.handler.background:
            yield f"{_named(entry)} runs in the background in Claude Code; here the agent waits for it"
        if entry.handler.timeout is not None and entry.handler.timeout > limit:
            yield f"{_named(entry)} may take {entry.handler.timeout:g} s; the agent waits {limit:g} s"
        if rules.env_file:
            yield f"{_named(entry)}: what it writes to CLAUDE_ENV_FILE is not carried"
    yield from general(dialect)


def general(dialect: Dialect) -> Iterator[str]:
    """Yield what an agent cannot do with any hook."""
    answers = dialect.answers
    if not (answers.asks and answers.ask in (AnswerEffect.REFUSED, AnswerEffect.ASKS)):
        yield "`ask` becomes a refusal: no answer makes the agent ask safely"
    if not answers.rewrite:
        yield "`updatedInput` becomes a refusal: the agent cannot rewrite a call"
    if not answers.allows:
        yield "`allow` does not skip the agent's own question"
    if not any(moment.context for moment in dialect.moments if moment.claude == "PreToolUse"):
        yield "context of a PreToolUse hook is reported and not carried"
    if answers.stop is not AnswerEffect.ENDS:
        yield "`continue: false` refuses the call and does not end the turn"


def twice(dialect: Dialect, loaded: Loaded, sources: tuple[str, ...] | None, texts: Mapping[str, str]) -> list[str]:
    """Return why hooks would run twice: the agent loads Claude Code's file, or has the same command in its own.

    `texts` are the agent's other files, by path.
    """
    read = ("user", "project", "local") if sources is None else sources
    found = []
    for scope, file in dialect.claude_scopes.items():
        if scope in read and any(entry.handler.source.scope.value == scope for entry in loaded.hooks):
            found.append(f"{dialect.title} loads {file} by itself, so its hooks would run twice")
    for path, text in texts.items():
        if f"hook --from {dialect.name}" in text:
            found.append(f"{path} already calls Hookwright, so every hook would run twice")
        else:
            same = [entry for entry in loaded.hooks if len(entry.handler.label) > 3 and entry.handler.label in text]
            found += [f"{path} already has this command: {entry.handler.label[:80]}" for entry in same]
    return list(dict.fromkeys(found))
