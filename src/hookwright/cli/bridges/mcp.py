"""`hookwright mcp`: hooks in front of an MCP server, for every MCP client."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from contextlib import AsyncExitStack

from hookwright.adapters.gateway.serve import serve
from hookwright.adapters.gateway.upstream import ServerProcess, Upstream
from hookwright.cli.options import add_places, places
from hookwright.cli.render import problems
from hookwright.cli.servers import add_servers, powers
from hookwright.cli.terminal import remark
from hookwright.errors import ConfigError, MissingExtra
from hookwright.processes.watchdog import Watchdog
from hookwright.session import open_session


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "server", nargs="*", metavar="COMMAND", help="the command that starts the MCP server, after `--`"
    )
    parser.add_argument("--name", metavar="NAME", help="name of the server: its tools are mcp__NAME__TOOL for hooks")
    parser.add_argument(
        "--url", metavar="URL", help="the MCP server at this URL (streamable HTTP) instead of a command"
    )
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME=${VARIABLE}",
        help="send this header to the URL; ${VARIABLE} is read from the environment",
    )
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
    if bool(args.server) == bool(args.url):
        raise ConfigError(
            "name one server: a command after `--`, as in hookwright mcp --name files -- npx some-server, or --url URL"
        )
    if args.header and not args.url:
        raise ConfigError("--header needs --url: a server on stdio has no headers")
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
        server = await _server(args, session.watchdog)
        return await serve(session, args.name, server, _complain)


async def _server(args: argparse.Namespace, watchdog: Watchdog | None) -> Upstream:
    if args.url is None:
        assert watchdog is not None, "the session was opened with one"
        return await ServerProcess.start(args.server, os.environ, watchdog)
    headers = dict(map(_header, args.header))
    try:
        from hookwright.adapters.gateway.http import RemoteServer
    except ImportError:
        raise MissingExtra("hookwright mcp --url", "mcp") from None
    return RemoteServer(args.url, headers, _complain)


def _header(text: str) -> tuple[str, str]:
    """Read NAME=VALUE; raise ConfigError for another form or a variable that is not set."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"--header {text}: not an assignment; write, for example, 'Authorization=Bearer ${{TOKEN}}'")
    missing = [found for found in re.findall(r"\$\{(\w+)\}", value) if found not in os.environ]
    if missing:
        raise ConfigError(f"--header {name}: the variable {missing[0]} is not set")
    return name.strip(), re.sub(r"\$\{(\w+)\}", lambda found: os.environ[found[1]], value).strip()


def _complain(text: str) -> None:
    remark([f"hookwright: {text}"])
    sys.stderr.flush()
