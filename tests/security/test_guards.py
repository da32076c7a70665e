"""Guards protect themselves: an edit of a trusted hook, its script or its settings is noticed before the next run."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookwright.config import Places
from hookwright.config.review import accept, review
from hookwright.protocol.events import Event
from hookwright.protocol.outcome import Allow, Deny, NoOpinion, Outcome
from hookwright.session import HookSession, open_session
from support import event, script
from worlds import World

DENYING = "echo no >&2; exit 2"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def places(world: World) -> Places:
    env = {"PATH": os.environ["PATH"], "HOME": str(world.home), **world.env}
    return Places(project=str(world.project), env=env, home=str(world.home))


def guard(world: World, **fields: Any) -> Path:
    """Write a guard of the project whose script lies outside of `.claude`, and trust it."""
    path = script(world.project / "tools" / "guard.sh", DENYING)
    entry = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/tools/guard.sh', **fields}
    world.write("project", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}]}})
    trust(world)
    return path


def trust(world: World) -> None:
    loaded = world.load(trust=None)
    accept(loaded.gate.store, loaded.project_dir, review(loaded).pending)


def call(world: World) -> Event:
    return event("PreToolUse", cwd=str(world.project))


def fire_twice(world: World, between: Any) -> tuple[Outcome, Outcome, list[str]]:
    """Fire, let somebody work, and fire again in the same session."""

    async def main() -> tuple[Outcome, Outcome, list[str]]:
        async with open_session(places(world)) as session:
            first = await session.fire(call(world))
            between(session)
            second = await session.fire(call(world))
            return first, second, [f"{note.code}: {note.message}" for note in session.notices]

    return asyncio.run(main())


def edit(path: Path) -> Any:
    return lambda _: path.write_text("#!/bin/sh\nexit 0\n")


@pytest.mark.req("R-367")
def test_a_changed_guard_does_not_run_and_is_named(world: World) -> None:
    path = guard(world)
    first, second, _ = fire_twice(world, edit(path))
    assert isinstance(first.decision, Deny)
    assert isinstance(second.decision, NoOpinion)
    assert [(skip.reason.value, "tools/guard.sh changed" in skip.detail) for skip in second.skips] == [
        ("changed since trusted", True)
    ]


def test_a_changed_guard_that_fails_closed_refuses(world: World) -> None:
    path = guard(world, onFailure="block")
    first, second, _ = fire_twice(world, edit(path))
    assert isinstance(first.decision, Deny)
    assert isinstance(second.decision, Deny)
    assert "tools/guard.sh changed after it was trusted" in second.decision.reason
    assert [note.code for note in second.diagnostics] == ["changed-since-trusted"]


def test_its_entry_cannot_be_weakened_either(world: World) -> None:
    guard(world, onFailure="block")

    def weaken(_: HookSession) -> None:
        world.write("project", {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}})

    _, second, notices = fire_twice(world, weaken)
    assert isinstance(second.decision, Deny)
    assert any(notice.startswith("reloaded") for notice in notices)


def test_a_hook_that_was_never_trusted_can_refuse_nothing(world: World) -> None:
    entry = {"type": "command", "command": "exit 2", "onFailure": "block"}
    world.write("project", {"hooks": {"PreToolUse": [{"hooks": [entry]}]}})

    async def main() -> Outcome:
        async with open_session(places(world)) as session:
            return await session.fire(call(world))

    outcome = asyncio.run(main())
    assert isinstance(outcome.decision, NoOpinion)
    assert [skip.reason.value for skip in outcome.skips] == ["untrusted"]


def test_a_trusted_guard_that_is_taken_away_is_told(world: World) -> None:
    guard(world)
    _, second, notices = fire_twice(world, lambda _: world.write("project", {"hooks": {}}))
    assert isinstance(second.decision, NoOpinion)
    assert any("removed: " in notice and "tools/guard.sh" in notice for notice in notices), notices


def test_a_slow_layer_before_it_leaves_no_time_to_swap_a_script(world: World) -> None:
    """The managed layer runs first; what changes meanwhile is looked at again right before the project's layer."""
    path = guard(world)
    swap = f"cp /bin/true {path}; sleep 0.05"
    world.write("managed", {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": swap}]}]}})

    async def main() -> Outcome:
        async with open_session(places(world)) as session:
            return await session.fire(call(world))

    outcome = asyncio.run(main())
    theirs = outcome.runs[1]
    assert (theirs.label, theirs.verdict.diagnostics[0].code) == ("error", "changed-since-trusted")


def test_an_allow_of_a_changed_hook_does_not_count(world: World) -> None:
    path = script(world.project / "allow.sh", "true")
    answer = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
    world.write("project", {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./allow.sh"}]}]}})
    trust(world)
    first, second, _ = fire_twice(world, lambda _: path.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\n"))
    assert not isinstance(first.decision, Allow)
    assert not isinstance(second.decision, Allow)
