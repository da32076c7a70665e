"""The script of a scripted model: parsed once; every problem is reported with its place.

A script is YAML or JSON: a list of turns, or an object with `turns`, `routes`, `repeat`, `pace` and `model`.
A turn is a list of blocks:

    - text: what the model says
    - tool: Bash            a tool call; `input` and `id` may follow
      input: {command: make}
    - when: regex           the turn is skipped unless the new part of the request matches
    - delay: seconds        before the answer
    - error: status         the call fails; `etype` and `message` may follow
    - usage_in: tokens      the number of tokens read, as the answer reports it

Turns are played in order. After the last one the model says "Done."; with `repeat: true` it keeps playing the first
turn whose `when` matches, else the last turn.
A route answers requests of other conversations (subagents, prompt and agent hooks, compaction) and is tried before
the main turns: `match` (regex), `on` (first, last, system or any), `tools` (true or false: only requests with or
without tools), `name`, and its own `turns` and `repeat`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from hookwright.errors import ConfigError, MissingExtra
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.text import did_you_mean


class ScriptedText(msgspec.Struct, frozen=True):
    """The model says something."""

    text: str


class ScriptedCall(msgspec.Struct, frozen=True):
    """The model calls a tool."""

    tool: str
    input: Mapping[str, Json]
    id: str | None = None


class ScriptedError(msgspec.Struct, frozen=True):
    """The API fails."""

    status: int
    code: str
    message: str


class ScriptedTurn(msgspec.Struct, frozen=True):
    """One answer."""

    blocks: tuple[ScriptedText | ScriptedCall, ...] = ()
    when: re.Pattern[str] | None = None
    delay: float = 0.0
    fault: ScriptedError | None = None
    usage_in: int | None = None


class Route(msgspec.Struct, frozen=True):
    """The answers to one kind of request; the main conversation is a route without a pattern."""

    name: str
    turns: tuple[ScriptedTurn, ...]
    match: re.Pattern[str] | None = None
    on: str = "any"
    tools: bool | None = None
    repeat: bool = False


class Script(msgspec.Struct, frozen=True):
    """Everything a scripted model says."""

    main: Route
    routes: tuple[Route, ...] = ()
    pace: float = 0.0
    model: str = "scripted"
    #: Where the script comes from, for messages.
    place: str = "script"


_SCRIPT_KEYS = ("turns", "routes", "repeat", "pace", "model")
_ROUTE_KEYS = ("name", "match", "on", "tools", "turns", "repeat")
_BLOCK_KEYS = ("text", "tool", "when", "delay", "error", "usage_in")
_COMPANIONS = {"tool": ("input", "id"), "error": ("etype", "message")}
_PARTS = ("first", "last", "system", "any")


def load_script(path: str | Path) -> Script:
    """Read a script file; `.json` is JSON and everything else YAML."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: the model script cannot be read: {error}") from None
    return parse_script(_load_json(path, text) if str(path).endswith(".json") else _load_yaml(path, text), str(path))


def _load_json(path: str | Path, text: str) -> Any:
    value, problem = parse_json(text)
    if problem is not None:
        raise ConfigError(f"{path}: the script is not valid JSON: {problem}")
    return value


def _load_yaml(path: str | Path, text: str) -> Any:
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError
    except ImportError:
        raise MissingExtra(f"{path}: a script in YAML", "yaml") from None
    try:
        return YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise ConfigError(f"{path}{line}: the script is not valid YAML: {error.problem}") from None
    except YAMLError as error:
        raise ConfigError(f"{path}: the script is not valid YAML: {error}") from None


def parse_script(value: Json, place: str = "script") -> Script:
    """Read a script from plain values; raise ConfigError with the place of a problem."""
    if isinstance(value, list):
        value = {"turns": value}
    reader = _ScriptReader(place)
    reader.keys(value, "", _SCRIPT_KEYS)
    routes = value.get("routes", [])
    if not isinstance(routes, list):
        raise reader.wrong("routes", "a list of routes", routes)
    return Script(
        main=Route("main", reader.turns(value.get("turns", []), "turns"), repeat=reader.truth(value, "repeat", "")),
        routes=tuple(reader.route(route, f"routes[{i}]", i) for i, route in enumerate(routes)),
        pace=reader.number(value.get("pace", 0), "pace"),
        model=reader.text(value.get("model", "scripted"), "model"),
        place=place,
    )


class _ScriptReader:
    """Reads the parts of one script."""

    def __init__(self, place: str) -> None:
        self.place = place

    def wrong(self, where: str, wanted: str, value: Json) -> ConfigError:
        shown = repr(value)
        return ConfigError(f"{self.place}: {where}: expected {wanted}, got {shown[:80]}")

    def keys(self, value: Json, where: str, known: tuple[str, ...]) -> None:
        if not isinstance(value, dict):
            raise self.wrong(where or "the script", f"an object with {', '.join(known)}", value)
        for key in value:
            if key not in known:
                inside = f"{where}." if where else ""
                raise ConfigError(f"{self.place}: {inside}{key} is not a valid key{did_you_mean(str(key), known)}")

    def text(self, value: Json, where: str) -> str:
        if not isinstance(value, str):
            raise self.wrong(where, "text", value)
        return value

    def number(self, value: Json, where: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            raise self.wrong(where, "a number that is not negative", value)
        return float(value)

    def truth(self, value: Mapping[str, Json], key: str, where: str) -> bool:
        found = value.get(key, False)
        if not isinstance(found, bool):
            raise self.wrong(f"{where}{key}", "true or false", found)
        return found

    def pattern(self, value: Json, where: str) -> re.Pattern[str]:
        try:
            return re.compile(self.text(value, where))
        except re.error as error:
            raise ConfigError(f"{self.place}: {where}: {value!r} is not a regular expression: {error}") from None

    def route(self, value: Json, where: str, index: int) -> Route:
        self.keys(value, where, _ROUTE_KEYS)
        if "match" not in value:
            raise ConfigError(f"{self.place}: {where}: `match` is missing; write a regex for the requests it answers")
        on = value.get("on", "any")
        if on not in _PARTS:
            raise self.wrong(f"{where}.on", " or ".join(_PARTS), on)
        return Route(
            self.text(value.get("name", f"route {index}"), f"{where}.name"),
            self.turns(value.get("turns", []), f"{where}.turns"),
            self.pattern(value["match"], f"{where}.match"),
            on,
            self.truth(value, "tools", f"{where}.") if "tools" in value else None,
            self.truth(value, "repeat", f"{where}."),
        )

    def turns(self, value: Json, where: str) -> tuple[ScriptedTurn, ...]:
        if not isinstance(value, list):
            raise self.wrong(where, "a list of turns", value)
        return tuple(self.turn(turn, f"{where}[{i}]") for i, turn in enumerate(value))

    def turn(self, value: Json, where: str) -> ScriptedTurn:
        if not isinstance(value, list) or not value:
            raise self.wrong(where, "a list of blocks", value)
        said: list[ScriptedText | ScriptedCall] = []
        options: dict[str, Json] = {}
        for i, block in enumerate(value):
            self.block(block, f"{where}[{i}]", said, options)
        return ScriptedTurn(tuple(said), **options)

    def block(self, block: Json, where: str, said: list[ScriptedText | ScriptedCall], options: dict[str, Json]) -> None:
        kinds = [key for key in _BLOCK_KEYS if isinstance(block, dict) and key in block]
        if len(kinds) != 1:
            raise self.wrong(where, f"a block with one of {', '.join(_BLOCK_KEYS)}", block)
        kind = kinds[0]
        self.keys(block, where, (kind, *_COMPANIONS.get(kind, ())))
        value = block[kind]
        if kind == "text":
            said.append(ScriptedText(self.text(value, f"{where}.text")))
        elif kind == "tool":
            said.append(self.call(block, where))
        elif kind == "when":
            options["when"] = self.pattern(value, f"{where}.when")
        elif kind == "error":
            options["fault"] = self.fault(block, where)
        elif kind == "delay":
            options["delay"] = self.number(value, f"{where}.delay")
        else:
            options["usage_in"] = int(self.number(value, f"{where}.usage_in"))

    def call(self, block: Mapping[str, Json], where: str) -> ScriptedCall:
        arguments = block.get("input", {})
        if not isinstance(arguments, dict):
            raise self.wrong(f"{where}.input", "an object", arguments)
        id_ = self.text(block["id"], f"{where}.id") if "id" in block else None
        return ScriptedCall(self.text(block["tool"], f"{where}.tool"), arguments, id_)

    def fault(self, block: Mapping[str, Json], where: str) -> ScriptedError:
        status = block["error"]
        if isinstance(status, bool) or not isinstance(status, int) or not 400 <= status < 600:
            raise self.wrong(f"{where}.error", "an HTTP status from 400 to 599", status)
        code = self.text(block.get("etype", "invalid_request_error"), f"{where}.etype")
        return ScriptedError(status, code, self.text(block.get("message", "scripted error"), f"{where}.message"))
