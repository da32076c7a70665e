"""Shadow mode: a hook runs, is recorded as what it would have decided, and has no effect."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from command_line import Shell
from hookwright.aggregate import aggregate, guards, in_shadow
from hookwright.cli.history.shadows import shadow_counts
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.interpret import interpret_late
from hookwright.protocol.handlers import Mode
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import NO_OPINION, Allow, Ask, Block, Deny, Ending, EndTurn, Outcome, Verdict
from hookwright.protocol.replies import Exited, Failed, Failure
from hookwright.session import fire_sync
from support import command, event, hooks_for, run_of, script
from worlds import World, hook

DENY = """#!/bin/sh
cat > /dev/null
echo "not today" >&2
exit 2
"""

_VERDICTS = some.builds(
    Verdict,
    ending=some.sampled_from(list(Ending)),
    decision=some.sampled_from([NO_OPINION, Allow("a"), Ask("q"), Deny("no"), Block("no")]),
    stop=some.sampled_from([None, EndTurn("enough")]),
    context=some.sampled_from([None, "context"]),
    plain=some.sampled_from([None, "plain"]),
    system_message=some.sampled_from([None, "message"]),
    updated_input=some.sampled_from([None, {"command": "ls"}]),
    updated_output=some.sampled_from([None, "output"]),
    fields=some.sampled_from([{}, {"retry": True}]),
)


@given(
    some.sampled_from(["PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit", "PermissionRequest"]),
    some.lists(some.tuples(some.booleans(), _VERDICTS), max_size=5),
)
def test_an_outcome_with_shadows_is_that_without_them(name: str, pairs: list[tuple[bool, Verdict]]) -> None:
    runs = [run_of(verdict, number) for number, (_, verdict) in enumerate(pairs)]
    mixed = [in_shadow(run) if shadow else run for (shadow, _), run in zip(pairs, runs, strict=True)]
    rest = [run for (shadow, _), run in zip(pairs, runs, strict=True) if not shadow]
    outcome, without = aggregate(event(name), mixed), aggregate(event(name), rest)
    assert msgspec.structs.replace(outcome, runs=()) == msgspec.structs.replace(without, runs=())
    assert outcome.errors == without.errors
    assert [run.would for run in mixed if run.would is not None] == [verdict for shadow, verdict in pairs if shadow]


def test_a_guard_that_was_trusted_to_fail_closed_and_changed_still_refuses() -> None:
    refusal = Verdict(ending=Ending.BLOCKING, decision=Deny("changed"))
    run = msgspec.structs.replace(run_of(refusal), reply=Failed(Failure.GUARD, "changed"))
    assert in_shadow(run) == run


def test_a_background_hook_in_shadow_says_nothing_later() -> None:
    handler = command(async_rewake=True, mode=Mode.SHADOW)
    job = Job(handler, event("PreToolUse"), b"", 0, "run", None)
    said = json.dumps({"systemMessage": "hello"}).encode()
    late = interpret_late("id", job, Exited(2, said, b"wake up"))
    assert (late.context, late.system_message, late.rewake) == (None, None, None)


def test_no_input_waits_for_a_shadow() -> None:
    assert guards(command())
    assert not guards(command(mode=Mode.SHADOW))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def fired(world: World, **more: Any) -> Outcome:
    places = Places(
        project=str(world.project),
        env={**world.env, "PATH": os.environ["PATH"]},
        home=str(world.home),
        trust=TrustPolicy.EVERYTHING,
        **more,
    )
    return fire_sync(event("PreToolUse", cwd=str(world.project)), places)


def test_a_copy_in_shadow_never_replaces_a_guard(world: World) -> None:
    deny = str(script(world.root / "deny.sh", DENY))
    world.write("user", hook(deny, mode="shadow"))
    world.write("project", hook(deny))
    runs = fired(world).runs
    assert [(run.handler.shadow, run.would_refuse) for run in runs] == [(True, True), (False, False)]
    assert isinstance(runs[1].verdict.decision, Deny)


def test_every_hook_of_a_shadow_file_is_in_shadow_and_its_other_settings_have_no_effect(world: World) -> None:
    deny = str(script(world.root / "deny.sh", DENY))
    file = world.write("try.json", {**hook(deny), "disableAllHooks": True, "env": {"X": "1"}})
    outcome = fired(world, shadow=(str(file),))
    assert not outcome.blocked
    assert [run.would_refuse for run in outcome.runs] == [True]
    loaded = world.load(shadow=(str(file),))
    assert loaded.settings.disable_all_hooks is None
    assert "X" not in loaded.settings.env
    assert not list(world.load(shadow=(str(file),), managed_only=True).hooks)


def test_a_mode_that_is_not_one_is_reported(world: World) -> None:
    world.write("project", hook("true", mode="shadows"))
    assert any("shadow" in diagnostic.message for diagnostic in world.load().diagnostics)


def test_what_was_trusted_before_there_were_modes_still_is(world: World) -> None:
    world.write("project", hook("true"))
    ((item, _),) = [pair for pair in world.load().gate.items() if pair[0].label == "true"]
    assert "mode" not in json.loads(item.entry)
    world.write("project", hook("true", mode="shadow"))
    ((changed, _),) = [pair for pair in world.load().gate.items() if pair[0].label == "true"]
    assert json.loads(changed.entry)["mode"] == "shadow"
    assert changed.digest != item.digest


# ── commands ────────────────────────────────────────────────────────────────


def test_fire_list_explain_trace_and_stats_show_a_shadow_as_one(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    deny = str(script(tmp_path / "deny.sh", DENY))
    file = tmp_path / "try.json"
    file.write_text(json.dumps(hooks_for("PreToolUse", {"type": "command", "command": deny}, matcher="Bash")))
    call = ("--set", "tool_use_id=t1", "--shadow", str(file))
    shown = shell("fire", "PreToolUse", "--tool", "Bash", *call)
    assert shown.returncode == 0, shown.stderr
    assert "in shadow mode, no effect; it would have refused: " in shown.stdout
    assert "PROCEED, no hook checked this, apart from those in shadow mode" in shown.stdout
    shell("fire", "PostToolUse", "--tool", "Bash", "--set", "tool_use_id=t1")
    record = json.loads(shell("trace", "--json").stdout.splitlines()[0])
    assert (record["shadow"], record["would"], record["decision"]) == (True, "deny", None)
    (row,) = json.loads(shell("stats", "--json").stdout)["shadow"]
    assert (row["runs"], row["would_refuse"], row["succeeded"], row["unknown"]) == (1, 1, 1, 0)
    text = shell("stats").stdout
    assert "would have refused 1 of 1 run" in text
    listed = shell(
        "list",
        "--settings",
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "mode": "shadow"}]}]}}),
    )
    assert "shadow: decides nothing" in listed.stdout
    told = shell(
        "explain",
        "Stop",
        "--settings",
        json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "mode": "shadow"}]}]}}),
    )
    assert "in shadow mode: what it says has no effect" in told.stdout


def _record(**more: Any) -> dict[str, Any]:
    return {"kind": "run", "shadow": True, "event": "PreToolUse", "handler": "h", "source": "s", **more}


def test_refusals_in_shadow_are_counted_by_what_happened() -> None:
    records = [
        _record(fire="1", call="a", would="deny"),
        {"kind": "event", "event": "PreToolUse", "fire": "1", "call": "a", "blocked": True},
        _record(fire="2", call="b", would="deny"),
        {"kind": "event", "event": "PostToolUseFailure", "fire": "9", "call": "b"},
        _record(fire="3", call="c", would="block"),
        _record(fire="4", call="d", would="none"),
        _record(fire="5", call="e", would="none", ending="cancelled"),
        {"kind": "run", "event": "PreToolUse", "handler": "h", "source": "s", "decision": "deny"},
    ]
    (row,) = shadow_counts(records)
    assert (row.runs, row.would_refuse, row.failed) == (5, 3, 1)
    assert (row.refused_anyway, row.succeeded, row.failed_then, row.unknown) == (1, 0, 1, 1)
