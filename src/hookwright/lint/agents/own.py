"""`check --agent`: an agent's own files, and what the agent does with what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from hookwright.config.locations import Surroundings
from hookwright.dialects.model import Dialect, FileScope, Layout
from hookwright.dialects.portability import evidence
from hookwright.dialects.reading.doubles import other_run
from hookwright.dialects.reading.files import declared_as, found_files
from hookwright.dialects.reading.model import ForeignHook, Problem, Trouble
from hookwright.dialects.reading.read import ReadFile, read_one
from hookwright.errors import ConfigError
from hookwright.lint.agents.answers import check_answers
from hookwright.lint.agents.hook import AgentHook, of_foreign
from hookwright.lint.agents.matching import check_matching
from hookwright.lint.agents.settings import check_settings
from hookwright.lint.catalogue import RULES
from hookwright.lint.model import Finding, Position
from hookwright.text import short_path

_WAYS = {
    Trouble.UNREADABLE: "Repair the file; until then the agent has none of its hooks.",
    Trouble.VOID: "Remove the key or event, or write its right name.",
    Trouble.EVENT: "Write one of the agent's own events.",
    Trouble.KEY: "Remove the key, or write its right name.",
    Trouble.SHAPE: "Write the value in the shape that the agent reads.",
}


class OwnSubject(msgspec.Struct, frozen=True, kw_only=True):
    """The files of one agent that are checked."""

    dialect: Dialect
    #: The paths of the files.
    documents: tuple[str, ...]
    hooks: tuple[ForeignHook, ...]
    problems: tuple[Problem, ...]
    project: str
    home: str


def gather_own(dialect: Dialect, paths: Sequence[str], around: Surroundings) -> OwnSubject:
    """Read the agent's files of this project and user, or those that were named; raise ConfigError for any other."""
    if all(file.layout is Layout.CODE for file in dialect.files):
        raise ConfigError(f"{dialect.title} has plugins instead of a configuration file with hooks; nothing to check")
    folders = [path for path in paths if os.path.isdir(os.path.join(around.cwd, path))]
    files: dict[str, ReadFile] = {}
    for path in paths if len(paths) > len(folders) else ():
        full = os.path.abspath(os.path.join(around.cwd, path))
        declared = declared_as(dialect, full, around)
        if path in folders:
            continue
        if declared is None or not os.path.lexists(full):
            known = ", ".join(file.path for file in dialect.files if file.scope is not FileScope.CLAUDE)
            raise ConfigError(f"{path}: not a file of {dialect.title}; it reads {known}")
        files[full] = read_one(dialect, declared, full)
    project = os.path.abspath(os.path.join(around.cwd, folders[0] if folders else "."))
    for declared, path in found_files(dialect, around, project) if not files or folders else ():
        if declared.scope is not FileScope.CLAUDE and declared.layout is not Layout.CODE:
            files.setdefault(path, read_one(dialect, declared, path))
    return OwnSubject(
        dialect=dialect,
        documents=tuple(files),
        hooks=tuple(hook for read in files.values() for hook in read.hooks),
        problems=tuple(problem for read in files.values() for problem in read.problems),
        project=project,
        home=around.home,
    )


def check_own(subject: OwnSubject) -> Iterator[Finding]:
    """Check every file and hook of an agent."""
    for problem in subject.problems:
        yield _problem(subject.dialect, problem)
    for hook in subject.hooks:
        seen = of_foreign(hook, subject.project, subject.home)
        yield from check_settings(seen)
        yield from check_matching(seen)
        yield from check_answers(seen)
        yield from _doubled(seen, hook, subject.hooks, subject.project)


def _problem(dialect: Dialect, problem: Problem) -> Finding:
    """HK920, HK921, HK922 and HK923: a file, an event, a key or a value that the agent cannot use."""
    rules = {
        Trouble.UNREADABLE: "HK920",
        Trouble.VOID: "HK920",
        Trouble.EVENT: "HK921",
        Trouble.KEY: "HK922",
        Trouble.SHAPE: "HK923",
    }
    rule = rules[problem.trouble]
    at = Position(problem.path, problem.line, problem.column, problem.pointer)
    what = f"{problem.what[:1].upper()}{problem.what[1:].rstrip('.')}. [{evidence(dialect, dialect.proof)}]"
    return Finding(rule, at, what, _WAYS[problem.trouble], RULES[rule].severity, agent=dialect.name)


def _doubled(seen: AgentHook, hook: ForeignHook, hooks: Sequence[ForeignHook], project: str) -> Iterator[Finding]:
    """HK924: a hook that two of the agent's files declare."""
    other = other_run(hook, hooks)
    if other is None:
        return
    where = f"{short_path(other.path, project)}:{other.line}"
    what = f"{seen.title} runs this command twice: also declared in {where}."
    yield seen.found("HK924", seen.spot("command"), hook.declared.proof, (what, "Keep one of the two."))
