"""JSON of strangers: never an exception, never a long wait, nothing kept silent."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import json_type, parse_json, repeated_keys
from hookwright.protocol.plain import DEEPEST
from hookwright.protocol.wire import Output, read_stdout

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_law_what_json_writes_is_read(value: Any) -> None:
    assert parse_json(json.dumps(value)) == (value, None)


@given(st.text(alphabet='{}[]",:\\ \n01e+-.truefalsn\ud800é', max_size=60))
def test_law_any_text_is_a_value_or_a_problem(text: str) -> None:
    value, problem = parse_json(text)
    assert value is None or problem is None


@pytest.mark.parametrize("shape", ["[{}]", '{{"a":{}}}'])
def test_nesting_is_bounded_and_what_is_within_can_be_walked(shape: str) -> None:
    def nested(depth: int) -> str:
        text = "1"
        for _ in range(depth):
            text = shape.format(text)
        return text

    assert parse_json(nested(DEEPEST))[1] is None
    assert parse_json(nested(DEEPEST + 1))[1] == f"nested more than {DEEPEST} levels deep"
    assert parse_json(nested(100_000))[1] == f"nested more than {DEEPEST} levels deep"


def test_brackets_in_strings_and_beside_each_other_are_no_nesting() -> None:
    assert parse_json(json.dumps({"a": "[" * 100_000, "b": '"]\\' * 1000}))[1] is None
    assert parse_json("[" + ",".join(["[]"] * 100_000) + "]")[1] is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 8_000_000,
        "[" * 4_000_000 + "]" * 4_000_000,
        ("[" * 250 + "]" * 250) * 16_000,
        "[]" * 4_000_000,
        '["' * 4_000_000,
        "{}[" * 2_000_000,
        '"\\' * 4_000_000,
        '["\\\\' * 2_000_000,
    ],
    ids=range(8),
)
def test_eight_megabytes_of_brackets_take_no_time(text: str) -> None:
    started = time.monotonic()
    assert parse_json(text)[1] is not None
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("digits", [20, 5_000, 1_000_000])
def test_a_long_number_does_not_void_an_answer(digits: int) -> None:
    value, problem = parse_json(f'{{"n": {"9" * digits}, "m": -{"9" * digits}}}')
    assert problem is None
    too_long = digits > sys.get_int_max_str_digits()
    assert (value["n"], value["m"]) == ((float("inf"), float("-inf")) if too_long else (10**digits - 1, 1 - 10**digits))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"decision": "block", "decision": "approve"}', ("decision",)),
        ('{"decision": "block", "reason": "\\"decision\\": no"}', ()),
        ('{"a": {"reason": 1, "reason": 2}, "b": [{"decision": 1, "decision": 2}]}', ("reason", "decision")),
        ('{"decision": 1, "x": {"decision": 2}}', ()),
        ('{"other": 1, "other": 2}', ()),
    ],
)
def test_a_key_that_stands_twice_is_found(text: str, found: tuple[str, ...]) -> None:
    assert repeated_keys(text, ("decision", "reason")) == found


def test_a_hundred_thousand_unknown_keys_take_no_time() -> None:
    text = json.dumps({"decision": "block", **{f"decisio{n}": 1 for n in range(100_000)}, "x" * 1_000_000: 2})
    started = time.monotonic()
    answer = read_stdout(text, "PreToolUse", CATALOGUE["PreToolUse"].rules)
    assert time.monotonic() - started < 5
    assert isinstance(answer, Output)
    assert answer.decision == "block"
    assert answer.unknown[-1] == "99981 more keys are ignored"
    assert max(map(len, answer.unknown)) < 200


@given(JSON)
def test_the_type_of_a_value_is_one_of_json(value: Any) -> None:
    kind = json_type(value)
    first = json.dumps(value)[0]
    expected = {"n": "null", "t": "boolean", "f": "boolean", '"': "string", "{": "object", "[": "array"}
    assert kind == expected.get(first, "number")
