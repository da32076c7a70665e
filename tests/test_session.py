"""A session: hooks from files, live reload, trust, components, env files."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookwright import (
    Deny,
    Hooks,
    HookwrightError,
    InvalidEvent,
    Notification,
    Outcome,
    Places,
    Powers,
    PreToolUse,
    fire_sync,
    open_session,
)
from hookwright.config import TrustPolicy, accept, review
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import CommandHandler, Kind, MatcherGroup
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import SkipReason
from hookwright.protocol.replies import Exited, Judged, Reply
from hookwright.protocol.sources import Component, Scope, Source
from hookwright.session import HookSession
from hookwright.visibility import Reader, for_reader
from support import event, hooks_for, script, settings


def where(folder: Path, **changes: Any) -> Places:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "HOOKWRIGHT_MANAGED_SETTINGS": str(folder / "managed.json"),
    }
    return Places(**{"project": str(folder), "env": env, "trust": TrustPolicy.EVERYTHING, **changes})


def in_session(folder: Path, body: Callable[[HookSession], Awaitable[Any]], **changes: Any) -> Any:
    options = {
        name: changes.pop(name) for name in ("hooks", "frozen", "journal", "powers", "executors") if name in changes
    }

    async def main() -> Any:
        async with open_session(where(folder, **changes), **options) as session:
            return await body(session)

    return asyncio.run(main())


def pre(folder: Path, **changes: Any) -> Any:
    return event("PreToolUse", cwd=str(folder), transcript_path=str(folder / "t.jsonl"), **changes)


def guard(text: str = "exit 2") -> dict[str, Any]:
    return hooks_for("PreToolUse", {"type": "command", "command": text})


@pytest.mark.req("R-001", "R-004", "R-005", "R-006", "R-008", "R-012")
def test_hooks_of_every_scope_run(tmp_path: Path) -> None:
    def said(word: str) -> dict[str, Any]:
        return guard(f"echo {word} >> fired")

    settings(tmp_path / "home", said("user"))
    settings(tmp_path, said("project"))
    settings(tmp_path, said("local"), "settings.local.json")
    (tmp_path / "managed.json").write_text(json.dumps(said("managed")))
    in_session(tmp_path, lambda s: s.fire(pre(tmp_path)), settings=(json.dumps(said("flag")),))
    fired = (tmp_path / "fired").read_text().split()
    assert fired[0] == "managed"
    assert sorted(fired) == ["flag", "local", "managed", "project", "user"]


@pytest.mark.req("R-361", "R-362")
def test_an_edit_counts_from_the_next_event_and_is_announced(tmp_path: Path) -> None:
    settings(tmp_path, guard("true"))

    async def body(session: HookSession) -> tuple[bool, bool, list[str]]:
        before = (await session.fire(pre(tmp_path))).blocked
        settings(tmp_path, guard("exit 2"))
        after = (await session.fire(pre(tmp_path))).blocked
        return before, after, [notice.code for notice in session.notices]

    assert in_session(tmp_path, body) == (False, True, ["reloaded"])


def test_a_new_and_a_deleted_file_are_noticed(tmp_path: Path) -> None:
    async def body(session: HookSession) -> list[bool]:
        seen = [(await session.fire(pre(tmp_path))).blocked]
        path = settings(tmp_path, guard("exit 2"), "settings.local.json")
        seen.append((await session.fire(pre(tmp_path))).blocked)
        path.unlink()
        seen.append((await session.fire(pre(tmp_path))).blocked)
        return seen

    assert in_session(tmp_path, body) == [False, True, False]


@pytest.mark.req("R-363")
def test_a_frozen_session_keeps_its_snapshot(tmp_path: Path) -> None:
    settings(tmp_path, guard("true"))

    async def body(session: HookSession) -> bool:
        settings(tmp_path, guard("exit 2"))
        return (await session.fire(pre(tmp_path))).blocked

    assert in_session(tmp_path, body, frozen=True) is False


def test_a_broken_edit_keeps_the_last_good_hooks_and_says_so(tmp_path: Path) -> None:
    settings(tmp_path, guard("exit 2"))

    async def body(session: HookSession) -> tuple[bool, str, bool]:
        settings(tmp_path, "{ broken")
        kept = (await session.fire(pre(tmp_path))).blocked
        code = session.notices[0].code
        settings(tmp_path, guard("true"))
        return kept, code, (await session.fire(pre(tmp_path))).blocked

    assert in_session(tmp_path, body) == (True, "reload-kept", False)


@pytest.mark.req("R-082", "R-083", "R-214")
def test_a_config_change_hook_may_block_the_change(tmp_path: Path) -> None:
    watch = {"ConfigChange": [{"hooks": [{"type": "command", "command": "cat >> changes; exit 2"}]}]}
    settings(tmp_path, {"hooks": {**guard("true")["hooks"], **watch}})

    async def body(session: HookSession) -> bool:
        settings(tmp_path, guard("exit 2"))
        blocked = (await session.fire(pre(tmp_path))).blocked
        await session.fire(pre(tmp_path))
        return blocked

    assert in_session(tmp_path, body) is False
    (line,) = (tmp_path / "changes").read_text().splitlines()
    seen = json.loads(line)
    assert (seen["source"], seen["file_path"]) == ("project_settings", str(tmp_path / ".claude" / "settings.json"))


@pytest.mark.req("R-366", "R-367", "R-358")
def test_changed_project_hooks_need_trust_again(tmp_path: Path) -> None:
    script(tmp_path / ".claude" / "hooks" / "g.sh", "exit 2")
    settings(tmp_path, guard('"$CLAUDE_PROJECT_DIR"/.claude/hooks/g.sh'))

    async def body(session: HookSession) -> list[Any]:
        seen: list[Any] = []

        async def look() -> None:
            outcome: Outcome = await session.fire(pre(tmp_path))
            seen.append((outcome.blocked, [skip.reason for skip in outcome.skips]))

        def trust() -> None:
            found = review(session.loaded)
            accept(session.loaded.gate.store, session.loaded.project_dir, found.pending)

        await look()
        trust()
        await look()
        script(tmp_path / ".claude" / "hooks" / "g.sh", "exit 0")
        await look()
        trust()
        await look()
        settings(tmp_path, guard('"$CLAUDE_PROJECT_DIR"/.claude/hooks/g.sh; exit 2'))
        await look()
        return seen

    assert in_session(tmp_path, body, trust=TrustPolicy.STORED, state_dir=str(tmp_path / "state")) == [
        (False, [SkipReason.UNTRUSTED]),
        (True, []),
        (False, [SkipReason.CHANGED]),
        (False, []),
        (False, [SkipReason.CHANGED]),
    ]


@pytest.mark.req("R-366", "R-023")
def test_nothing_in_an_untrusted_project_takes_effect(tmp_path: Path) -> None:
    settings(tmp_path / "home", guard("env > seen; exit 2"))
    settings(tmp_path, {"disableAllHooks": True, "env": {"EVIL": "1"}, **guard("touch evil")})
    outcome = in_session(
        tmp_path, lambda s: s.fire(pre(tmp_path)), trust=TrustPolicy.STORED, state_dir=str(tmp_path / "state")
    )
    assert outcome.blocked
    assert not (tmp_path / "evil").exists()
    assert "EVIL" not in (tmp_path / "seen").read_text()


@pytest.mark.req("R-365", "R-023")
def test_user_settings_cannot_switch_managed_hooks_off(tmp_path: Path) -> None:
    settings(tmp_path / "home", {"disableAllHooks": True, **guard("touch user")})
    (tmp_path / "managed.json").write_text(json.dumps(guard("exit 2")))
    outcome = in_session(tmp_path, lambda s: s.fire(pre(tmp_path)))
    assert outcome.blocked
    assert not (tmp_path / "user").exists()
    (tmp_path / "managed.json").write_text(json.dumps({"disableAllHooks": True, **guard("exit 2")}))
    assert not in_session(tmp_path, lambda s: s.fire(pre(tmp_path))).blocked


@pytest.mark.req("R-353")
def test_component_hooks_hold_while_active(tmp_path: Path) -> None:
    component = Component("skill", "s")
    handler = CommandHandler(source=Source(Scope.COMPONENT, "SKILL.md", "x", component=component), command="exit 2")

    async def body(session: HookSession) -> list[bool]:
        seen = [(await session.fire(pre(tmp_path))).blocked]
        session.activate([MatcherGroup("PreToolUse", None, (handler,))])
        seen.append((await session.fire(pre(tmp_path))).blocked)
        session.deactivate(component)
        seen.append((await session.fire(pre(tmp_path))).blocked)
        return seen

    assert in_session(tmp_path, body) == [False, True, False]


@pytest.mark.req("R-022")
def test_once_ends_after_the_first_successful_run(tmp_path: Path) -> None:
    component = Component("skill", "s")
    body_text = "echo x >> ran; [ $(wc -l < ran) -ge 2 ]"
    handler = CommandHandler(
        source=Source(Scope.COMPONENT, "SKILL.md", "x", component=component), command=body_text, once=True
    )

    async def body(session: HookSession) -> list[Any]:
        session.activate([MatcherGroup("PreToolUse", None, (handler,))])
        outcomes = [await session.fire(pre(tmp_path)) for _ in range(4)]
        return [(len(o.runs), [s.reason for s in o.skips]) for o in outcomes]

    once = [SkipReason.ONCE]
    assert in_session(tmp_path, body) == [(1, []), (1, []), (0, once), (0, once)]


@pytest.mark.req("R-308", "R-309", "R-310")
def test_env_files_are_listed_in_hook_order(tmp_path: Path) -> None:
    value = hooks_for(
        "SessionStart",
        {"type": "command", "command": 'echo "export A=1" >> "$CLAUDE_ENV_FILE"'},
        {"type": "command", "command": "true"},
        {"type": "command", "command": 'echo "export A=2" >> "$CLAUDE_ENV_FILE"'},
    )
    settings(tmp_path, value)

    async def body(session: HookSession) -> list[str]:
        await session.fire(event("SessionStart", cwd=str(tmp_path)))
        return [Path(path).read_text() for _, path in session.env_files()]

    assert in_session(tmp_path, body) == ["export A=1\n", "export A=2\n"]


@pytest.mark.req("R-011")
def test_hooks_of_a_program_run_beside_those_of_files(tmp_path: Path) -> None:
    settings(tmp_path, guard("touch file-hook"))
    hooks = Hooks()

    @hooks.on(PreToolUse, "Bash")
    async def no(moment: PreToolUse) -> Deny:
        return Deny(f"not {moment.tool_input['command']}")

    outcome = in_session(tmp_path, lambda s: s.fire(pre(tmp_path, tool_input={"command": "ls"})), hooks=hooks)
    assert outcome.reason == "not ls"
    assert (tmp_path / "file-hook").exists()


@pytest.mark.req("R-109")
def test_settings_env_is_part_of_the_environment(tmp_path: Path) -> None:
    settings(tmp_path, {"env": {"FROM_SETTINGS": "yes"}, **guard("echo $FROM_SETTINGS > out")})
    in_session(tmp_path, lambda s: s.fire(pre(tmp_path)))
    assert (tmp_path / "out").read_text() == "yes\n"


@pytest.mark.parametrize("attended", [True, False])
def test_hooks_read_whether_a_person_is_there(attended: bool, tmp_path: Path) -> None:
    settings(tmp_path, guard("echo $CLAUDE_CODE_SESSION_ATTENDED > out"))
    in_session(tmp_path, lambda s: s.fire(pre(tmp_path)), powers=Powers(attended=attended))
    assert (tmp_path / "out").read_text() == f"{attended:d}\n"


def test_fire_sync_works_in_a_plain_script(tmp_path: Path) -> None:
    settings(
        tmp_path,
        hooks_for(
            "PreToolUse",
            {"type": "command", "command": "exit 2"},
            {"type": "command", "command": "sleep 0.2; touch late", "async": True},
        ),
    )
    assert fire_sync(pre(tmp_path), where(tmp_path)).blocked
    assert (tmp_path / "late").exists()


@pytest.mark.req("R-151")
def test_calls_of_a_hooks_own_agent_ask_no_model(tmp_path: Path) -> None:
    settings(tmp_path, hooks_for("PreToolUse", {"type": "prompt", "prompt": "p"}, {"type": "agent", "prompt": "a"}))
    outcome = in_session(tmp_path, lambda s: s.fire(pre(tmp_path, agent_id="hook-agent-1")))
    assert (outcome.runs, [skip.reason for skip in outcome.skips]) == ((), [SkipReason.RECURSION] * 2)


@pytest.mark.req("R-366", "R-015")
@pytest.mark.parametrize("extra", [{}, {"onFailure": "block"}, {"timeout": 1}])
def test_an_untrusted_copy_never_stands_in_for_a_users_guard(extra: dict[str, Any], tmp_path: Path) -> None:
    settings(tmp_path / "home", guard("exit 2"))
    settings(tmp_path, hooks_for("PreToolUse", {"type": "command", "command": "exit 2", **extra}))
    stored = {"trust": TrustPolicy.STORED, "state_dir": str(tmp_path / "state")}
    outcome = in_session(tmp_path, lambda s: s.fire(pre(tmp_path)), **stored)
    assert outcome.blocked
    assert [skip.reason for skip in outcome.skips] == [SkipReason.UNTRUSTED]


# ── what the host runs itself ───────────────────────────────────────────────


@pytest.mark.req("R-133")
def test_a_host_answers_prompt_hooks_without_a_model(tmp_path: Path) -> None:
    prompts = [{"type": "prompt", "prompt": "judge this: $ARGUMENTS"}, {"type": "prompt", "prompt": "ask the model"}]
    settings(tmp_path, {"hooks": {"PreToolUse": [{"hooks": prompts}]}})
    asked: list[str] = []

    async def judge(prompt: str, fired: Event) -> Judged | None:
        asked.append(f"{fired.event_name}: {prompt[:10]}")
        return Judged(False, "not today") if prompt.startswith("judge") else None

    outcome: Outcome = in_session(tmp_path, lambda s: s.fire(pre(tmp_path)), powers=Powers(judge=judge))
    assert sorted(asked) == ["PreToolUse: ask the mo", "PreToolUse: judge this"]
    assert "not today" in str(outcome.reason)
    first, second = outcome.runs
    assert isinstance(first.reply, Judged)
    # Without a model the other hook fails, and says what to set.
    assert second.verdict.error == (
        "no model is configured; set ANTHROPIC_API_KEY (or OPENAI_API_KEY), or pass Powers(model=...)"
    )


@pytest.mark.req("R-131")
def test_a_missing_model_is_a_failure_of_every_hook_and_one_notice(tmp_path: Path) -> None:
    kinds = [{"type": "prompt", "prompt": "a"}, {"type": "prompt", "prompt": "b"}, {"type": "agent", "prompt": "c"}]
    settings(tmp_path, {"hooks": {"PreToolUse": [{"hooks": kinds}]}})
    outcome: Outcome = in_session(tmp_path, lambda s: s.fire(pre(tmp_path)))
    missing = "no model is configured; set ANTHROPIC_API_KEY (or OPENAI_API_KEY), or pass Powers(model=...)"
    assert [run.verdict.error for run in outcome.runs] == [missing] * 3
    notice = f"PreToolUse:Bash hook error: {missing}"
    assert [message.text for message in for_reader(outcome, Reader.USER)] == [notice]
    assert [message.text for message in for_reader(outcome, Reader.VERBOSE)] == [notice] * 2


def test_a_host_replaces_the_executor_of_one_kind(tmp_path: Path) -> None:
    kinds = [{"type": "command", "command": "touch ran"}, {"type": "prompt", "prompt": "fine?"}]
    settings(tmp_path, {"hooks": {"PreToolUse": [{"hooks": kinds}]}})
    seen: list[str] = []

    async def mine(job: Job) -> Reply:
        seen.append(job.handler.label)
        return Exited(2, b"", b"my own runner says no", None, 0, b"")

    async def body(session: HookSession) -> tuple[Outcome, Outcome]:
        first = await session.fire(pre(tmp_path))
        session.reload()
        return first, await session.fire(pre(tmp_path))

    async def judge(prompt: str, fired: Event) -> Judged | None:
        return Judged(True, "fine")

    both = in_session(tmp_path, body, executors={Kind.COMMAND: mine}, powers=Powers(judge=judge))
    assert seen == ["touch ran", "touch ran"]
    assert all("my own runner says no" in outcome.reason for outcome in both)
    assert all(isinstance(outcome.runs[1].reply, Judged) for outcome in both)
    assert not (tmp_path / "ran").exists()


def test_a_session_fills_in_what_its_events_share(tmp_path: Path) -> None:
    async def body(session: HookSession) -> None:
        assert not (await session.fire(PreToolUse, tool_name="Bash", tool_input={"command": "ls"})).blocked
        seen = json.loads((tmp_path / "seen.json").read_text())
        shared = {"session_id": "s-1", "transcript_path": "/tmp/s-1.jsonl", "cwd": str(tmp_path)}
        assert {key: seen[key] for key in shared} == shared
        assert (seen["tool_name"], seen["tool_input"]) == ("Bash", {"command": "ls"})
        assert seen["tool_use_id"].startswith("toolu_")
        one, two = (session.event(PreToolUse, tool_name="Bash", tool_input={}) for _ in range(2))
        assert one.tool_use_id != two.tool_use_id
        assert session.event(Notification, message="m", notification_type="n", cwd="/x").cwd == "/x"

    settings(tmp_path, guard("cat > seen.json"))

    async def main() -> None:
        async with open_session(where(tmp_path), session_id="s-1", transcript_path="/tmp/s-1.jsonl") as session:
            await body(session)
        async with open_session(where(tmp_path)) as one, open_session(where(tmp_path)) as two:
            assert one.identity.session_id != two.identity.session_id

    asyncio.run(main())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tool_nam": "Bash"}, "PreToolUse has no field `tool_nam`. Did you mean `tool_name`?"),
        ({"tool_name": "Bash"}, "PreToolUse: Object missing required field `tool_input`"),
        ({"tool_name": 1, "tool_input": {}}, "PreToolUse: Expected `str`, got `int` - at `tool_name`"),
    ],
)
def test_a_wrong_field_of_an_event_is_an_error(fields: dict[str, Any], said: str, tmp_path: Path) -> None:
    async def body(session: HookSession) -> None:
        with pytest.raises(InvalidEvent) as caught:
            await session.fire(PreToolUse, **fields)
        assert str(caught.value) == said

    in_session(tmp_path, body)
    with pytest.raises(InvalidEvent, match="PreToolUse is complete; pass the class to give fields: tool_name"):
        fire_sync(pre(tmp_path), where(tmp_path), tool_name="Bash")


def test_fire_sync_builds_the_event_of_a_class(tmp_path: Path) -> None:
    settings(tmp_path, guard('grep -q \'"command":"rm"\' && exit 2; exit 0'))
    places = where(tmp_path)
    assert fire_sync(PreToolUse, places, tool_name="Bash", tool_input={"command": "rm"}).blocked
    assert not fire_sync(PreToolUse, places, tool_name="Bash", tool_input={"command": "ls"}).blocked


def test_fire_sync_inside_a_loop_says_what_to_use(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(HookwrightError, match=r"Write: async with open_session\(…\) as session: outcome = await"):
            fire_sync(pre(tmp_path), where(tmp_path))

    asyncio.run(main())


def test_a_session_refuses_a_second_event_loop(tmp_path: Path) -> None:
    """A background hook started in a loop that then closes would be lost without a word."""
    late = {"type": "command", "command": "sleep 0.2; touch late", "async": True}
    settings(tmp_path, hooks_for("PreToolUse", late))

    async def body(session: HookSession) -> None:
        loop = asyncio.get_running_loop()

        def elsewhere() -> None:
            with pytest.raises(HookwrightError, match="opened in another event loop"):
                asyncio.run(session.fire(pre(tmp_path)))
            asyncio.run_coroutine_threadsafe(session.fire(pre(tmp_path)), loop).result()

        await asyncio.to_thread(elsewhere)
        await session.background.wait()
        assert (tmp_path / "late").exists()

    in_session(tmp_path, body)


@pytest.mark.parametrize("name", ["Stop", "SubagentStop"])
def test_the_model_reads_the_block_of_a_prompt_hook_once(name: str, tmp_path: Path) -> None:
    async def judge(prompt: str, fired: Event) -> Judged:
        return Judged(False, "NOT-YET")

    async def body(session: HookSession) -> None:
        outcome = await session.fire(event(name, cwd=str(tmp_path)))
        texts = [message.text for message in for_reader(outcome, Reader.MODEL)]
        assert texts == ["Stop hook feedback:\nPrompt hook condition was not met: NOT-YET"]

    settings(tmp_path, hooks_for(name, {"type": "prompt", "prompt": "CHECK $ARGUMENTS"}))
    in_session(tmp_path, body, powers=Powers(judge=judge))
