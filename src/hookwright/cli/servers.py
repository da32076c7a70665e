"""The option that connects MCP servers for hooks."""

from __future__ import annotations

import argparse
import os

from hookwright.cli.render import diagnostic_line
from hookwright.cli.terminal import remark
from hookwright.errors import ConfigError
from hookwright.mcp.servers import McpServers, ServerConfig, read_mcp_config
from hookwright.protocol.sources import Scope, Source
from hookwright.wiring import Powers


def add_servers(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--mcp-config", action="append", default=[], metavar="FILE|JSON", help="load MCP servers for mcp_tool hooks"
    )


def powers(args: argparse.Namespace) -> Powers:
    """Return the servers the option names; the caller must close them."""
    found: dict[str, ServerConfig] = {}
    for value in args.mcp_config:
        path, text = _text(value)
        config = read_mcp_config(text, Source(Scope.FLAG, path), os.environ)
        remark(f"hookwright: {diagnostic_line(diagnostic)}" for diagnostic in config.diagnostics)
        found.update(config.servers)
    if not found:
        return Powers()
    return Powers(servers=McpServers(found, env=os.environ, cwd=os.path.abspath(args.project)))


def _text(value: str) -> tuple[str, str]:
    if value.lstrip().startswith("{"):
        return "--mcp-config", value
    try:
        with open(value, encoding="utf-8") as file:
            return value, file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--mcp-config {value}: cannot read this file: {error}") from None
