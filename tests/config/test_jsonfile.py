import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.config.jsonfile import Broken, Tree, parse_json, read_tree, shown_pointer
from hookwright.protocol.sources import Scope, Source

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 0, 2]), st.booleans())
def test_agrees_with_the_standard_library_on_valid_json(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    parsed = parse_json(text.encode())
    assert isinstance(parsed, Tree)
    assert parsed.value == json.loads(text)
    assert parsed.faults == ()


@given(JSON, st.integers(min_value=0), st.sampled_from(list("{}[],:\"'x1/#\n\\")))
def test_reports_a_position_whenever_the_standard_library_refuses(value: Any, where: int, junk: str) -> None:
    text = json.dumps(value, ensure_ascii=False)
    where %= len(text) + 1
    text = text[:where] + junk + text[where:]
    try:
        expected = json.loads(text)
    except ValueError:
        parsed = parse_json(text)
        assert isinstance(parsed, Broken)
        assert all(1 <= fault.line <= text.count("\n") + 1 and fault.column >= 1 for fault in parsed.faults)
        assert parsed.faults
    else:
        parsed = parse_json(text)
        assert isinstance(parsed, Tree)
        assert parsed.value == expected


@given(st.binary(max_size=200))
def test_never_raises_on_any_bytes(data: bytes) -> None:
    assert isinstance(parse_json(data), Tree | Broken)


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "says"),
    [
        ('{ // why\n "a": 1}', "json-extras", 1, 3, "comment // why"),
        ('{\n  /* a\n b */ "a": 1}', "json-extras", 2, 3, "JSON has no comments"),
        ('{"a": 1} # end', "json-extras", 1, 10, "comment # end"),
        ('{"a": [1, 2,]}', "json-extras", 1, 12, "no trailing commas"),
        ('{"a": 1,\n}', "json-extras", 1, 8, "no trailing commas"),
        ('{"a": NaN}', "json-extras", 1, 7, "NaN is not JSON"),
        ('{"a": -Infinity}', "json-extras", 1, 7, "-Infinity is not JSON"),
        ('{"a": True}', "json-extras", 1, 7, "True is not JSON"),
        ("{'a': 1}", "json-extras", 1, 2, "single quotes"),
        ("{a: 1}", "json-extras", 1, 2, 'Write "a"'),
        ("", "invalid-json", 1, 1, "the file is empty"),
        ('{ "hooks": ', "invalid-json", 1, 12, "the file ends where a value belongs"),
        ('{"a": 1\n "b": 2}', "invalid-json", 2, 2, "where `,` or `}` belongs"),
        ('{"a" 1}', "invalid-json", 1, 6, "`:` belongs"),
        ('{"a": "x\ny"}', "invalid-json", 1, 9, "line break"),
        ('{"a": "C:\\x"}', "invalid-json", 1, 10, "Write a backslash as"),
        ('{"a": "x', "invalid-json", 1, 7, "no closing"),
        ('{"a": "\\u12"}', "invalid-json", 1, 9, "four hexadecimal digits"),
        ("[01]", "invalid-json", 1, 2, "`01`"),
        ("[1.]", "invalid-json", 1, 2, "`1.`"),
        ('{"a": yes}', "invalid-json", 1, 7, "yes is not a JSON value"),
        ('{"a": 1}}', "invalid-json", 1, 9, "after the end"),
        ("[" * 300, "invalid-json", 1, 201, "200 levels"),
        ("9" * 5000, "invalid-json", 1, 1, "5000 digits"),
    ],
)
def test_names_what_is_not_json(text: str, code: str, line: int, column: int, says: str) -> None:
    parsed = parse_json(text)
    assert isinstance(parsed, Broken)
    first = parsed.faults[0]
    assert (first.code, first.line, first.column) == (code, line, column)
    assert says in first.message


def test_reports_every_comment_and_trailing_comma_at_once() -> None:
    parsed = parse_json('{ // one\n "a": [1,], # two\n "b": 2,\n}')
    assert isinstance(parsed, Broken)
    assert [(fault.line, fault.column) for fault in parsed.faults] == [(1, 3), (2, 9), (2, 13), (3, 8)]


def test_gives_up_after_twenty_faults() -> None:
    parsed = parse_json("[" + "1,# x\n" * 50 + "]")
    assert isinstance(parsed, Broken)
    assert len(parsed.faults) == 20


def test_reports_duplicate_keys_and_keeps_the_last() -> None:
    parsed = parse_json('{\n "a": 1,\n "b": {"c": 1, "c": 2},\n "a": 3\n}')
    assert isinstance(parsed, Tree)
    assert parsed.value == {"a": 3, "b": {"c": 2}}
    assert [(fault.code, fault.line, fault.column) for fault in parsed.faults] == [
        ("duplicate-key", 3, 16),
        ("duplicate-key", 4, 2),
    ]
    assert "the value on line 2 is ignored" in parsed.faults[1].message


def test_many_duplicate_keys_do_not_break_a_file() -> None:
    parsed = parse_json("{" + ", ".join('"a": 1' for _ in range(100)) + "}")
    assert isinstance(parsed, Tree)
    assert parsed.value == {"a": 1}


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    parsed = parse_json('{"a": "x\\ud800y", "b": "\\ud83d\\ude00"}')
    assert isinstance(parsed, Tree)
    assert parsed.value == {"a": "x\ufffdy", "b": "😀"}
    assert [fault.code for fault in parsed.faults] == ["lone-surrogate"]


@pytest.mark.parametrize(
    ("data", "says"),
    [(b'\xef\xbb\xbf{"a": 1}', None), (b'{"a": "\xff"}', "0xff is not UTF-8"), ('{"a": 1}'.encode("utf-16"), "UTF-16")],
)
def test_encodings(data: bytes, says: str | None) -> None:
    parsed = parse_json(data)
    if says is None:
        assert isinstance(parsed, Tree)
        assert parsed.value == {"a": 1}
    else:
        assert isinstance(parsed, Broken)
        assert says in parsed.faults[0].message


def test_knows_the_line_of_every_part() -> None:
    text = '{\n "hooks": {\n  "Stop": [\n   {\n    "hooks": [\n     {"type": "command"}\n    ]\n   }\n  ]\n }\n}'
    parsed = parse_json(text)
    assert isinstance(parsed, Tree)
    steps = ("hooks", "Stop", 0, "hooks", 0, "type")
    assert [parsed.line(steps[:length]) for length in range(7)] == [1, 2, 3, 4, 5, 6, 6]
    assert parsed.line(("hooks", "Stop", 0, "matcher")) == 4
    assert parsed.line(("nowhere",)) == 1


@given(st.dictionaries(st.text(min_size=1, max_size=5), JSON, min_size=1, max_size=6))
def test_lines_follow_the_layout(value: dict[str, Any]) -> None:
    lines = [f"{json.dumps(key)}: {json.dumps(item)}" for key, item in value.items()]
    parsed = parse_json("{\n" + ",\n".join(lines) + "\n}")
    assert isinstance(parsed, Tree)
    assert [parsed.line((key,)) for key in value] == list(range(2, len(value) + 2))


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("hooks", "PreToolUse", 0, "hooks", 1, "timeout"), "hooks.PreToolUse[0].hooks[1].timeout"),
        (("env", "A B", "x"), 'env["A B"].x'),
        (("enabledPlugins", "a@b"), "enabledPlugins.a@b"),
        ((), ""),
    ],
)
def test_pointers_read_like_code(path: tuple[str | int, ...], shown: str) -> None:
    assert shown_pointer(path) == shown


def test_ten_megabytes_are_read_in_reasonable_time() -> None:
    texts = [json.dumps({"command": "x" * 100_000, "timeout": 5}) for _ in range(100)]
    started = time.perf_counter()
    parsed = parse_json("[" + ",\n".join(texts) + "]")
    assert isinstance(parsed, Tree)
    assert len(parsed.value) == 100
    assert parsed.line((99, "timeout")) == 100
    assert time.perf_counter() - started < 20


SOURCE = Source(Scope.USER, "settings.json")


def test_an_absent_file_is_no_fault(tmp_path: Path) -> None:
    assert read_tree(str(tmp_path / "none.json"), SOURCE) == (None, [])
    (tmp_path / "file").write_text("")
    assert read_tree(str(tmp_path / "file" / "none.json"), SOURCE) == (None, [])


def test_a_path_that_no_file_can_have_is_reported() -> None:
    tree, reports = read_tree("a\0b", SOURCE)
    assert tree is None
    assert [report.code for report in reports] == ["unreadable-file"]


@pytest.mark.parametrize("odd", ["fifo", "directory", "huge", "locked"])
def test_odd_files_are_reported_and_never_waited_for(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "settings.json"
    if odd == "fifo":
        os.mkfifo(path)
    elif odd == "directory":
        path.mkdir()
    elif odd == "huge":
        with path.open("wb") as file:
            file.truncate(17 * 1024 * 1024)
    elif os.geteuid() == 0:
        pytest.skip("root may read everything")
    else:
        path.write_text("{}")
        path.chmod(0)
    tree, reports = read_tree(str(path), SOURCE)
    assert tree is None
    assert [report.code for report in reports] == ["unreadable-file"]


def test_faults_become_diagnostics_with_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{\n  "a": 1,\n}')
    tree, reports = read_tree(str(path), SOURCE)
    assert tree is None
    assert str(reports[0]).startswith("settings.json:2: column 9: a comma before `}`")
