"""What stands in `.mcp.json`, and what is said about it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookwright.mcp.config import read_mcp_config
from hookwright.mcp.values import HttpServer, StdioServer, full_name
from hookwright.protocol.diagnostics import CODES
from hookwright.protocol.sources import Scope, Source

SOURCE = Source(Scope.PROJECT, ".mcp.json", from_project=True)
ENV = {"TOKEN": "secret", "HOME": "/home/u"}


def read(servers: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    config = read_mcp_config(json.dumps({"mcpServers": servers}), SOURCE, ENV)
    found = [(each.code, each.source.pointer if each.source else "") for each in config.diagnostics]
    assert {code for code, _ in found} <= set(CODES)
    return dict(config.servers), found


def test_servers_of_both_kinds() -> None:
    servers, problems = read(
        {
            "files": {"command": "npx", "args": ["-y", "files"], "env": {"A": "1"}},
            "plain": {"type": "stdio", "command": "serve"},
            "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        }
    )
    assert problems == []
    assert servers == {
        "files": StdioServer("npx", ("-y", "files"), (("A", "1"),)),
        "plain": StdioServer("serve"),
        "web": HttpServer("https://example.com/mcp", (("Authorization", "Bearer secret"),)),
    }


def test_variables_are_filled_in_once() -> None:
    servers, problems = read(
        {
            "s": {
                "command": "${HOME}/bin/${NAME:-serve}",
                "args": ["${EMPTY:-}", "$TOKEN", "${TOKEN}"],
                "env": {"T": "${TOKEN}"},
            }
        }
    )
    assert problems == []
    assert servers["s"] == StdioServer("/home/u/bin/serve", ("", "$TOKEN", "secret"), (("T", "secret"),))


@pytest.mark.parametrize(
    ("entry", "code", "place"),
    [
        ("npx", "not-an-object", "mcpServers.bad"),
        ({}, "missing-field", "mcpServers.bad.command"),
        ({"command": ""}, "missing-field", "mcpServers.bad.command"),
        ({"command": 3}, "wrong-type", "mcpServers.bad.command"),
        ({"command": "x", "args": "y"}, "not-a-list", "mcpServers.bad.args"),
        ({"command": "x", "args": ["y", 1]}, "wrong-type", "mcpServers.bad.args[1]"),
        ({"command": "x", "env": ["A=1"]}, "not-an-object", "mcpServers.bad.env"),
        ({"command": "x", "env": {"A": 1}}, "wrong-type", "mcpServers.bad.env.A"),
        ({"type": "http"}, "missing-field", "mcpServers.bad.url"),
        ({"type": "htpp", "url": "x"}, "bad-value", "mcpServers.bad.type"),
        ({"command": "${UNSET}"}, "bad-value", "mcpServers.bad.command"),
    ],
)
def test_a_wrong_entry_drops_only_itself(entry: Any, code: str, place: str) -> None:
    servers, problems = read({"good": {"command": "x"}, "bad": entry})
    assert servers == {"good": StdioServer("x")}
    assert problems == [(code, place)]


@pytest.mark.parametrize(
    ("text", "code"), [("{", "invalid-json"), ("[]", "not-an-object"), ('{"mcpServers": []}', "not-an-object")]
)
def test_a_file_that_cannot_be_read(text: str, code: str) -> None:
    config = read_mcp_config(text, SOURCE, ENV)
    assert (dict(config.servers), [each.code for each in config.diagnostics]) == ({}, [code])


def test_a_file_without_servers_is_fine() -> None:
    assert read_mcp_config("{}", SOURCE, ENV).diagnostics == ()


@pytest.mark.req("R-041")
@pytest.mark.parametrize(
    ("server", "tool", "expected"),
    [
        ("github", "search_repositories", "mcp__github__search_repositories"),
        ("my-server", "do-it", "mcp__my-server__do-it"),
        ("plugin:guard:files", "read file", "mcp__plugin_guard_files__read_file"),
    ],
)
def test_full_names(server: str, tool: str, expected: str) -> None:
    assert full_name(server, tool) == expected
