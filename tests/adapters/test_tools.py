"""Native calls as hooks read them, and the way back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookwright.adapters.tools import (
    TABLE,
    UNITS,
    Tool,
    ToolTable,
    output_of,
    renamed,
    resembles,
    response,
    restored,
    to_claude,
    to_native,
    unmapped,
    warning,
)


def absolute(path: str) -> str:
    return path if path.startswith("/") else f"/p/{path}"


PLAIN = ToolTable(paths=absolute)


@pytest.mark.parametrize(
    ("name", "native", "claude", "shaped"),
    [
        ("shell", {"cmd": "ls", "timeout": 2}, "Bash", {"command": "ls", "timeout": 2000}),
        ("execute", {"command": "ls", "timeout": 0.5}, "Bash", {"command": "ls", "timeout": 500}),
        ("read_file", {"path": "a.py", "offset": 0}, "Read", {"file_path": "/p/a.py", "offset": 1}),
        ("write_file", {"path": "/x", "text": "t"}, "Write", {"file_path": "/x", "content": "t"}),
        ("edit_file", {"path": "a", "old_str": "1", "new_str": "2"}, "Edit", {"file_path": "/p/a"}),
        ("ls", {"path": "src"}, "LS", {"path": "/p/src"}),
        ("task", {"description": "d", "input": "do"}, "Agent", {"description": "d", "prompt": "do"}),
        ("fetch_url", {"url": "http://x"}, "WebFetch", {"url": "http://x"}),
        ("unknown", {"path": "a"}, "unknown", {"path": "a"}),
    ],
)
def test_a_native_call_is_claude_shaped(name: str, native: Any, claude: str, shaped: Mapping[str, Any]) -> None:
    found = PLAIN.shaped(name, native)
    assert found.name == claude
    assert {key: found.input[key] for key in shaped} == shaped
    assert len(found.input) == len(native)
    assert found.also == (() if name == claude else (name,))


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "shell"])
@given(data=st.data())
def test_two_keys_that_mean_the_same_field_make_a_call_unclear(tool: str, data: st.DataObject) -> None:
    names = TABLE[tool].input
    keys = data.draw(st.lists(st.sampled_from([*names, *names.values(), "other"]), unique=True))
    meant = [names.get(key, key) for key in keys]
    found = PLAIN.shaped(tool, dict.fromkeys(keys, "x")).unclear
    assert bool(found) is (len(set(meant)) < len(meant))


def test_keys_that_no_guard_judges_may_mean_the_same() -> None:
    assert PLAIN.shaped("task", {"agent": "a", "name": "b"}).unclear == ""


def test_a_program_extends_the_table_and_leaves_tools_alone() -> None:
    table = ToolTable({"run_sql": Tool("Bash", {"query": "command"}), "shell": None, "sh": "Bash"}, absolute)
    assert table.shaped("run_sql", {"query": "x"}).input == {"command": "x"}
    assert table.shaped("shell", {"cmd": "x"}) == ToolTable({"shell": None}).shaped("shell", {"cmd": "x"})
    assert (table.shaped("shell", {"cmd": "x"}).name, table.shaped("sh", {"command": "x"}).name) == ("shell", "Bash")


def test_a_tool_of_a_server_has_the_servers_name() -> None:
    assert PLAIN.shaped("read.file", {}, "my files").name == "mcp__my_files__read_file"
    found = PLAIN.shaped("read_file", {"path": "a"}, "files")
    assert (found.name, found.input, found.also) == ("mcp__files__read_file", {"path": "a"}, ("read_file",))
    mapped = ToolTable({"read_file": "Read"}).shaped("read_file", {"path": "a"}, "files")
    assert mapped.name == "Read"


@pytest.mark.parametrize(
    ("final", "native"),
    [
        ({"file_path": "/p/a", "content": "2"}, {"path": "a", "text": "2"}),
        ({"file_path": "/p/b", "content": "1"}, {"path": "/p/b", "text": "1"}),
        ({"content": "1"}, {"text": "1"}),
        ({"file_path": "/p/a", "content": "1", "mode": "w"}, {"path": "a", "text": "1", "mode": "w"}),
    ],
)
def test_what_a_hook_changed_goes_back_under_native_names(final: Any, native: Any) -> None:
    assert restored(PLAIN.shaped("write_file", {"path": "a", "text": "1"}), final) == native


def test_units_go_back() -> None:
    shaped = PLAIN.shaped("shell", {"cmd": "ls", "timeout": 2})
    assert restored(shaped, {"command": "ls", "timeout": 60000}) == {"cmd": "ls", "timeout": 60}
    assert restored(shaped, {"command": "ls", "timeout": 1500}) == {"cmd": "ls", "timeout": 1.5}
    assert to_native(5, "from zero") == 4
    assert to_native(to_claude("a.b(c)", "literal", absolute), "literal") == "a.b(c)"
    assert [to_claude(True, unit, absolute) for unit in UNITS] == [True] * len(UNITS)
    assert [to_native("x", unit) for unit in UNITS] == ["x"] * len(UNITS)


_KEYS = st.sampled_from(
    sorted({key for tool in TABLE.values() for pair in tool.input.items() for key in pair} | {"timeout", "x"})
)
_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.lists(st.integers(), max_size=2)
)
_INPUTS = st.dictionaries(_KEYS, _VALUES, max_size=6)


@settings(suppress_health_check=[HealthCheck.too_slow])  # the first draw loads the table of characters
@given(st.sampled_from([*TABLE, "other"]), _INPUTS)
def test_a_call_that_no_hook_rewrites_is_the_native_one_byte_for_byte(name: str, native: dict[str, Any]) -> None:
    before = json.dumps(native)
    shaped = PLAIN.shaped(name, native)
    back = restored(shaped, shaped.input)
    assert back is native
    assert json.dumps(back) == before


@settings(suppress_health_check=[HealthCheck.too_slow])  # the first draw loads the table of characters
@given(st.sampled_from([*TABLE, "other"]), _INPUTS)
def test_fields_that_a_hook_leaves_alone_keep_their_native_values(name: str, native: dict[str, Any]) -> None:
    shaped = PLAIN.shaped(name, native)
    back = restored(shaped, {**shaped.input, "added_by_hook": 1})
    assert back.pop("added_by_hook") == 1  # type: ignore[attr-defined]
    assert json.dumps(back) == json.dumps(native)


@given(st.lists(_KEYS, unique=True), st.dictionaries(_KEYS, _KEYS))
def test_no_two_native_fields_become_one(keys: list[str], names: dict[str, str]) -> None:
    found = renamed(keys, names)
    assert list(found) == keys
    assert len(set(found.values())) == len(keys)


# ── outputs ──


def test_the_text_of_a_command_is_claudes_object_and_back() -> None:
    shaped = response("Bash", "out")
    assert shaped == {"stdout": "out", "stderr": "", "interrupted": False, "isImage": False}
    assert output_of("Bash", "out", shaped) == "out"
    assert output_of("Bash", "out", {"stdout": "a", "stderr": "b"}) == "a\nb"
    assert output_of("Bash", "out", "plain") == "plain"
    assert output_of("Read", "out", {"stdout": "a"}) == {"stdout": "a"}
    assert (response("Read", "x"), response("Bash", {"stdout": "x"})) == ("x", {"stdout": "x"})


@given(st.text())
def test_a_result_that_no_hook_rewrites_keeps_its_text(text: str) -> None:
    assert output_of("Bash", text, response("Bash", text)) == text


# ── patches ──


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


TWO = patch("*** Add File: a.txt", "+x", "*** Update File: /b.py", "@@", "-1", "+2")


@pytest.mark.parametrize("field", ["patch", "input", "diff"])
def test_a_patch_is_one_call_per_file(field: str) -> None:
    one, two = PLAIN.parts("apply_patch", {field: TWO})
    assert (one.name, one.input) == ("Write", {"file_path": "/p/a.txt", "content": "x\n"})
    assert (two.name, two.input) == ("Edit", {"file_path": "/b.py", "old_string": "1\n", "new_string": "2\n"})
    assert (one.also, two.also, one.touch) == (("apply_patch",), ("apply_patch",), True)


@pytest.mark.parametrize("native", [{"patch": "--- a/x\n+++ b/x"}, {"patch": 1}, {}])
def test_a_patch_that_cannot_be_read_is_one_call_that_says_so(native: Any) -> None:
    (part,) = PLAIN.parts("apply_patch", native)
    assert (part.name, part.input, part.also) == ("Edit", native, ("apply_patch", "Write"))
    assert "the patch of `apply_patch` cannot be read" in part.unreadable


def test_a_call_with_two_patches_is_not_clear() -> None:
    (part,) = PLAIN.parts("apply_patch", {"patch": TWO, "input": TWO})
    assert "has both `patch` and `input`" in part.unclear


def test_other_calls_have_one_part_and_a_program_maps_its_own_patches() -> None:
    assert PLAIN.parts("shell", {"cmd": "ls"}) == (PLAIN.shaped("shell", {"cmd": "ls"}),)
    assert PLAIN.parts("apply_patch", {"patch": TWO}, "files")[0].name == "mcp__files__apply_patch"
    assert ToolTable({"apply_patch": None}).parts("apply_patch", {"patch": TWO})[0].name == "apply_patch"
    assert len(ToolTable({"change": Tool("Edit", patch=("text",))}).parts("change", {"text": TWO})) == 2


# ── tools that are not mapped ──


@pytest.mark.parametrize(
    ("name", "fields", "claude"),
    [
        ("run_in_terminal", ["cmd", "cwd"], "Bash"),
        ("python", ["code"], "Bash"),
        ("store", ["path", "content"], "Write"),
        ("change", ["diff"], "Edit"),
        ("open", ["path"], None),
        ("add", ["a", "b"], None),
    ],
)
def test_a_tool_that_looks_like_one_of_claudes_is_noticed(name: str, fields: list[str], claude: str | None) -> None:
    assert resembles(name, fields) == claude
    assert unmapped(ToolTable(), {name: fields}) == ({name: claude} if claude else {})
    assert unmapped(ToolTable({name: None}), {name: fields}) == {}
    assert name in warning(name, "Bash")


def test_a_tool_that_its_framework_knows_as_an_agent_is_one_unless_a_table_has_it() -> None:
    table = ToolTable({"mine": "Bash"})
    for name in ("reviewer", "mine", "shell"):
        table.note_agent(name)
    shaped = {name: table.shaped(name, {"request": "x"}) for name in ("reviewer", "mine", "shell")}
    assert {name: one.name for name, one in shaped.items()} == {"reviewer": "Agent", "mine": "Bash", "shell": "Bash"}
    assert (shaped["reviewer"].input, shaped["reviewer"].also) == ({"prompt": "x"}, ("reviewer",))
