"""Read `.mcp.json` and `--mcp-config`: every problem is reported, and an invalid entry drops only itself.

These entries can start processes. A project's file has no effect until it is trusted; the caller checks that first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from hookwright.mcp.values import HostServer, HttpServer, ServerConfig, SseServer, StdioServer
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.sources import Source
from hookwright.text import did_you_mean

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_TYPES = ("stdio", "http", "sse", "sdk")


class McpConfig(msgspec.Struct, frozen=True):
    """The servers of one file, and the problems of its other entries."""

    servers: Mapping[str, ServerConfig]
    diagnostics: tuple[Diagnostic, ...] = ()


class _Wrong(Exception):
    def __init__(self, code: str, place: str, message: str) -> None:
        self.code, self.place, self.message = code, place, message


def read_mcp_config(text: str, source: Source, env: Mapping[str, str]) -> McpConfig:
    """Read `{"mcpServers": {name: …}}`; expand `${NAME}` and `${NAME:-default}` from the environment."""
    value, problem = parse_json(text)
    if problem is not None:
        return McpConfig(
            {}, (Diagnostic("invalid-json", f"the MCP configuration is not valid JSON: {problem}", source),)
        )
    servers: dict[str, ServerConfig] = {}
    diagnostics: list[Diagnostic] = []
    try:
        entries = _object(_object(value, "").get("mcpServers", {}), "mcpServers")
    except _Wrong as wrong:
        return McpConfig({}, (_diagnostic(wrong, source),))
    for name, entry in entries.items():
        try:
            servers[name] = _server(entry, f"mcpServers.{name}", env)
        except _Wrong as wrong:
            diagnostics.append(_diagnostic(wrong, source))
    return McpConfig(servers, tuple(diagnostics))


def _diagnostic(wrong: _Wrong, source: Source) -> Diagnostic:
    place = msgspec.structs.replace(source, pointer=wrong.place)
    return Diagnostic(wrong.code, f"{wrong.place or 'the file'}: {wrong.message}", place)


def _server(entry: Json, place: str, env: Mapping[str, str]) -> ServerConfig:
    fields = _object(entry, place)
    kind = fields.get("type", "stdio")
    if kind not in _TYPES:
        hint = did_you_mean(kind, _TYPES) if isinstance(kind, str) else ""
        raise _Wrong("bad-value", f"{place}.type", f"{kind!r} is not one of {', '.join(_TYPES)}{hint}")
    if kind == "sdk":
        return HostServer()
    if kind in ("http", "sse"):
        remote = HttpServer if kind == "http" else SseServer
        return remote(_text(fields, "url", place, env), _pairs(fields, "headers", place, env))
    return StdioServer(
        _text(fields, "command", place, env), _texts(fields, "args", place, env), _pairs(fields, "env", place, env)
    )


def _object(value: Json, place: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise _Wrong("not-an-object", place, "must be an object")
    return value


def _text(fields: Mapping[str, Json], key: str, place: str, env: Mapping[str, str]) -> str:
    if not fields.get(key):
        raise _Wrong("missing-field", f"{place}.{key}", f"is missing; add {key}")
    return _expand(fields[key], f"{place}.{key}", env)


def _texts(fields: Mapping[str, Json], key: str, place: str, env: Mapping[str, str]) -> tuple[str, ...]:
    value = fields.get(key, [])
    if not isinstance(value, list):
        raise _Wrong("not-a-list", f"{place}.{key}", "must be a list of strings")
    return tuple(_expand(item, f"{place}.{key}[{number}]", env) for number, item in enumerate(value))


def _pairs(fields: Mapping[str, Json], key: str, place: str, env: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    value = _object(fields.get(key, {}), f"{place}.{key}")
    return tuple((name, _expand(item, f"{place}.{key}.{name}", env)) for name, item in value.items())


def _expand(value: Json, place: str, env: Mapping[str, str]) -> str:
    if not isinstance(value, str):
        raise _Wrong("wrong-type", place, "must be a string")

    def variable(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        if name in env:
            return env[name]
        if default is None:
            raise _Wrong("bad-value", place, f"${{{name}}} is not set; set it or write ${{{name}:-default}}")
        return str(default)

    return _VARIABLE.sub(variable, value)
