"""Register Claude Code's hooks in another agent: one constant entry per event that calls `hookwright hook`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

from hookwright.cli.agentflags import listed
from hookwright.cli.bridges.edited import diff_lines, write_file
from hookwright.config import Loaded, Places
from hookwright.config.files import read_to_edit
from hookwright.config.locations import Surroundings
from hookwright.dialects.export.files import TARGETS, Target, resolved, target
from hookwright.dialects.export.losses import losses, twice
from hookwright.dialects.installed import newer_than_recorded
from hookwright.dialects.model import Dialect, Evidence, FileScope
from hookwright.dialects.table import BRIDGED, dialect
from hookwright.errors import ConfigError
from hookwright.text import harmless, plural, say

T = TypeVar("T")

DONE, STALE = 0, 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--to", dest="agent", required=True, metavar="AGENT", choices=BRIDGED, help=f"the agent: {', '.join(BRIDGED)}"
    )
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user", help="write the user's file or the project's"
    )
    parser.add_argument(
        "--project", default=".", metavar="DIR", help="project directory (default: the current directory)"
    )
    parser.add_argument(
        "--setting-sources",
        type=listed,
        metavar="LIST",
        help="run only hooks of these settings: user, project, local (comma-separated)",
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--dry-run", action="store_true", help="show the change as a diff and write nothing")
    action.add_argument("--check", action="store_true", help="write nothing; exit 1 unless the export is up to date")
    action.add_argument("--remove", action="store_true", help="remove the entries and leave the file as it was before")
    parser.add_argument("--partial", action="store_true", help="export although some hooks will never run there")
    parser.epilog = "Exit status: 0 if done, 1 if --check finds a stale or missing export, 2 if the export is refused."


def run(args: argparse.Namespace) -> int:
    """Write, check or remove the entries of one agent."""
    table = dialect(args.agent)
    around = Surroundings.here(dict(os.environ), None, None)
    project = os.path.abspath(args.project)
    file = target(table, FileScope(args.scope), _program(args), around, project)
    text = read_to_edit(file.path)
    if args.remove:
        return _remove(file, text)
    if args.check:
        fine = _named(file, lambda: file.current(text))
        say([f"{file.path} {'is up to date' if fine else 'is not up to date: run hookwright export'}"], sys.stdout)
        return DONE if fine else STALE
    loaded = Places(project=project, env=dict(os.environ), sources=args.setting_sources).load()
    _refuse(table, loaded, args, _others(table, file, around, project))
    new = _named(file, lambda: file.added(text))
    if args.dry_run:
        say(diff_lines(file.path, text, new), sys.stdout)
    elif new != text:
        write_file(file.path, new)
    say(_report(table, loaded, file, args), sys.stderr)
    return DONE


def _program(args: argparse.Namespace) -> list[str]:
    """Return the command that answers events: by its full path for the user, by its name for a team.

    The C client is used where it is installed for the user; a team's file must not ask for it.
    """
    name = "hookwright"
    if args.scope == "user":
        name = _installed("hookwright-client") or _installed("hookwright") or name
    sources = ["--setting-sources", ",".join(args.setting_sources)] if args.setting_sources is not None else []
    return [name, "hook", "--from", args.agent, *sources]


def _installed(name: str) -> str | None:
    """Return the path of a program beside the interpreter, else in PATH."""
    own = os.path.join(os.path.dirname(sys.executable), name)
    return own if os.access(own, os.X_OK) else shutil.which(name)


def _remove(file: Target, text: str | None) -> int:
    if not file.present(text):
        say([f"{file.path} has no entries of Hookwright"], sys.stderr)
        return DONE
    left = _named(file, lambda: file.removed(text))
    if left is None:
        os.unlink(os.path.realpath(file.path))
    else:
        write_file(file.path, left)
    say([f"removed the entries of Hookwright from {file.path}"], sys.stderr)
    return DONE


def _named(file: Target, work: Callable[[], T]) -> T:
    """Do something with a file; an error names the file."""
    try:
        return work()
    except ConfigError as error:
        message = str(error)
        raise ConfigError(message if message.startswith(file.path) else f"{file.path}: {message}") from None


def _others(table: Dialect, file: Target, around: Surroundings, project: str) -> dict[str, str]:
    """Return the agent's other files that exist, by path."""
    places = [resolved(table, known.path, around, project) for known in table.files if "*" not in known.path]
    places += [resolved(table, path, around, project) for (name, _), path in TARGETS.items() if name == table.name]
    claude = {resolved(table, known.path, around, project) for known in table.loads_claude}
    texts = {path: read_to_edit(path) for path in dict.fromkeys(places) if path != file.path and path not in claude}
    return {path: text for path, text in texts.items() if text is not None}


def _refuse(table: Dialect, loaded: Loaded, args: argparse.Namespace, others: dict[str, str]) -> None:
    """Raise ConfigError for hooks that would run twice or never."""
    double = twice(table, loaded, args.setting_sources, others)
    if double:
        way_out = (
            "Remove one of them, or add --setting-sources user."
            if table.loads_claude
            else "Remove one of them; `hookwright export --remove` removes ours."
        )
        raise ConfigError(f"{'; '.join(map(harmless, double))}. {way_out}")
    never = losses(table, loaded).refusals
    if never and not args.partial:
        text = "; ".join(map(harmless, never))
        raise ConfigError(f"not everything can run in {table.title}: {text}. Add --partial to export the rest.")


def _report(table: Dialect, loaded: Loaded, file: Target, args: argparse.Namespace) -> Iterator[str]:
    found = losses(table, loaded)
    verb = "would be registered" if args.dry_run else "are registered"
    hooks = plural(sum(1 for _ in loaded.hooks), "hook")
    yield f"{hooks} of this project and of the user {verb} in {file.path}"
    if found.refusals or found.remarks:
        yield "Not carried:"
    yield from (f"  {harmless(line)}" for line in (*found.refusals, *found.remarks))
    yield f"Trust: {table.trust}"
    for moment in dict.fromkeys(filter(None, (table.moment_of(entry.event) for entry in loaded.hooks))):
        if moment.proof.evidence is not Evidence.RECORDED:
            yield f"What is known about {moment.name} in {table.title} is {moment.proof.evidence.value}."
    yield from filter(None, [newer_than_recorded(table, os.environ, os.path.abspath(args.project))])
