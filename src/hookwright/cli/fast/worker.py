"""`hookwright worker`: one hook in a process that the daemon keeps, for any host that starts a command per event."""

from __future__ import annotations

import argparse
import itertools
import os

from hookwright.errors import ConfigError
from hookwright.processes.guard import RUN_VARIABLE, mark_prefix
from hookwright.processes.process import Command, Exit, ExitCode, NotStarted, Signalled
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.replies import Exited
from hookwright.protocol.sources import Scope, Source
from hookwright.resident.messages import Reply, Request
from hookwright.warm.pool import WarmFork
from hookwright.warm.workers import Workers

_numbers = itertools.count(1)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "--resident",
        action="store_true",
        help="the command speaks the worker protocol, as hooks written with hookwright.author do",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the hook, after `--`")
    parser.epilog = (
        "A command for the settings of any agent: the event on stdin is answered by a warm interpreter, or with "
        "--resident by a process that keeps running. Where there is none, the command is started as it is. Exit "
        "status: that of the command."
    )


def run(args: argparse.Namespace) -> int:
    """Become the command: the daemon did not answer."""
    argv = words(args)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        raise ConfigError(f"{argv[0]}: {error.strerror}") from None


def words(args: argparse.Namespace) -> list[str]:
    """Return the command; raise ConfigError if there is none."""
    found = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not found:
        raise ConfigError("name the hook, for example: hookwright worker -- python3 guard.py")
    return list(found)


async def asked(args: argparse.Namespace, request: Request, workers: Workers) -> Reply | None:
    """Have the command's worker answer; None if the caller must start the command.

    Law: the reply is that of the command. An answer that was cut off is not one.
    """
    argv = words(args)
    handler = CommandHandler(
        source=Source(Scope.FLAG, "worker"),
        command=argv[0],
        args=tuple(argv[1:]),
        worker="resident" if args.resident else "warm",
    )
    mark = f"{RUN_VARIABLE}={mark_prefix(request.env)}worker-{next(_numbers)}"
    command = Command(argv=tuple(argv), cwd=request.cwd, env=request.env, stdin=request.stdin, mark=mark)
    if args.resident:
        reply = await workers.residents.ask(handler, command, None)
        return Reply(reply.status, reply.stdout, reply.stderr) if isinstance(reply, Exited) else None
    return await _forked(handler, command, workers)


async def _forked(handler: CommandHandler, command: Command, workers: Workers) -> Reply | None:
    fork = await workers.interpreters.take(handler, command)
    if fork is None:
        workers.interpreters.prepare(handler, command)
    if not isinstance(fork, WarmFork):
        return None
    process = fork.start(command, None)
    if isinstance(process, NotStarted):
        return None
    ended = await process.wait()
    if not isinstance(ended, Exit):
        return None
    out, err = ended.output.stdout, ended.output.stderr
    if out.total > len(out.data) or err.total > len(err.data):
        return None
    match ended.status:
        case ExitCode(code=code):
            return Reply(code, out.data, err.data)
        case Signalled(number=number):
            return Reply(128 + number, out.data, err.data)
        case _:
            return None
