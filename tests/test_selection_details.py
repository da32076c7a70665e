"""What a selection says about each handler, and what it keeps between events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from hookwright.hookset import HookSet
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import AgentHandler, CommandHandler, Handler, HttpHandler, OnFailure, PromptHandler
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.sources import Component, Scope, Source
from hookwright.selection import Circumstances, Selection, inactive, select, states
from support import command, event
from test_engine import group

NOW = Circumstances(home="/h", project_dir="/p", gate=None, spent=())
USER = Source(Scope.USER, "user.json", "x")


def hooks(handler: Handler, matcher: str | None = None, name: str = "PreToolUse") -> HookSet:
    return HookSet.build([group(name, handler, matcher=matcher)])


def chosen(handler: Handler, moment: Event, matcher: str | None = None, now: Circumstances = NOW) -> Selection:
    return select(hooks(handler, matcher, moment.event_name), moment, now)


def call(line: str = "ls", **fields: Any) -> Event:
    return event("PreToolUse", **{"cwd": "/p", "tool_name": "Bash", "tool_input": {"command": line}, **fields})


def edit(path: str, cwd: str = "/p") -> Event:
    return event("PreToolUse", cwd=cwd, tool_name="Edit", tool_input={"file_path": path})


# ── the words of a skip ──


@pytest.mark.parametrize(
    ("handler", "matcher", "moment", "reason", "detail"),
    [
        (command("a"), "Write|Edit", call(), SkipReason.MATCHER, "`Write|Edit` (exact names) does not match `Bash`"),
        (
            HttpHandler(source=USER, url="http://x"),
            None,
            event("SessionStart"),
            SkipReason.KIND,
            "http handlers do not run on this event",
        ),
        (
            command("a", condition="Bash(ls)"),
            None,
            event("Stop"),
            SkipReason.CONDITION_ON_EVENT,
            "`if` is evaluated on tool events only",
        ),
        (
            command("a", condition="Bash(git *)"),
            None,
            call(),
            SkipReason.CONDITION,
            "`Bash(git *)` does not match this call",
        ),
        (
            PromptHandler(source=USER, prompt="p"),
            None,
            call(agent_id="hook-agent-1"),
            SkipReason.RECURSION,
            "a hook's own agent asks no model about its calls",
        ),
    ],
)
def test_a_skip_names_the_value_and_the_reason(
    handler: Handler, matcher: str | None, moment: Event, reason: SkipReason, detail: str
) -> None:
    selection = chosen(handler, moment, matcher)
    assert selection.handlers == ()
    assert [(skip.handler, skip.reason, skip.detail) for skip in selection.skips] == [(handler, reason, detail)]


def test_an_invalid_matcher_and_an_unreadable_condition_quote_what_is_wrong() -> None:
    (skip,) = chosen(command("a"), call(), "[").skips
    assert skip.detail.startswith("`[`: ")
    assert len(skip.detail) > len("`[`: ")
    (skip,) = chosen(command("a", condition="((("), call()).skips
    assert skip.detail.startswith("`if` cannot be read: ")


def test_a_kind_without_a_model_there_is_selected_to_fail_and_says_so() -> None:
    handler = PromptHandler(source=USER, prompt="p")
    selection = chosen(handler, event("SessionStart"))
    text = "prompt handlers are not supported on this event; each firing reports an error"
    assert [(skip.handler, skip.detail) for skip in selection.failing] == [(handler, text)]


# ── the words of a note ──


class Broken(Mapping[str, Any]):
    """An input whose reading raises."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("no")

    def __iter__(self) -> Any:
        raise RuntimeError("no")

    def __len__(self) -> int:
        return 1


def test_a_condition_that_cannot_be_decided_runs_the_hook_and_is_noted() -> None:
    handler = command("a", condition="Bash(git *)")
    selection = chosen(handler, msgspec.structs.replace(call(), tool_input=Broken()))
    assert selection.handlers == (handler,)
    text = "`Bash(git *)` cannot be decided (reading the call raised RuntimeError); the hook runs"
    assert selection.notes == (Diagnostic("if-undecided", text, handler.source, Severity.INFO),)


def test_a_matcher_that_cannot_be_decided_runs_the_hook_and_is_noted() -> None:
    handler, value, pattern = command("a"), "a" * 400, r"(a*)*(a*)*(a*)*(a*)*\1\2\3\4b$"
    selection = chosen(handler, call(tool_name=value), pattern)
    (note,) = selection.notes
    assert (selection.handlers, note.code, note.severity) == ((handler,), "matcher-too-complex", Severity.WARNING)
    assert note.source == handler.source
    assert note.message.startswith(f"`{pattern}` cannot be decided for `{value}` (")
    assert note.message.endswith("); the hook runs")
    quiet = chosen(handler, call(), "Bash")
    assert (quiet.handlers, quiet.notes) == ((handler,), ())


# ── where a rule starts ──


@pytest.mark.parametrize(
    ("project", "anchor", "path", "runs"),
    [
        ("/p", "", "/p/src/a", True),
        ("/p", "", "/w/src/a", False),
        ("", "", "/w/src/a", True),
        ("", "", "/p/src/a", False),
        ("/p", "/h/.claude", "/h/.claude/src/a", True),
        ("/p", "/h/.claude", "/p/src/a", False),
    ],
)
def test_a_leading_slash_starts_at_the_settings_then_the_project_then_the_working_directory(
    project: str, anchor: str, path: str, runs: bool
) -> None:
    handler = CommandHandler(source=Source(Scope.USER, anchor=anchor), command="a", condition="Edit(/src/**)")
    now = Circumstances(home="/h", project_dir=project, gate=None, spent=())
    assert bool(chosen(handler, edit(path, cwd="/w"), now=now).handlers) is runs


def test_a_relative_rule_starts_at_the_project_and_not_only_at_the_working_directory() -> None:
    handler = command("a", condition="Edit(./src/**)")
    assert chosen(handler, edit("/p/src/a", cwd="/p/deep")).handlers == (handler,)


# ── what is kept ──


def test_a_selection_that_depends_on_the_matched_value_alone_is_made_once() -> None:
    fixed = hooks(command("a"), "Bash")
    assert select(fixed, call("ls"), NOW) is select(fixed, call("pwd"), NOW)
    varying = hooks(command("a", condition="Bash(ls)"))
    assert [len(select(varying, call(line), NOW).handlers) for line in ("ls", "pwd")] == [1, 0]


def test_once_is_asked_for_every_event() -> None:
    handler = CommandHandler(source=USER, command="a", once=True)
    found = hooks(handler)
    assert select(found, call(), NOW).handlers == (handler,)
    spent = Circumstances(home="/h", project_dir="/p", gate=None, spent={str(handler.source)})
    (skip,) = select(found, call(), spent).skips
    assert (skip.reason, skip.detail) == (SkipReason.ONCE, "it already ran successfully")


def test_the_outcome_of_an_event_that_runs_nothing_is_made_once() -> None:
    selection = chosen(command("a"), call(), "Write")
    assert selection.nothing is not None
    assert (selection.nothing.event, selection.nothing.matched) == ("PreToolUse", "Bash")
    assert (selection.nothing.skips, selection.nothing.runs) == (selection.skips, ())
    assert chosen(command("a"), call(), "Bash").nothing is None
    assert select(HookSet.build([]), call(), NOW).nothing is None


def test_plans_of_a_flood_of_values_are_forgotten() -> None:
    found = hooks(command("a"), "Bash")
    for number in range(4096):
        select(found, call(tool_name=f"t{number}"), NOW)
    assert len(found.plans["PreToolUse"]) == 4096
    select(found, call(), NOW)
    assert list(found.plans["PreToolUse"]) == [("Bash",)]


def test_managed_handlers_make_a_separate_layer() -> None:
    assert chosen(command("a", Scope.MANAGED), call()).managed
    assert not chosen(command("a"), call()).managed
    assert not chosen(command("a", Scope.MANAGED), call(), "Write").managed


# ── before any event ──


def off(*handlers: Handler, matcher: str | None = None) -> list[object]:
    found = HookSet.build([group("PreToolUse", *handlers, matcher=matcher)])
    return [state.off and state.off[0] for state in states(list(found), NOW)]


def component(kind: str, name: str) -> Handler:
    source = Source(Scope.COMPONENT, "c.md", "x", component=Component(kind, name))
    return CommandHandler(source=source, command="a")


def test_the_hooks_of_an_agent_wait_for_it_and_those_of_an_active_skill_run() -> None:
    found = HookSet.build([group("PreToolUse", component("agent", "reviewer"), component("skill", "s"))])
    first, second = states(list(found), NOW)
    assert (first.off, first.waits) == ((SkipReason.INACTIVE, "only while the agent `reviewer` is active"), True)
    assert (second.off, second.waits) == (None, False)


def test_a_copy_is_off_only_where_another_copy_always_runs() -> None:
    plain, closed = command("a"), command("a", on_failure=OnFailure.BLOCK)
    assert off(plain, command("a")) == [None, SkipReason.DUPLICATE]
    assert off(plain, closed) == [SkipReason.DUPLICATE, None]
    assert off(closed, plain) == [None, SkipReason.DUPLICATE]

    def agent(condition: str | None, anchor: str = "") -> AgentHandler:
        return AgentHandler(source=Source(Scope.USER, "u", anchor=anchor), prompt="p", condition=condition)

    ls, pwd = "Bash(ls)", "Bash(pwd)"
    assert off(agent(None), agent(ls)) == [None, SkipReason.DUPLICATE]
    assert off(agent(ls), agent(None)) == [None, None]
    assert off(agent(ls), agent(ls)) == [None, SkipReason.DUPLICATE]
    assert off(agent(ls), agent(pwd)) == [None, None]
    assert off(agent(ls), agent(ls, "/other")) == [None, None]
    http = [HttpHandler(source=Source(Scope.USER, "u", str(n)), url="http://x") for n in range(2)]
    assert off(*http) == [SkipReason.DUPLICATE, None]


def test_copies_with_different_matchers_both_run() -> None:
    for first, second, expected in (
        ("Bash", "Write", [None, None]),
        ("Bash", "Bash", [None, SkipReason.DUPLICATE]),
        (None, "Bash", [None, SkipReason.DUPLICATE]),
        ("Bash", None, [None, None]),
    ):
        found = HookSet.build(
            [group("PreToolUse", command("a"), matcher=first), group("PreToolUse", command("a"), matcher=second)]
        )
        assert [state.off and state.off[0] for state in states(list(found), NOW)] == expected


def test_a_handler_that_never_runs_is_off_with_its_reason() -> None:
    found = HookSet.build(
        [
            group("SessionStart", HttpHandler(source=USER, url="http://x")),
            group("SessionStart", PromptHandler(source=USER, prompt="p")),
            group("PreToolUse", command("a"), matcher="["),
        ]
    )
    reasons = [state.off and state.off[0] for state in states(list(found), NOW)]
    assert reasons == [SkipReason.KIND, SkipReason.KIND, SkipReason.INVALID_MATCHER]
    assert inactive(command("a")) == (SkipReason.INACTIVE, "only while its component is active")


def test_which_of_several_copies_runs() -> None:
    def kept(*handlers: Handler) -> tuple[Handler, ...]:
        found = select(HookSet.build([group("PreToolUse", *handlers)]), call(), NOW)
        assert len(found.skips) == len(handlers) - 1
        return found.handlers

    plain, late = command("a"), command("a", is_async=True)
    managed, project = (
        command("a", Scope.MANAGED),
        CommandHandler(source=Source(Scope.PROJECT, "p.json", "x", from_project=True), command="a"),
    )
    closed = command("a", on_failure=OnFailure.BLOCK)
    for winner, loser in ((plain, late), (plain, project), (closed, plain), (managed, plain), (late, project)):
        assert kept(winner, loser) == kept(loser, winner) == (winner,)
