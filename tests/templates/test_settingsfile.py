"""Hooks are added to a settings file by insertion only."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.errors import ConfigError
from hookwright.templates.settingsfile import with_hooks

GROUP: dict[str, Any] = {"matcher": "Bash", "hooks": [{"type": "command", "command": "new.sh"}]}

TEXTS = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
HANDLERS = st.fixed_dictionaries({"type": st.just("command"), "command": TEXTS})
GROUPS = st.fixed_dictionaries({"hooks": st.lists(HANDLERS, max_size=2)}, optional={"matcher": TEXTS})
EVENTS = st.sampled_from(["PreToolUse", "Stop", "SessionStart"])
SETTINGS = st.dictionaries(TEXTS.filter(lambda key: key != "hooks"), VALUES, max_size=3).flatmap(
    lambda rest: st.one_of(
        st.just(rest),
        st.dictionaries(EVENTS, st.lists(GROUPS, max_size=2)).map(lambda hooks: {**rest, "hooks": hooks}),
        st.dictionaries(EVENTS, st.lists(GROUPS, max_size=2)).map(lambda hooks: {"hooks": hooks, **rest}),
    )
)
STYLES = st.sampled_from(
    [
        {"indent": 2},
        {"indent": 4},
        {"indent": "\t"},
        {},
        {"separators": (",", ":")},
        {"indent": 2, "ensure_ascii": False},
    ]
)


@given(SETTINGS, STYLES, EVENTS, st.sampled_from(["", "\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_the_old_text_stays_and_the_value_is_the_old_one_with_the_group(
    settings: dict[str, Any], style: dict[str, Any], event: str, end: str, bom: str
) -> None:
    old = bom + json.dumps(settings, **style) + end
    if end == "\r\n":
        old = old.replace("\r\n", "\n").replace("\n", "\r\n")
    new = with_hooks(old, {event: [GROUP]})
    wanted = copy.deepcopy(settings)
    wanted.setdefault("hooks", {}).setdefault(event, []).append(GROUP)
    assert json.loads(new.removeprefix("\ufeff")) == wanted
    shared = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    assert any(new.endswith(old[cut:]) and new.startswith(old[:cut]) for cut in range(shared + 1))
    assert with_hooks(new, {event: [GROUP]}) == new


@given(SETTINGS, STYLES)
def test_rules_are_added_once_and_nothing_else_changes(value: dict[str, Any], style: dict[str, Any]) -> None:
    value = {key: item for key, item in value.items() if key != "permissions"}
    new = with_hooks(json.dumps(value, **style), {}, ["Edit(/a)", "Edit(/b)"])
    assert json.loads(new) == {**value, "permissions": {"deny": ["Edit(/a)", "Edit(/b)"]}}
    assert with_hooks(new, {}, ["Edit(/b)"]) == new


def test_new_members_stand_as_the_old_ones_do() -> None:
    old = '{\n    "env": {},\n    "hooks": {\n        "Stop": [\n            {"hooks": []}\n        ]\n    }\n}\n'
    new = with_hooks(old, {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]})
    assert new == (
        '{\n    "env": {},\n    "hooks": {\n        "Stop": [\n            {"hooks": []},\n'
        '            {\n                "hooks": [\n                    {\n'
        '                        "type": "command",\n                        "command": "x"\n'
        "                    }\n                ]\n            }\n        ]\n    }\n}\n"
    )


def test_an_empty_or_absent_file_becomes_a_whole_one() -> None:
    new = with_hooks("", {"Stop": [GROUP]})
    assert json.loads(new) == {"hooks": {"Stop": [GROUP]}}
    assert new.startswith('{\n  "hooks": {\n    "Stop": [\n')
    assert new.endswith("}\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the file is not an object"),
        ('{"hooks": []}', "`hooks` is not an object"),
        ('{"hooks": {"Stop": {}}}', "`hooks.Stop` is not a list"),
        ('{"a": 1,}', "line 1"),
        ("{", "line 1"),
    ],
)
def test_what_is_no_settings_file_is_not_touched(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_hooks(text, {"Stop": [GROUP]})
    assert message in str(caught.value)
