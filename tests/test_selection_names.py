"""A tool with two names: hooks match either, and read the first."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.hookset import HookSet
from hookwright.protocol.events import Event
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.wire import decode_event, encode_event, payload
from hookwright.selection import Circumstances, select
from support import command, event
from test_engine import group

NOW = Circumstances(home="/h", project_dir="/p", gate=None, spent=())


def call(*also: str, name: str = "Bash") -> Event:
    return msgspec.structs.replace(event("PreToolUse", tool_name=name, tool_input={"command": "ls"}), also=also)


@pytest.mark.parametrize("matcher", ["Bash", "shell", "Edit|shell", "^sh", "Ba.h", "*", None])
def test_a_matcher_matches_either_name(matcher: str | None) -> None:
    hooks = HookSet.build([group("PreToolUse", command("a"), matcher=matcher)])
    assert len(select(hooks, call("shell"), NOW).handlers) == 1


def test_a_skip_names_both() -> None:
    hooks = HookSet.build([group("PreToolUse", command("a"), matcher="Edit")])
    (skip,) = select(hooks, call("shell"), NOW).skips
    assert (skip.reason, skip.detail) == (SkipReason.MATCHER, "`Edit` (exact names) does not match `Bash` or `shell`")


def test_a_condition_names_either() -> None:
    for rule in ("Bash(ls)", "shell"):
        hooks = HookSet.build([group("PreToolUse", command("a", condition=rule))])
        assert len(select(hooks, call("shell"), NOW).handlers) == 1, rule
    hooks = HookSet.build([group("PreToolUse", command("a", condition="Bash(rm *)"))])
    assert select(hooks, call("shell"), NOW).handlers == ()


def test_the_other_name_is_not_sent_and_a_field_of_that_name_is_the_hosts_own() -> None:
    assert "also" not in payload(call("shell"))
    assert encode_event(call("shell")) == encode_event(call())
    read = decode_event({**payload(call()), "also": ["x"]})
    assert (read.also, read.extra) == ((), {"also": ["x"]})


_NAMES = st.sampled_from(["Bash", "Edit", "shell", "edit_file", "run"])
_MATCHERS = st.sampled_from([None, "", "*", "Bash", "shell", "Bash|Edit", "^e", "run|Edit", "("])


@given(st.lists(_MATCHERS, max_size=5), _NAMES, st.lists(_NAMES, max_size=3))
def test_a_handler_is_selected_exactly_when_one_of_the_names_alone_selects_it(
    matchers: list[str | None], name: str, also: list[str]
) -> None:
    handlers = [command(f"h{number}") for number in range(len(matchers))]
    groups = [group("PreToolUse", one, matcher=text) for one, text in zip(handlers, matchers, strict=True)]
    hooks = HookSet.build(groups)
    alone = {one for each in (name, *also) for one in select(hooks, call(name=each), NOW).handlers}
    assert set(select(hooks, call(*also, name=name), NOW).handlers) == alone
    assert select(hooks, call(name=name), NOW) == select(hooks, call(name=name), NOW), "plans are kept apart"
