"""Our entries in files of other agents come and go, and what others wrote stays, byte for byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookwright.dialects.export.block import with_block, without_block
from hookwright.dialects.export.commented import scan
from hookwright.dialects.export.groups import caller, entries_in, with_entries, without_entries
from hookwright.errors import ConfigError

OURS: dict[str, Any] = {
    event: {"hooks": [{"type": "command", "command": "hookwright hook --from codex", "timeout": 600}]}
    for event in ("PreToolUse", "Stop", "SessionEnd")
}

ODD = [
    "{}",
    "{ }\n",
    "{\n}\n",
    "\ufeff{}",
    "{} // nothing yet\n",
    "{ /* nothing */ }",
    '{"a": 1}',
    '{"a": 1,}',
    '{"a": 1 , }',
    '{"a":1}\n\n\n',
    '{\n  "a": 1\n}',
    '{\r\n\t"a": 1\r\n}\r\n',
    '{\n  "a": 1, // one\n  // two\n}\n',
    '{\n  "a": 1 /* one */\n  // two\n}\n',
    '// first\n{\n  "theme": "dark", // why\n}\n',
    '{"hooks": {}}',
    '{"hooks": {\n  }}',
    '{\n  "hooks": {\n  },\n  "z": [1, 2,]\n}\n',
    '{"hooks": {"PreToolUse": []}}',
    '{"hooks": {"PreToolUse": [ ]}, "b": 2}',
    '{\n    "hooks": {\n        "PreToolUse": [\n            {"hooks": [{"command": "x"}]}\n        ]\n    }\n}\n',
    '{"hooks":{"PreToolUse":[{"hooks":[]}],"Other":[]},"a":"}{][,//"}',
    '{"hooks": {"Stop": [{"hooks": []}, /* keep */ {"hooks": []}, ]}}',
    '{\n"a": "\\u00e9\\"",\n"hooks": {"SessionEnd": [\n]}}',
    '{"a": {"hooks": {"PreToolUse": [1]}}}',
]


@pytest.mark.parametrize("text", ODD)
def test_adding_and_removing_leaves_the_text_byte_for_byte(text: str) -> None:
    new = with_entries(text, OURS)
    assert entries_in(new, caller("codex")) == {event: [entry] for event, entry in OURS.items()}
    others = scan(new).value
    assert {key: value for key, value in others.items() if key != "hooks"} == {
        key: value for key, value in scan(text).value.items() if key != "hooks"
    }
    assert without_entries(new, caller("codex")) == text
    assert with_entries(without_entries(new, caller("codex")), OURS) == new


def test_a_file_that_was_not_there_is_gone_again() -> None:
    new = with_entries(None, OURS)
    assert json.loads(new) == {"hooks": {event: [entry] for event, entry in OURS.items()}}
    assert without_entries(new, caller("codex")) is None


def test_what_was_added_after_us_stays() -> None:
    new = with_entries('{"a": 1}', OURS)
    edited = new.replace('"hooks": {', '"hooks": {"Mine": [{"hooks": []}], ', 1).replace('{"a"', '{"b": [], "a"')
    left = scan(without_entries(edited, caller("codex")) or "").value
    assert left == {"b": [], "a": 1, "hooks": {"Mine": [{"hooks": []}]}}


@pytest.mark.parametrize(
    "text", ["", "{", '{"a" 1}', "[]", '{"hooks": []}', '{"hooks": {"Stop": {}}}', "{} x", "{'a': 1}"]
)
def test_a_file_that_is_not_settings_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="nothing was changed"):
        with_entries(text, OURS)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
_groups = st.dictionaries(st.sampled_from([*OURS, "Other"]), st.lists(_json, max_size=2), max_size=3)


@settings(max_examples=60)
@given(
    st.dictionaries(st.text(max_size=4), _json, max_size=3), st.none() | _groups, st.sampled_from([None, 1, 2, "\t"])
)
def test_any_settings_come_back(value: dict[str, Any], hooks: Any, indent: Any) -> None:
    value = value if hooks is None else {**value, "hooks": hooks}
    value.pop("hooks", None) if hooks is None else None
    text = json.dumps(value, indent=indent)
    assert without_entries(with_entries(text, OURS), caller("codex")) == text


# ── TOML ────────────────────────────────────────────────────────────────────

TABLES: dict[str, Any] = {"PreToolUse": {"command": "sh -c 'a \"b\" \\ é'", "timeout": 600}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a = 1",
        "a = 1\n",
        "# c\r\n[x]\r\ny = 2\r\n",
        '[[hooks]]\nevent = "Stop"\ncommand = "x"\n\n\n',
        "[hooks_x]\n",
    ],
)
def test_a_block_comes_and_goes(text: str) -> None:
    new = with_block(text, TABLES)
    assert new.startswith(text)
    assert tomllib.loads(new)["hooks"][-1] == {"event": "PreToolUse", **TABLES["PreToolUse"]}
    assert without_block(new) == text


def test_a_block_in_a_new_file_goes_with_it_unless_something_was_added() -> None:
    new = with_block(None, TABLES)
    assert without_block(new) is None
    assert without_block("a = 1\n" + new) == "a = 1\n"
    assert without_block(new + "[x]\n") == "[x]\n"


@pytest.mark.parametrize("text", ["a = ", 'hooks = [{event = "Stop"}]\n', "[hooks]\na = 1\n"])
def test_a_file_that_cannot_take_a_block_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="nothing was changed"):
        with_block(text, TABLES)


def test_the_plugin_is_a_program_that_node_can_read(tmp_path: Path) -> None:
    import shutil
    import subprocess

    from hookwright.dialects.export.plugin import is_plugin, plugin

    text = plugin(["/bin/it's", "hook", "--from", "opencode"])
    assert is_plugin(text)
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    (tmp_path / "plugin.mjs").write_text(text)
    done = subprocess.run(["node", "--check", "plugin.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
