"""Shadow mode: a hook runs, is recorded as what it would have decided, and has no effect."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from command_line import Shell
from hookwright.cli.history.shadows import shadow_counts
from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.protocol.outcome import Deny, Outcome
from hookwright.session import fire_sync
from support import event, hooks_for, script
from worlds import World, hook

DENY = """#!/bin/sh
cat > /dev/null
echo "not today" >&2
exit 2
"""


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
    (row,) = json.loads(shell("stats", "--json", "--event", "PreToolUse", "--handler", "deny").stdout)["shadow"]
    assert row["succeeded"] == 1
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


def test_a_session_with_a_shadow_file_runs_as_without_it(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    deny = str(script(tmp_path / "deny.sh", DENY))
    file = tmp_path / "try.json"
    file.write_text(json.dumps(hooks_for("PreToolUse", {"type": "command", "command": deny}, matcher="Bash")))
    call = {"tool": "Bash", "input": {"command": "mkdir fresh", "description": "Make a folder"}}
    (tmp_path / "model.json").write_text(json.dumps([[call], [{"text": "done"}]]))
    options = ("--script", str(tmp_path / "model.json"), "--allowedTools", "Bash(mkdir *)")
    done = shell("run", "-p", "Make a folder", *options, "--shadow", str(file))
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
    assert (shell.project / "fresh").is_dir()
    assert "not today" not in done.stderr
    (row,) = json.loads(shell("stats", "--json").stdout)["shadow"]
    assert (row["would_refuse"], row["succeeded"]) == (1, 1)
