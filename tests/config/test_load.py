import asyncio
import json
import os
import time
from typing import Any

import pytest

from hookwright.config import Places, TrustPolicy
from hookwright.protocol.diagnostics import CODES
from hookwright.protocol.outcome import Ending, Outcome
from hookwright.protocol.samples import sample
from hookwright.session import open_session
from worlds import World, hook, labels, runnable

SCOPES = ("managed", "user", "project", "local", "flag")


def fire(world: World, name: str = "PreToolUse", **more: Any) -> Outcome:
    """Fire one event at what the world's files say, project trusted."""

    async def run() -> Outcome:
        env = {"PATH": os.environ["PATH"], "HOME": str(world.home), **world.env}
        places = Places(project=str(world.project), env=env, home=str(world.home), trust=TrustPolicy.EVERYTHING, **more)
        async with open_session(places) as session:
            return await session.fire(sample(name, cwd=str(world.project)))

    return asyncio.run(run())


@pytest.mark.req("R-012", "R-013")
def test_the_same_event_in_five_scopes_runs_five(world: World) -> None:
    for scope in SCOPES[:4]:
        world.write(scope, hook(f"touch {scope}.txt"))
    flag = world.write("flag.json", hook("touch flag.txt"))
    outcome = fire(world, settings=(str(flag),))
    assert [run.handler.label for run in outcome.runs] == [f"touch {scope}.txt" for scope in SCOPES]
    assert all((world.project / f"{scope}.txt").exists() for scope in SCOPES)


@pytest.mark.req("R-023", "R-365")
def test_managed_hooks_run_on_when_the_user_disables_all(world: World) -> None:
    world.write("user", {"disableAllHooks": True, **hook("touch user.txt")})
    world.write("managed", hook("touch managed.txt"))
    assert [run.handler.label for run in fire(world).runs] == ["touch managed.txt"]
    assert not (world.project / "user.txt").exists()


@pytest.mark.req("R-026")
def test_a_missing_command_is_dropped_and_an_empty_one_is_an_error_on_run(world: World) -> None:
    entries = [{"type": "command"}, {"type": "command", "command": ""}, {"type": "command", "command": "true"}]
    world.write("user", {"hooks": {"PreToolUse": [{"hooks": entries}]}})
    outcome = fire(world)
    assert [(run.handler.label, run.verdict.ending) for run in outcome.runs] == [
        ("", Ending.ERROR),
        ("true", Ending.SUCCESS),
    ]
    reports = world.load().diagnostics
    assert [report.code for report in reports] == ["missing-field", "empty-command"]
    assert all(
        "hooks.PreToolUse" in str(report) and "settings.json" in str(report) for report in world.load().diagnostics
    )


@pytest.mark.req("R-030")
def test_a_prompt_on_session_start_is_reported_and_not_run(world: World) -> None:
    world.write("user", {"hooks": {"SessionStart": [{"hooks": [{"type": "prompt", "prompt": "p"}]}]}})
    assert [report.code for report in world.load().diagnostics] == ["unsupported-kind"]
    assert fire(world, "SessionStart").errors == 1


@pytest.mark.req("R-031")
def test_bad_types_beside_a_good_one(world: World) -> None:
    entries = [{"type": "callback"}, {"type": "foo"}, {"type": "command", "command": "touch ran.txt"}]
    world.write("user", {"hooks": {"PreToolUse": [{"hooks": entries}]}})
    assert [run.handler.label for run in fire(world).runs] == ["touch ran.txt"]
    assert (world.project / "ran.txt").exists()


@pytest.mark.req("R-033")
@pytest.mark.parametrize("text", ['{ "hooks": ', "{ // c\n}", "", "\x00", '{"a": 1,}'])
def test_a_broken_file_is_reported_and_the_others_load(world: World, text: str) -> None:
    world.write("project", text)
    world.write("user", hook("user"))
    loaded = world.load()
    assert runnable(loaded) == ["user"]
    assert loaded.diagnostics
    assert all(str(report).startswith(".claude/settings.json:") for report in loaded.diagnostics)
    assert {report.code for report in loaded.diagnostics} <= {"invalid-json", "json-extras"}


def test_paths_are_shown_as_the_user_would_type_them(world: World) -> None:
    world.write("user", {"model": 1})
    world.write("project", {"model": 1})
    inside, outside = (
        [report.source.path for report in world.load(cwd=str(place)).diagnostics if report.source]
        for place in (world.project, world.root)
    )
    assert inside == [str(world.home / ".claude" / "settings.json"), ".claude/settings.json"]
    assert outside == ["home/.claude/settings.json", "project/.claude/settings.json"]


def test_every_code_is_in_the_catalogue(world: World) -> None:
    world.write("project", {"hooks": {"X": 1, "Stop": [1, {"hooks": [{}]}]}, "env": 5, "enabledPlugins": {"a@b": True}})
    loaded = world.load(trust=TrustPolicy.STORED)
    assert {report.code for report in loaded.diagnostics} <= CODES.keys()
    assert len(loaded.diagnostics) >= 6


def test_nothing_configured_is_nothing_wrong(world: World) -> None:
    loaded = world.load(trust=None)
    assert len(loaded.hooks) == 0
    assert loaded.diagnostics == ()
    assert loaded.project_dir == str(world.project)


def test_a_thousand_handlers_load_quickly(world: World) -> None:
    entries = [
        {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": f"echo {number}", "timeout": 5}]}
        for number in range(1000)
    ]
    world.write("user", json.dumps({"hooks": {"PostToolUse": entries}}, indent=2))
    started = time.perf_counter()
    loaded = world.load()
    assert time.perf_counter() - started < 5
    assert len(labels(loaded)) == 1000
    assert [entry.handler.source.line for entry in loaded.hooks][:2] == [7, 17]


@pytest.mark.parametrize("size", [1024 * 1024 + 1, 20_000_000])
def test_a_file_that_would_take_long_is_ignored_and_reported(world: World, size: int) -> None:
    world.write("project", "[" + "1," * (size // 2) + "1]")
    started = time.process_time()
    loaded = world.load()
    assert time.process_time() - started < 1
    assert [(note.code, "the limit is 1,048,576" in note.message) for note in loaded.diagnostics] == [
        ("unreadable-file", True)
    ]
