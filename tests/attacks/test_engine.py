"""An event's content is never a reason for `fire` to raise or to lose a guard."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import threading
import types
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookwright import Places, open_session
from hookwright.protocol.outcome import Deny, Outcome
from hookwright.protocol.wire import decode_event, encode, encode_event
from support import event, hooks_for, script
from support import settings as write_settings

AREA = "engine: what an event contains"


class Text(str):
    """What a host's own string type may look like."""

    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("not for you")


class Word(enum.StrEnum):
    ONE = "one"


@dataclasses.dataclass
class Call:
    command: str
    inner: Any = None


class Model:
    """What a pydantic model looks like from outside: its fields are its attributes."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Slotted:
    __slots__ = ("command",)

    def __init__(self, command: str) -> None:
        self.command = command


class Hostile:
    """Raises whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError("str")

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __iter__(self) -> Any:
        raise RuntimeError("iter")


class Proxy(types.SimpleNamespace):
    @property
    def broken(self) -> str:
        raise RuntimeError("a property")


def _itself() -> Any:
    value: dict[str, Any] = {"command": "rm -rf /"}
    value["again"] = [value, value]
    return value


def _deep() -> Any:
    value: Any = "rm -rf /"
    for _ in range(100_000):
        value = [value]
    return value


def _clique() -> Any:
    lists: list[list[Any]] = [[] for _ in range(40)]
    for one in lists:
        one += lists
    return lists[0]


VALUES: dict[str, Any] = {
    "a str subclass": Text("rm -rf /"),
    "a str enum": Word.ONE,
    "a dataclass": Call("rm -rf /", Text("x")),
    "a model": Model(command=Text("rm -rf /")),
    "an object with slots": Slotted("rm -rf /"),
    "an object without fields": object(),
    "an object that raises": Hostile(),
    "a property that raises": Proxy(a=1),
    "a set": {"rm", "-rf"},
    "a set of odd things": {Text("a"), 1, None, (2, 3)},
    "bytes": b"\xff\x00rm",
    "a view": memoryview(b"rm"),
    "not a number": float("nan"),
    "infinity": float("-inf"),
    "a huge number": 10**5000,
    "a complex number": 1j,
    "itself": _itself(),
    "a clique": _clique(),
    "deep nesting": _deep(),
    "a lone surrogate": "a\ud800b",
    "odd keys": {1: "a", None: "b", (1, 2): "c", Text("k"): "d", b"x": "e", Word.ONE: "f"},
    "keys that raise": {Hostile(): 1},
    "a mapping": types.MappingProxyType({"command": Text("rm")}),
    "a function": len,
    "a class": dict,
    "a generator": (n for n in range(3)),
    "an exception": ValueError("x"),
    "a path": pathlib.Path("/etc/passwd"),
    "a time": datetime.datetime(2024, 1, 1),
    "a decimal": decimal.Decimal("1.5"),
    "a lock": threading.Lock(),
    "a tuple": (1, Text("a")),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_any_value_is_written(value: Any) -> None:
    made = msgspec.structs.replace(event("PreToolUse"), tool_input={"command": "rm -rf /", "value": value})
    data = encode_event(made)
    read = decode_event(data)
    assert data.count(b"\n") == 1
    assert read.tool_input["command"] == "rm -rf /"  # type: ignore[attr-defined]
    assert "value" in read.tool_input  # type: ignore[attr-defined]


def test_a_host_s_own_types_keep_what_a_guard_looks_for() -> None:
    made = {"a": Text("rm"), "b": Call("rm"), "c": Model(command=Text("rm")), "d": types.MappingProxyType({"x": "rm"})}
    assert json.loads(encode(made)) == {
        "a": "rm",
        "b": {"command": "rm", "inner": None},
        "c": {"command": "rm"},
        "d": {"x": "rm"},
    }


_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters()),
    st.binary(max_size=8),
    st.text(max_size=5).map(Text),
    st.builds(Call, st.text(max_size=5).map(Text)),
    st.builds(Slotted, st.text(max_size=5)),
    st.builds(Model, x=st.text(max_size=5).map(Text)),
    st.builds(Hostile),
    st.builds(_itself),
    st.dates(),
    st.decimals(),
    st.uuids(),
    st.complex_numbers(),
)
_KEYS = st.one_of(
    st.text(max_size=4), st.integers(), st.none(), st.text(max_size=4).map(Text), st.tuples(st.integers())
)
_ANYTHING = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(_KEYS, inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.builds(Model, inner=inner),
        st.dictionaries(st.text(max_size=3), inner, max_size=3).map(types.MappingProxyType),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(_ANYTHING)
def test_encode_is_total_and_its_text_is_one_line_of_json(value: Any) -> None:
    data = encode({"value": value})
    json.loads(data)
    assert len(data.decode().splitlines()) == 1


# ── through a session: matcher, `if`, a real process, the journal and the recorder ──


async def _fire(folder: pathlib.Path, values: list[Any]) -> list[Outcome]:
    places = Places(project=str(folder), home=str(folder / "home"), env={"HOOKWRIGHT_RECORD": str(folder / "record")})
    async with open_session(places, journal=True) as session:
        made = event("PreToolUse", tool_name="Bash")
        return [await session.fire(msgspec.structs.replace(made, tool_input=value)) for value in values]


def _guarded(folder: pathlib.Path) -> None:
    """A user's guard that refuses whatever it is asked about, twice: with and without an `if`."""
    guard = script(folder / "guard.sh", "cat >/dev/null; echo no >&2; exit 2")
    handler = {"type": "command", "command": str(guard)}
    value = hooks_for("PreToolUse", {**handler, "if": "Bash(rm *)"}, handler, matcher="Bash|B.*")
    write_settings(folder / "home", value)


def _inputs() -> list[Any]:
    inside = [{"command": value} for value in VALUES.values()]
    return [*inside, *({"command": "rm x", "more": value} for value in VALUES.values())]


def test_fire_refuses_whatever_the_event_holds(tmp_path: pathlib.Path) -> None:
    _guarded(tmp_path)
    for outcome in asyncio.run(_fire(tmp_path, _inputs())):
        assert isinstance(outcome.decision, Deny)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_fire_refuses_an_input_that_is_not_an_object(value: Any, tmp_path: pathlib.Path) -> None:
    _guarded(tmp_path)
    (outcome,) = asyncio.run(_fire(tmp_path, [value]))
    assert isinstance(outcome.decision, Deny)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=_ANYTHING)
def test_fire_never_raises(value: Any, tmp_path: pathlib.Path) -> None:
    _guarded(tmp_path)
    (outcome,) = asyncio.run(_fire(tmp_path, [{"command": value}]))
    assert isinstance(outcome.decision, Deny)
