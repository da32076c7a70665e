"""The command line: a literal table of commands, each imported only when it is called."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Command → what it does. The module `hookwright.cli.commands.<command>` has `configure(parser)` and `run(args)`, and
#: `USAGE` where its status for a usage error is another than ours.
COMMANDS: dict[str, str] = {
    "chat": "talk to the reference agent in the terminal, with its hooks in plain sight",
    "run": "run the reference agent without a screen, with hooks at every point",
    "fire": "fire an event at the hooks of a project and show what each of them did",
    "list": "list the effective hooks with scope, file:line, order and state",
    "new": "write a hook from a template, with settings entry and cases",
    "test": "run the cases that stand beside the hooks",
    "record": "make cases of what happened in a session",
    "trace": "show what hooks did, from the journal, live with -f",
    "stats": "count runs, times, refusals and failures, and hooks that never ran",
    "doctor": "check the whole installation with a live canary",
    "check": "look for mistakes in settings, plugins, skills and the scripts that they run",
    "rules": "list the rules of check, or explain one with a bad and a good sample",
    "schema": "print JSON Schemas of settings, event inputs and hook outputs",
    "completion": "print a completion script for bash, zsh or fish",
    "explain": "tell for every hook why it would or would not run for an event",
    "trust": "review and trust the hooks that come with a project",
}

USAGE = 1


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    args = sys.argv[1:] if argv is None else argv
    if args[:1] in (["--version"], ["-V"]):
        from hookwright._version import __version__  # a constant: the quickest answer imports nothing else

        print(f"hookwright {__version__}")
        return 0
    if not args or args[0] in ("-h", "--help", "help"):
        print(overview())
        return 0 if args else USAGE
    if args[0] not in COMMANDS:
        print(f"hookwright: `{args[0]}` is not a command. Known: {', '.join(COMMANDS)}.", file=sys.stderr)
        return USAGE
    return _run(args[0], args[1:]) if argv is not None else _run_as_program(args[0], args[1:])


def overview() -> str:
    """Write the help page."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name.ljust(width)}  {text}" for name, text in COMMANDS.items())
    return f"usage: hookwright COMMAND [OPTIONS]\n\n{rows}\n\nRun `hookwright COMMAND --help` for its options."


def _run_as_program(name: str, args: list[str]) -> int:
    """Spare the collector what is never garbage: modules while they are imported, and everything at the end."""
    import gc

    gc.disable()
    try:
        return _run(name, args, gc.enable)
    finally:
        gc.freeze()  # a tenth of a short command would go into taking the interpreter apart


def _run(name: str, args: list[str], imported: Callable[[], None] = lambda: None) -> int:
    import argparse
    import importlib

    module = importlib.import_module(f"hookwright.cli.commands.{name.replace('-', '_')}")
    parser = argparse.ArgumentParser(
        prog=f"hookwright {name}", description=COMMANDS[name].capitalize() + ".", formatter_class=argparse.HelpFormatter
    )
    module.configure(parser)
    imported()
    usage = getattr(module, "USAGE", USAGE)
    try:
        parsed = parser.parse_args(args)
    except SystemExit as end:
        return usage if end.code == 2 else int(end.code or 0)
    return _guarded(module.run, parsed, usage)


def _guarded(run: object, parsed: object, usage: int) -> int:
    from hookwright.errors import HookwrightError

    assert callable(run)
    try:
        status = run(parsed)
        sys.stdout.flush()
    except HookwrightError as error:
        print(f"hookwright: {error}", file=sys.stderr)
        return usage
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return int(status)
