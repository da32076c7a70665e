"""System messages inside a conversation, as a law over all conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.models._system_role import SystemRole, place_system_messages
from hookwright.models.types import Message

roles = st.sampled_from(["user", "assistant", "system"])


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": f"t{i}" if draw(st.booleans()) else [{"type": "text", "text": f"t{i}"}]}
        for i, role in enumerate(draw(st.lists(roles, max_size=8)))
    ]


def texts(messages: Sequence[Message]) -> list[str]:
    """List the numbered texts in the order in which a model reads them."""
    said: list[str] = []
    for message in messages:
        content = message["content"]
        parts = [content] if isinstance(content, str) else [block["text"] for block in content]
        for part in parts:
            plain = part.replace("<system-reminder>\n", "").replace("\n</system-reminder>", "")
            said += plain.split("\n\n")
    return said


@given(conversations(), st.sampled_from(SystemRole))
def test_no_text_is_lost_and_the_order_stays(messages: list[dict[str, Any]], role: SystemRole) -> None:
    placed = texts(place_system_messages(messages, role))
    assert sorted(placed) == sorted(texts(messages))
    for kind in ({"system"}, {"user", "assistant"}):
        said = texts([message for message in messages if message["role"] in kind])
        assert [one for one in placed if one in said] == said


@given(conversations(), st.sampled_from(SystemRole))
def test_system_messages_stand_only_where_the_api_takes_them(messages: list[dict[str, Any]], role: SystemRole) -> None:
    placed = place_system_messages(messages, role)
    for index, message in enumerate(placed):
        if message["role"] != "system":
            continue
        assert role is not SystemRole.NOWHERE
        if role is SystemRole.AFTER_USER:
            assert index > 0
            assert placed[index - 1]["role"] == "user"
            assert index + 1 == len(placed) or placed[index + 1]["role"] == "assistant"


@given(conversations())
def test_what_others_said_is_not_touched_where_everything_is_taken(messages: list[dict[str, Any]]) -> None:
    placed = place_system_messages(messages, SystemRole.ANYWHERE)
    assert [m for m in placed if m["role"] != "system"] == [m for m in messages if m["role"] != "system"]


def reminder(text: str) -> dict[str, Any]:
    return {"type": "text", "text": f"<system-reminder>\n{text}\n</system-reminder>"}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "out"}


@pytest.mark.parametrize(
    ("messages", "role", "expected"),
    [
        pytest.param(
            [{"role": "system", "content": "start"}, {"role": "user", "content": "hi"}],
            SystemRole.AFTER_USER,
            [{"role": "user", "content": "hi"}, {"role": "system", "content": "start"}],
            id="after the first prompt",
        ),
        pytest.param(
            [
                {"role": "system", "content": "start"},
                {"role": "user", "content": "hi"},
                {"role": "system", "content": "note"},
            ],
            SystemRole.NOWHERE,
            [{"role": "user", "content": [reminder("start"), reminder("note"), text("hi")]}],
            id="ahead of the text of the prompt",
        ),
        pytest.param(
            [{"role": "user", "content": [{**RESULT, "is_error": True}]}, {"role": "system", "content": "a"}],
            SystemRole.NOWHERE,
            [{"role": "user", "content": [{**RESULT, "is_error": True}, reminder("a")]}],
            id="after an error, not in it",
        ),
        pytest.param(
            [{"role": "user", "content": [RESULT]}, {"role": "system", "content": "PreToolUse:Bash hook success: a"}],
            SystemRole.NOWHERE,
            [{"role": "user", "content": [RESULT, reminder("PreToolUse:Bash hook success: a")]}],
            id="after a result that a hook did not know",
        ),
        pytest.param(
            [
                {"role": "user", "content": [RESULT]},
                {"role": "system", "content": "a"},
                {"role": "system", "content": "b"},
            ],
            SystemRole.AFTER_USER,
            [{"role": "user", "content": [RESULT]}, {"role": "system", "content": "a\n\nb"}],
            id="after tool results, joined",
        ),
        pytest.param(
            [
                {"role": "user", "content": [RESULT]},
                {"role": "system", "content": "a"},
                {"role": "user", "content": "next"},
                {"role": "assistant", "content": "x"},
            ],
            SystemRole.AFTER_USER,
            [
                {"role": "user", "content": [RESULT]},
                {"role": "user", "content": "next"},
                {"role": "system", "content": "a"},
                {"role": "assistant", "content": "x"},
            ],
            id="after the prompt that follows a stop",
        ),
        pytest.param(
            [{"role": "user", "content": [RESULT]}, {"role": "system", "content": "PostToolUse:Bash a"}],
            SystemRole.NOWHERE,
            [{"role": "user", "content": [{**RESULT, "content": f"out\n\n{reminder('PostToolUse:Bash a')['text']}"}]}],
            id="in the last tool result",
        ),
        pytest.param(
            [
                {"role": "assistant", "content": "x"},
                {"role": "system", "content": "a"},
                {"role": "user", "content": [RESULT]},
            ],
            SystemRole.NOWHERE,
            [{"role": "assistant", "content": "x"}, {"role": "user", "content": [RESULT, reminder("a")]}],
            id="behind the tool results that must come first",
        ),
        pytest.param(
            [{"role": "assistant", "content": "x"}, {"role": "system", "content": "a"}],
            SystemRole.NOWHERE,
            [{"role": "assistant", "content": "x"}, {"role": "user", "content": [reminder("a")]}],
            id="on a message of its own",
        ),
        pytest.param(
            [{"role": "user", "content": "hi"}, {"role": "system", "content": ""}],
            SystemRole.NOWHERE,
            [{"role": "user", "content": "hi"}],
            id="empty",
        ),
    ],
)
def test_places(messages: list[dict[str, Any]], role: SystemRole, expected: list[dict[str, Any]]) -> None:
    assert place_system_messages(messages, role) == expected
