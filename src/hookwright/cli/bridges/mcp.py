"""`hookwright mcp`: hooks in front of an MCP server, for every MCP client."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import AsyncExitStack

from hookwright.adapters.gateway.serve import serve
from hookwright.adapters.gateway.upstream import ServerProcess
from hookwright.cli.options import add_places, places
from hookwright.cli.render import problems
from hookwright.cli.servers import add_servers, powers
from hookwright.cli.terminal import remark
from hookwright.errors import ConfigError
from hookwright.session import open_session


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "server", nargs="*", metavar="COMMAND", help="the command that starts the MCP server, after `--`"
    )
    parser.add_argument("--name", metavar="NAME", help="name of the server: its tools are mcp__NAME__TOOL for hooks")
    add_places(parser)
    add_servers(parser)
    parser.add_argument("--no-journal", action="store_true", help="do not write to the journal")
    parser.epilog = (
        "Exit status: 0 if the client left, else that of the server; 2 for usage errors. Messages for the user are on "
        "stderr, together with the output of the server."
    )


def run(args: argparse.Namespace) -> int:
    """Connect the client on stdin and stdout with the server."""
    if not args.name or not args.name.strip():
        raise ConfigError("--name is missing: matchers such as mcp__files__.* need a name for the server")
    if not args.server:
        raise ConfigError("name the server's command after `--`: hookwright mcp --name files -- npx some-server")
    return asyncio.run(_serve(args))


async def _serve(args: argparse.Namespace) -> int:
    async with AsyncExitStack() as closing:
        lent = powers(args)
        if lent.servers is not None:
            await closing.enter_async_context(lent.servers)
        session = await closing.enter_async_context(
            open_session(places(args), powers=lent, journal=not args.no_journal, watchdog=True)
        )
        remark(problems(session.loaded))
        assert session.watchdog is not None, "the session was opened with one"
        server = await ServerProcess.start(args.server, os.environ, session.watchdog)
        return await serve(session, args.name, server, _complain)


def _complain(text: str) -> None:
    remark([f"hookwright: {text}"])
    sys.stderr.flush()
