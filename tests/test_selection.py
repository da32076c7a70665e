"""The law of selection: a test per clause, and `explain` and `list` agree with what fires."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookwright.cli.commands.explain import explain, would_run
from hookwright.config import Places, load_hooks
from hookwright.config.trust import TrustPolicy
from hookwright.engine import HookEngine
from hookwright.executors.command import CommandExecutor
from hookwright.hookset import Hold, HookSet
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import (
    AgentHandler,
    CommandHandler,
    Handler,
    HttpHandler,
    Kind,
    OnFailure,
    PromptHandler,
)
from hookwright.protocol.host import Host
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.replies import Exited, Failed, Reply
from hookwright.protocol.sources import Component, Plugin, Scope, Source
from support import command, event, hooks_for
from support import settings as write_settings
from test_engine import group

HOST = Host(project_dir="/p", env={}, home="/h", config_dir="/h/.claude")


async def succeed(job: Job) -> Reply:
    return Exited(0)


def make(*groups: Any, gate: Any = None, hold: Any = None, executors: Any = None, observers: Any = ()) -> HookEngine:
    known = executors or dict.fromkeys(Kind, succeed)
    return HookEngine(HookSet.build(groups, hold), host=HOST, executors=known, gate=gate, observers=observers)


def at(name: str = "PreToolUse", **fields: Any) -> Event:
    return event(name, cwd="/p", **fields)


def reasons(made: HookEngine, moment: Event) -> list[SkipReason]:
    return [skip.reason for skip in made.select(moment).skips]


def of(scope: Scope, pointer: str = "x", **fields: Any) -> Source:
    return Source(scope, f"{scope.value}.json", pointer, **fields)


# ── the clauses ──


def test_clause_1_a_switch_holds_a_handler() -> None:
    def hold(handler: Handler) -> Hold:
        return SkipReason.DISABLED, "disableAllHooks"

    made = make(group("PreToolUse", command("a"), matcher="["), hold=hold)
    assert reasons(made, at()) == [SkipReason.DISABLED]


@pytest.mark.parametrize(
    ("matcher", "reason"),
    [("Write", [SkipReason.MATCHER]), ("[", [SkipReason.INVALID_MATCHER]), ("Bash", []), (None, [])],
)
def test_clause_2_the_matcher_is_valid_and_matches(matcher: str | None, reason: list[SkipReason]) -> None:
    made = make(group("PreToolUse", command("a"), matcher=matcher))
    assert reasons(made, at(tool_name="Bash")) == reason


def test_clause_3_the_event_runs_the_kind() -> None:
    handler = HttpHandler(source=of(Scope.USER), url="http://x", condition="Bash(ls)")
    assert reasons(make(group("SessionStart", handler)), at("SessionStart")) == [SkipReason.KIND]


@pytest.mark.parametrize(
    ("name", "condition", "reason"),
    [
        ("PreToolUse", "Bash(git *)", [SkipReason.CONDITION]),
        ("PreToolUse", "Bash(ls)", []),
        ("PreToolUse", "(((", [SkipReason.CONDITION]),
        ("Stop", "Bash(ls)", [SkipReason.CONDITION_ON_EVENT]),
    ],
)
def test_clause_4_if_is_evaluated_and_matches(name: str, condition: str, reason: list[SkipReason]) -> None:
    fields = {"tool_name": "Bash", "tool_input": {"command": "ls"}} if name == "PreToolUse" else {}
    made = make(group(name, command("a", condition=condition)))
    assert reasons(made, at(name, **fields)) == reason


@pytest.mark.parametrize("kind", [PromptHandler, AgentHandler])
def test_clause_5_no_model_is_asked_about_a_hooks_own_agent(kind: Any) -> None:
    made = make(group("PreToolUse", kind(source=of(Scope.USER), prompt="p")))
    assert reasons(made, at(agent_id="hook-agent-1")) == [SkipReason.RECURSION]
    assert reasons(made, at(agent_id="agent-1")) == []


def test_clause_6_the_hooks_of_an_agent_run_inside_it() -> None:
    source = of(Scope.COMPONENT, component=Component("agent", "reviewer"))
    made = make(group("PreToolUse", CommandHandler(source=source, command="a")))
    assert reasons(made, at(agent_type="reviewer")) == []
    for moment in (at(), at(agent_type="other")):
        (skip,) = made.select(moment).skips
        assert (skip.reason, skip.detail) == (SkipReason.INACTIVE, "only while the agent `reviewer` is active")


def test_clause_7_once_ends_with_the_first_success() -> None:
    source = of(Scope.COMPONENT, component=Component("skill", "s"))
    made = make(group("PreToolUse", CommandHandler(source=source, command="a", once=True)))
    assert reasons(made, at()) == []
    asyncio.run(made.fire(at()))
    assert reasons(made, at()) == [SkipReason.ONCE]
    assert [state.off for state in made.states()] == [(SkipReason.ONCE, "it already ran successfully")]


def test_clause_8_what_the_project_supplies_is_trusted() -> None:
    asked: list[str] = []

    def gate(handler: Handler, cwd: str) -> Hold | None:
        asked.append(cwd)
        return SkipReason.UNTRUSTED, "no"

    theirs = CommandHandler(source=of(Scope.PROJECT, from_project=True), command="a")
    made = make(group("PreToolUse", theirs, command("b")), gate=gate)
    selection = made.select(at())
    assert [handler.label for handler in selection.handlers] == ["b"]
    assert [(skip.handler, skip.reason) for skip in selection.skips] == [(theirs, SkipReason.UNTRUSTED)]
    assert asked == ["/p"]


@pytest.mark.req("R-015")
def test_clause_9_one_of_several_equal_handlers_runs_and_a_skipped_one_replaces_none() -> None:
    mine = CommandHandler(source=of(Scope.USER), command="a")
    theirs = CommandHandler(source=of(Scope.PROJECT, from_project=True), command="a")
    trusted = make(group("PreToolUse", mine, theirs))
    (skip,) = trusted.select(at()).skips
    assert (skip.handler, skip.reason) == (theirs, SkipReason.DUPLICATE)
    assert skip.detail == "the same handler is already declared at user.json x"
    for first, second in ((mine, theirs), (theirs, mine)):
        made = make(group("PreToolUse", first, second), gate=lambda handler, cwd: (SkipReason.CHANGED, "it changed"))
        assert made.select(at()).handlers == (mine,)


@pytest.mark.req("R-015")
def test_equal_handlers_of_one_plugin_run_once_and_those_of_two_plugins_both() -> None:
    one, two = (of(Scope.PLUGIN, plugin=Plugin(name, f"/{name}", f"/{name}")) for name in ("one", "two"))
    ours, copy, theirs = (CommandHandler(source=source, command="a") for source in (one, one, two))
    made = make(group("PreToolUse", ours, copy), group("PreToolUse", theirs))
    assert made.select(at()).handlers == (ours, theirs)


def test_a_guard_that_changed_is_selected_to_fail() -> None:
    theirs = CommandHandler(source=of(Scope.PROJECT, from_project=True), command="a")
    made = make(group("PreToolUse", theirs), gate=lambda handler, cwd: (SkipReason.GUARD_CHANGED, "it changed"))
    selection = made.select(at())
    assert (selection.handlers, [skip.reason for skip in selection.failing]) == ((theirs,), [SkipReason.GUARD_CHANGED])
    ((_, steps),) = explain(at(), made)
    assert (steps[-1].name, steps[-1].passed) == ("trusted", False)
    assert steps[-1].detail == "it changed; it fails closed, so the event is refused"
    outcome = asyncio.run(made.fire(at()))
    assert outcome.blocked


def test_a_guard_that_changed_does_not_switch_off_an_equal_hook_of_the_user() -> None:
    mine = CommandHandler(source=of(Scope.USER), command="a")
    theirs = CommandHandler(source=of(Scope.PROJECT, from_project=True), command="a", on_failure=OnFailure.BLOCK)
    made = make(group("PreToolUse", mine, theirs), gate=lambda handler, cwd: (SkipReason.GUARD_CHANGED, "it changed"))
    assert made.select(at()).handlers == (mine, theirs)


def test_a_model_on_an_event_that_supports_none_is_selected_to_fail() -> None:
    made = make(group("SessionStart", PromptHandler(source=of(Scope.USER), prompt="p")))
    selection = made.select(at("SessionStart"))
    assert [skip.reason for skip in selection.failing] == [SkipReason.KIND]
    ((_, steps),) = explain(at("SessionStart"), made)
    assert (steps[-1].name, steps[-1].passed) == ("kind", False)
    assert asyncio.run(made.fire(at("SessionStart"))).errors == 1


def test_a_layer_is_selected_for_what_the_layer_before_it_rewrote(tmp_path: Path) -> None:
    """Each handler has a run or a skip with the reason that held when its layer ran."""
    rewrite = (
        'printf \'%s\' \'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow",'
        '"updatedInput":{"command":"git push"}}}\''
    )
    managed = CommandHandler(source=of(Scope.MANAGED), command=rewrite)
    on_ls = command("echo ls", condition="Bash(ls)")
    on_git = command("echo git", condition="Bash(git push)")
    env = {"PATH": os.environ["PATH"]}
    host = Host(project_dir=str(tmp_path), env=env, home=str(tmp_path), config_dir=str(tmp_path))
    made = make(group("PreToolUse", managed, on_ls, on_git), executors={Kind.COMMAND: CommandExecutor(host)})
    outcome = asyncio.run(made.fire(event("PreToolUse", cwd=str(tmp_path), tool_input={"command": "ls"})))
    assert [run.handler for run in outcome.runs] == [managed, on_git]
    assert [(skip.handler, skip.reason) for skip in outcome.skips] == [(on_ls, SkipReason.CONDITION)]


@pytest.mark.req("R-366")
def test_the_gate_of_a_project_is_passed_to_an_engine_as_it_is(tmp_path: Path) -> None:
    write_settings(tmp_path, hooks_for("PreToolUse", {"type": "command", "command": "exit 2"}))
    env = {"HOME": str(tmp_path / "home"), "HOOKWRIGHT_MANAGED_SETTINGS": str(tmp_path / "none")}
    moment = event("PreToolUse", cwd=str(tmp_path))
    for policy, expected in ((TrustPolicy.STORED, [SkipReason.UNTRUSTED]), (TrustPolicy.EVERYTHING, [])):
        loaded = load_hooks(Places(project=str(tmp_path), env=env, home=str(tmp_path / "home"), trust=policy))
        made = HookEngine(loaded.hooks, host=loaded.host, executors={}, gate=loaded.gate)
        assert reasons(made, moment) == expected


# ── what is said is what happens ──

_HOLDS = (None, SkipReason.UNTRUSTED, SkipReason.CHANGED, SkipReason.GUARD_CHANGED)
_EVENTS = [
    at(name, tool_name=tool, tool_input={"command": line}, **agent)
    for name in ("PreToolUse", "PostToolUse")
    for tool in ("Bash", "Write")
    for line in ("git push", "ls")
    for agent in ({}, {"agent_id": "hook-agent-1"}, {"agent_id": "a", "agent_type": "reviewer"})
] + [*(at("SessionStart", source=word) for word in ("startup", "Bash", "Write")), at("Stop")]


@st.composite
def handlers(draw: st.DrawFn) -> tuple[str, str | None, Handler]:
    scope = draw(st.sampled_from([Scope.MANAGED, Scope.USER, Scope.PROJECT, Scope.LOCAL, Scope.PLUGIN]))
    from_project = scope in (Scope.PROJECT, Scope.LOCAL)
    component = draw(st.sampled_from([None, None, Component("skill", "s"), Component("agent", "reviewer")]))
    source = Source(
        Scope.COMPONENT if component is not None else scope,
        f"{scope.value}.json",
        draw(st.uuids()).hex,
        from_project=from_project,
        anchor=draw(st.sampled_from(["", "/p"])),
        component=component,
    )
    shared: dict[str, Any] = {
        "source": source,
        "condition": draw(st.sampled_from([None, None, "Bash(git *)", "(((", "Bash"])),
        "once": draw(st.booleans()) if component is not None else False,
    }
    name = draw(st.sampled_from("ab"))
    handler: Handler = draw(
        st.sampled_from(
            [
                CommandHandler(command=name, **shared),
                CommandHandler(command=name, is_async=True, **shared),
                HttpHandler(url=f"http://{name}", **shared),
                PromptHandler(prompt=name, **shared),
                AgentHandler(prompt=name, **shared),
            ]
        )
    )
    where = draw(st.sampled_from(["PreToolUse", "PreToolUse", "PostToolUse", "SessionStart", "Stop"]))
    return where, draw(st.sampled_from([None, "*", "Bash", "Write", "["])), handler


def _made(found: list[tuple[str, str | None, Handler]], table: dict[Source, SkipReason | None]) -> HookEngine:
    def gate(handler: Handler, cwd: str) -> Hold | None:
        reason = table[handler.source]
        return (reason, "because") if reason is not None else None

    def hold(handler: Handler) -> Hold | None:
        disabled = table[handler.source] is SkipReason.CHANGED and handler.source.scope is Scope.PLUGIN
        return (SkipReason.DISABLED, "off") if disabled else None

    return make(*(group(name, handler, matcher=matcher) for name, matcher, handler in found), gate=gate, hold=hold)


def _ran(made: HookEngine, moment: Event) -> set[Source]:
    """Fire for real; a handler that was selected to fail did not run."""
    outcome = asyncio.run(made.fire(moment))
    assert len(outcome.runs) + len(outcome.skips) == len(made.hooks.of_event(moment.event_name))
    return {run.handler.source for run in outcome.runs if not isinstance(run.reply, Failed)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(handlers(), max_size=7), st.data())
def test_what_explain_and_list_say_is_what_fire_runs(
    found: list[tuple[str, str | None, Handler]], data: st.DataObject
) -> None:
    table = {handler.source: data.draw(st.sampled_from(_HOLDS)) for _, _, handler in found}
    ever: set[Source] = set()
    for moment in _EVENTS:
        said = {entry.handler.source for entry, steps in explain(moment, _made(found, table)) if would_run(steps)}
        fired = _ran(_made(found, table), moment)
        assert said == fired
        ever |= fired
    states = _made(found, table).states()
    active = [state.entry.handler for state in states if state.off is None]
    waiting = {state.entry.handler.source for state in states if state.waits}
    assert ever - waiting <= {handler.source for handler in active}
    ran = {handler.identity for handler in active if handler.source in ever}
    assert all(handler.identity in ran for handler in active if handler.condition is None)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(handlers(), min_size=1, max_size=5), st.data())
def test_states_and_selection_follow_a_session(
    found: list[tuple[str, str | None, Handler]], data: st.DataObject
) -> None:
    """`once` included: one engine, several events, and each selection says what the next firing does."""
    table = {handler.source: data.draw(st.sampled_from(_HOLDS)) for _, _, handler in found}
    made = _made(found, table)
    for moment in data.draw(st.lists(st.sampled_from(_EVENTS), max_size=6)):
        off = {state.entry.handler.source for state in made.states() if state.off is not None and not state.waits}
        said = {entry.handler.source for entry, steps in explain(moment, made) if would_run(steps)}
        assert not said & off
        assert said == _ran(made, moment)
