"""Check settings, plugins, skills, agents and hook scripts for mistakes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import msgspec

from hookwright.cli.findings import Checked, Page, as_json, as_sarif, concise_lines, github_lines, text_lines
from hookwright.cli.terminal import Style, columns, remark
from hookwright.config.locations import Surroundings
from hookwright.dialects.installed import newer_than_recorded
from hookwright.dialects.model import Dialect
from hookwright.dialects.table import AGENTS, dialect
from hookwright.errors import ConfigError
from hookwright.lint import RULES, CheckOptions, CheckScope, Finding, RuleSelection, Subject, gather, lint, read_target
from hookwright.lint.agents import check_own, gather_own
from hookwright.lint.edits import Change, changes
from hookwright.lint.model import RANK
from hookwright.lint.report import chosen
from hookwright.lint.targets import with_agents
from hookwright.lint.trusted import changed_since, is_trusted
from hookwright.protocol.diagnostics import Severity
from hookwright.text import harmless, say, short_path

CLEAN, FOUND, USAGE = 0, 1, 2
#: One fix may uncover another.
_PASSES = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="project directory, settings file, plugin directory, skill or agent file (default: the current project)",
    )
    parser.add_argument("--user", action="store_true", help="also check your user settings, skills and agents")
    parser.add_argument("--all", action="store_true", help="also check user and managed settings and enabled plugins")
    parser.add_argument(
        "--format",
        choices=("text", "concise", "json", "sarif", "github"),
        default="text",
        help="output format (default: text)",
    )
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")
    _configure_selection(parser)
    parser.add_argument("--fix", action="store_true", help="apply fixes and show the diff")
    parser.add_argument("--diff", action="store_true", help="show the diff of --fix without applying it")
    parser.add_argument(
        "--run",
        action="store_true",
        help="also fire sample events at trusted hooks, in a temporary copy of the project",
    )
    parser.add_argument("--trust", action="store_true", help="with --run, trust the project's hooks for this command")
    parser.epilog = (
        "Exit status: 0 if there is nothing worse than info, 1 if there are findings, 2 for usage errors. "
        "`hookwright rules HK401` explains a rule."
    )


def _configure_selection(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose rules."""
    parser.add_argument(
        "--select",
        action="append",
        default=[],
        metavar="IDS",
        help="check only these rules or rule prefixes (comma-separated), such as HK401,HK4",
    )
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="IDS",
        help="skip these rules or rule prefixes (comma-separated)",
    )
    parser.add_argument(
        "--min-severity",
        choices=[item.value for item in Severity],
        default="info",
        help="hide findings below this level",
    )
    parser.add_argument(
        "--strict", action="store_true", help="also report opinions, and what matters on other systems only"
    )
    parser.add_argument(
        "--target",
        default="",
        metavar="LIST",
        help="also check for these versions or systems: 2.1.200, windows",
    )
    parser.add_argument(
        "--for",
        dest="agents",
        default="",
        metavar="AGENTS",
        help=f"also check what other agents do with these hooks (comma-separated): {', '.join(AGENTS)}",
    )
    parser.add_argument(
        "--agent", metavar="AGENT", help="check the configuration files of this agent instead of Claude Code's"
    )


def run(args: argparse.Namespace) -> int:
    """Check, fix on request, and print the remaining findings."""
    around = Surroundings.here(dict(os.environ), None, os.getcwd())
    selection = RuleSelection(_ids(args.select), _ids(args.ignore), Severity(args.min_severity), args.strict)
    wanted = CheckScope(paths=tuple(args.paths), user=args.user, everything=args.all)
    if args.agent is not None:
        return _own_files(args, selection, around)
    options = CheckOptions(env=around.env, target=with_agents(read_target(args.target), args.agents))
    _warn_of_newer(options.target.agents, around)
    request = _Request(wanted, options, around)
    subject = request.gather()
    if not subject.documents and not args.paths and not wanted.user and not wanted.everything:
        request = msgspec.structs.replace(request, wanted=msgspec.structs.replace(wanted, user=True))
        subject = request.gather()
        if subject.documents:
            remark(["This project has no hooks of its own; checking your own settings, as with --user."])
    found = lint(subject, selection, _ran(args, subject, around))
    if args.fix or args.diff:
        subject, found = _fixed(args, request, selection, subject, found)
    _print(found, subject, args.format)
    serious = any(RANK[item.severity] >= RANK[Severity.WARNING] for item in found)
    return FOUND if serious else CLEAN


def _own_files(args: argparse.Namespace, selection: RuleSelection, around: Surroundings) -> int:
    """Check the files of one agent and print the findings."""
    if args.agents or args.fix or args.diff or args.run:
        raise ConfigError("--agent checks an agent's own files: remove --for, --fix, --diff and --run.")
    _warn_of_newer((dialect(args.agent),), around)
    subject = gather_own(dialect(args.agent), tuple(args.paths), around)
    found = chosen(check_own(subject), selection)
    _print(found, subject, args.format)
    return FOUND if any(RANK[item.severity] >= RANK[Severity.WARNING] for item in found) else CLEAN


def _warn_of_newer(agents: Sequence[Dialect], around: Surroundings) -> None:
    """Print a warning for each agent that is installed in a newer version than the one its table was made from."""
    remark([text for each in agents if (text := newer_than_recorded(each, around.env, around.cwd))])


def _ids(given: Sequence[str]) -> tuple[str, ...]:
    """Read `HK401,HK5`; raise ConfigError for anything that is not a rule or a prefix of one."""
    found = tuple(word.strip().upper() for item in given for word in item.split(",") if word.strip())
    for word in found:
        if not any(rule.startswith(word) for rule in RULES):
            raise ConfigError(f"`{word}` is not a rule or a rule prefix. `hookwright rules` lists all rules.")
    return found


class _Request(msgspec.Struct, frozen=True):
    """What to check."""

    wanted: CheckScope
    options: CheckOptions
    around: Surroundings

    def gather(self) -> Subject:
        """Read everything to check, with what changed since it was trusted."""
        subject = gather(self.wanted, self.options, self.around)
        return msgspec.structs.replace(subject, changed=changed_since(subject.projects, self.around))


def _ran(args: argparse.Namespace, subject: Subject, around: Surroundings) -> list[Finding]:
    """Fire sample events on request; every run is announced on stderr."""
    if not args.run:
        return []
    import asyncio  # like the engine, only needed for a run

    from hookwright.lint.running import run_hooks

    trusted = (lambda _: True) if args.trust else is_trusted(subject.projects, around)
    return asyncio.run(run_hooks(subject, trusted, lambda line: say([harmless(line)], sys.stderr)))


def _fixed(
    args: argparse.Namespace, request: _Request, selection: RuleSelection, subject: Subject, found: list[Finding]
) -> tuple[Subject, list[Finding]]:
    """Apply fixes until none is left; with --diff only show the first round."""
    for _ in range(_PASSES):
        made = changes(found)
        if not made:
            break
        _show(made, request.around.cwd)
        if not args.fix:
            break
        for change in made:
            change.write()
        subject = request.gather()
        found = lint(subject, selection)
    return subject, found


def _show(made: Sequence[Change], cwd: str) -> None:
    # On stderr, so that stdout stays what --format promises.
    say(
        [harmless(line) for change in made for line in change.diff(short_path(change.path, cwd)).splitlines()],
        sys.stderr,
    )


def _print(found: Sequence[Finding], subject: Checked, form: str) -> None:
    cwd = os.getcwd()
    match form:
        case "json":
            say([as_json(found, cwd)], sys.stdout)
        case "sarif":
            say([as_sarif(found, cwd)], sys.stdout)
        case "github":
            say(github_lines(found, cwd), sys.stdout)
        case "concise":
            say(concise_lines(found, subject, Page(cwd, Style.of(sys.stdout))), sys.stdout)
        case _:
            say(text_lines(found, subject, Page(cwd, Style.of(sys.stdout), columns(sys.stdout))), sys.stdout)
