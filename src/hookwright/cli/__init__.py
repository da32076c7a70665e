"""The command line: a literal table of commands, each imported only when it is called."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from types import ModuleType

#: Command → what it does. Its module (`parsers.module_of`) has `configure(parser)` and `run(args)`;
#: `USAGE` if its status for a usage error differs from ours; `UNDONE` if that status has another meaning, too: the line
#: that tells them apart; `endless(args)` if it may run until its reader leaves.
COMMANDS: dict[str, str] = {
    "demo": "watch real hooks at work in a temporary project; needs no key",
    "chat": "chat with the reference agent in the terminal and see what its hooks do",
    "run": "run the reference agent headless, with all of its hooks",
    "fire": "fire an event at a project's hooks and show what each hook did",
    "list": "list the effective hooks with scope, file and line, order and state",
    "new": "write a hook from a template, with its settings entry and test cases",
    "test": "run your hooks' test cases",
    "record": "record test cases from a session",
    "trace": "show what hooks did, from the journal",
    "stats": "show run times, refusals and failures per hook, and hooks that never ran",
    "web": "show in a local page what hooks do, live, in all sessions",
    "observe": "let the console see the events of Claude Code",
    "replay": "try hooks on past sessions and compare what they say with what happened",
    "doctor": "check the installation and fire a live canary hook",
    "check": "check settings, plugins, skills and hook scripts for mistakes",
    "rules": "list the rules of `check`, or explain one with a bad and a good example",
    "schema": "print JSON Schemas for settings, event inputs and hook outputs",
    "completion": "print a completion script for bash, zsh or fish",
    "explain": "explain why each hook would or would not run for an event",
    "adapters": "list the agent frameworks in which hooks run, and the line to add",
    "mcp": "run an MCP server with hooks in front of it, for any MCP client",
    "trust": "review and trust the hooks that come with a project",
    "export": "register the hooks of Claude Code in another agent, or remove them there",
    "hook": "answer another agent's hook event with the hooks of Claude Code",
    "worker": "run a Python hook in a process that the daemon keeps, for any agent",
    "daemon": "show, stop or start the process that answers `--fast` and hookwright-client",
}

#: The first argument with which the Claude Agent SDK starts the program its `cli_path` names; it names no command.
AS_CLI = "--output-format"
USAGE = 2
#: The status of a command that could not do its work, although it was asked correctly.
FAILED = 1
#: The status of a command that Ctrl+C ended.
_INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Run one command; return the exit status."""
    if argv is not None:
        return _dispatch(argv, _run)
    from hookwright.cli.streams import install

    install()
    return _dispatch(sys.argv[1:], _run_as_program)


def _dispatch(args: list[str], run: Callable[[str, list[str]], int]) -> int:
    if args[:1] in (["--version"], ["-V"]):
        from hookwright._version import __version__  # a constant: the quickest answer imports nothing else

        print(f"hookwright {__version__}")
        return 0
    if not args or args[0] in ("-h", "--help", "help"):
        print(overview())
        return 0 if args else USAGE
    if args[0] == AS_CLI:
        return run("run", args)
    if args[0] not in COMMANDS:
        print(f"hookwright: `{args[0]}` is not a command; use one of {', '.join(COMMANDS)}", file=sys.stderr)
        return USAGE
    if _wants_daemon(args):
        from hookwright.resident.client import fast  # before the modules of the command, which are what takes time

        args = [word for word in args if word != "--fast" or args[0] == "worker"]
        status = fast(args)
        if status is not None:
            return status
    return run(args[0], args[1:])


def _wants_daemon(args: list[str]) -> bool:
    """Return whether the daemon is asked first; a page of help, and a worker without a command, need none."""
    if {"-h", "--help"} & set(args[1:3]):
        return False
    return (args[0] == "worker" and len(args) > 1) or (args[0] in ("hook", "fire") and "--fast" in args)


def overview() -> str:
    """Return the help page."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name.ljust(width)}  {sentence(text)}" for name, text in COMMANDS.items())
    return (
        "Usage: hookwright COMMAND [OPTIONS]\n\n"
        f"Commands:\n{rows}\n\nRun `hookwright COMMAND --help` for the options of a command."
    )


def sentence(text: str) -> str:
    """Return a text with a capital at its start and every other letter as it is."""
    return text[:1].upper() + text[1:]


def _run_as_program(name: str, args: list[str]) -> int:
    """Run without garbage collection where nothing is garbage: during imports, and at the end of the process."""
    import gc

    gc.disable()
    try:
        return _run(name, args, gc.enable)
    except KeyboardInterrupt:  # before the command itself began
        return _INTERRUPTED
    finally:
        gc.freeze()  # otherwise a short command spends a tenth of its time on taking the interpreter apart


def _run(name: str, args: list[str], imported: Callable[[], None] = lambda: None) -> int:
    from hookwright.cli.parsers import module_of, parser_of

    module, parser = module_of(name), parser_of(name)
    imported()
    usage = getattr(module, "USAGE", USAGE)
    try:
        parsed = parser.parse_args(args)
    except SystemExit as end:
        return _refused(module, usage) if end.code == 2 else int(end.code or 0)
    return _guarded(module, parsed, usage)


def _refused(module: ModuleType, usage: int) -> int:
    """Return the status of a usage error; where it also means something else, say on stderr which of them it is."""
    if hasattr(module, "UNDONE"):
        print(f"hookwright: {module.UNDONE}", file=sys.stderr)
    return usage


def _guarded(module: ModuleType, parsed: Namespace, usage: int) -> int:
    """Run a command; its status survives a lost stdout, and where it has none yet, the status is `UNKNOWN`."""
    from hookwright.cli import streams
    from hookwright.errors import CallbackGone, HookFailed, HookwrightError, McpError, ModelError

    if hasattr(module, "endless") and module.endless(parsed):
        streams.end_with_reader()
    try:
        status = int(module.run(parsed))
        sys.stdout.flush()
    except HookwrightError as error:
        from hookwright.cli.terminal import remark
        from hookwright.text import flat

        remark([f"hookwright: {flat(str(error))}"])
        failed = isinstance(error, ModelError | McpError | CallbackGone | HookFailed)
        return FAILED if failed else _refused(module, usage)
    except FileNotFoundError:
        if _has_directory():
            raise
        print("hookwright: the working directory no longer exists; change to another one", file=sys.stderr)
        return _refused(module, usage)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        return streams.UNKNOWN
    problem = streams.problem()
    if problem is not None:
        print(f"hookwright: {problem}", file=sys.stderr)
    return status


def _has_directory() -> bool:
    import os

    try:
        os.getcwd()
    except OSError:
        return False
    return True
