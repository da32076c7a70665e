"""`hookwright mcp`: hooks in front of an MCP server, for every MCP client."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING

from hookwright.adapters.gateway.listener.doors import doors
from hookwright.adapters.gateway.serve import serve
from hookwright.adapters.gateway.upstream import ServerProcess, Upstream
from hookwright.cli.options import add_places, places
from hookwright.cli.render import problems
from hookwright.cli.servers import add_servers, powers
from hookwright.cli.terminal import remark
from hookwright.config import Places
from hookwright.errors import ConfigError, MissingExtra
from hookwright.processes.watchdog import Watchdog
from hookwright.session import HookSession, open_session

if TYPE_CHECKING:
    from hookwright.adapters.gateway.listener.listen import OpenHooks, StartServer


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
    parser.add_argument(
        "--listen",
        metavar="ADDRESS:PORT",
        help="serve clients over streamable HTTP here instead of on stdio",
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="HOST",
        help="with --listen: another name under which clients reach this machine",
    )
    add_places(parser)
    add_servers(parser)
    parser.add_argument("--no-journal", action="store_true", help="do not write to the journal")
    parser.epilog = (
        "Exit status: 0 if the client left, or with --listen after a signal; else that of the server; 2 for usage "
        "errors. Messages for the user are on "
        "stderr, together with the output of the server."
    )


def run(args: argparse.Namespace) -> int:
    """Connect the client on stdin and stdout, or clients over HTTP, with the server."""
    if not args.name or not args.name.strip():
        raise ConfigError("--name is missing: matchers such as mcp__files__.* need a name for the server")
    if bool(args.server) == bool(args.url):
        raise ConfigError(
            "name one server: a command after `--`, as in hookwright mcp --name files -- npx some-server, or --url URL"
        )
    if args.header and not args.url:
        raise ConfigError("--header needs --url: a server on stdio has no headers")
    if args.allow_host and not args.listen:
        raise ConfigError("--allow-host needs --listen: a client on stdio has no host")
    return asyncio.run(_serve(args))


async def _serve(args: argparse.Namespace) -> int:
    where = places(args)
    async with AsyncExitStack() as closing:
        lent = powers(args)
        if lent.servers is not None:
            await closing.enter_async_context(lent.servers)

        def hooks() -> AbstractAsyncContextManager[HookSession]:
            return open_session(where, powers=lent, journal=not args.no_journal, watchdog=True)

        async def started(session: HookSession) -> Upstream:
            return await _server(args, session.watchdog)

        if args.listen:
            return await _listen(args, where, hooks, started)
        session = await closing.enter_async_context(hooks())
        remark(problems(session.loaded))
        return await serve(session, args.name, await started(session), _complain)


async def _listen(args: argparse.Namespace, where: Places, hooks: OpenHooks, started: StartServer) -> int:
    where_to = doors(args.listen, args.allow_host)
    try:
        from hookwright.adapters.gateway.listener.listen import listen
    except ImportError:
        raise MissingExtra("hookwright mcp --listen", "mcp") from None
    remark(problems(where.load()))
    return await listen(where_to, args.name, hooks, started, _complain)


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
