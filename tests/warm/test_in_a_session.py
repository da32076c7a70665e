"""The key `worker` and the option `warm`, through a whole session."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hookwright import Options, Places, open_session
from hookwright.config import TrustPolicy
from hookwright.protocol.events import Event
from hookwright.protocol.outcome import Outcome
from hookwright.protocol.replies import Exited
from hookwright.session import HookSession
from processes import gone
from support import event, hooks_for, settings

#: Says whose child it is: the engine's or the zygote's.
PARENT = "import json, os; print(json.dumps({'systemMessage': str(os.getppid())}))\n"


def in_session(folder: Path, body: Callable[[HookSession], Awaitable[Any]], options: Options | None = None) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "HOOKWRIGHT_MANAGED_SETTINGS": str(folder / "none"),
    }
    places = Places(project=str(folder), env=env, trust=TrustPolicy.EVERYTHING)

    async def main() -> None:
        async with open_session(places, options=options) as session:
            await body(session)

    asyncio.run(main())


def pre(folder: Path) -> Event:
    return event("PreToolUse", cwd=str(folder), transcript_path=str(folder / "t.jsonl"))


def said(outcome: Outcome) -> int:
    return int(outcome.system_messages[0])


async def warmed(session: HookSession, folder: Path, calls: int = 40) -> int:
    """Fire until the hook is the child of another process than ours."""
    for _ in range(calls):
        parent = said(await session.fire(pre(folder)))
        if parent != os.getpid():
            return parent
        await asyncio.sleep(0.05)
    raise AssertionError("the hook was started anew every time")


def configured(folder: Path, **keys: str) -> None:
    (folder / "hook.py").write_text(PARENT)
    handler = {"type": "command", "command": sys.executable, "args": ["hook.py"], **keys}
    settings(folder, hooks_for("PreToolUse", handler))


def test_a_handler_asks_for_a_warm_interpreter(tmp_path: Path) -> None:
    configured(tmp_path, worker="warm")
    parents: list[int] = []

    async def body(session: HookSession) -> None:
        parents.append(await warmed(session, tmp_path))
        assert said(await session.fire(pre(tmp_path))) == parents[0]

    in_session(tmp_path, body)
    assert gone(parents[0])


def test_without_the_key_every_event_starts_python(tmp_path: Path) -> None:
    configured(tmp_path)

    async def body(session: HookSession) -> None:
        for _ in range(3):
            assert said(await session.fire(pre(tmp_path))) == os.getpid()
            await asyncio.sleep(0.1)

    in_session(tmp_path, body)


def test_the_option_is_for_all_python_hooks_and_silent_about_others(tmp_path: Path) -> None:
    configured(tmp_path)
    (tmp_path / "hook.py").write_text(PARENT)
    python = {"type": "command", "command": sys.executable, "args": ["hook.py"]}
    settings(tmp_path, hooks_for("PreToolUse", python, {"type": "command", "command": "echo '{}' | cat"}))

    async def body(session: HookSession) -> None:
        await warmed(session, tmp_path)
        outcome = await session.fire(pre(tmp_path))
        assert not outcome.diagnostics

    in_session(tmp_path, body, Options(warm=True))


def test_a_handler_that_cannot_have_a_worker_says_why_once(tmp_path: Path) -> None:
    settings(tmp_path, hooks_for("PreToolUse", {"type": "command", "command": "echo x | cat", "worker": "warm"}))

    async def body(session: HookSession) -> None:
        first, second = await session.fire(pre(tmp_path)), await session.fire(pre(tmp_path))
        assert [note.code for note in first.diagnostics] == ["asked-without"]
        assert "needs a shell" in first.diagnostics[0].message
        assert not second.diagnostics

    in_session(tmp_path, body)


def test_workers_outlive_a_reload_that_does_not_concern_them(tmp_path: Path) -> None:
    configured(tmp_path, worker="warm")

    async def body(session: HookSession) -> None:
        first = await warmed(session, tmp_path)
        handler = {"type": "command", "command": sys.executable, "args": ["hook.py"], "worker": "warm"}
        settings(tmp_path, hooks_for("PreToolUse", handler, {"type": "command", "command": "true"}))
        outcome = await session.fire(pre(tmp_path))
        assert len(outcome.runs) == 2
        assert said(outcome) == first

    in_session(tmp_path, body)


def test_a_background_hook_of_a_worker_ends_with_the_session(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import os, time\nopen('pids', 'a').write(f'{os.getpid()} {os.getppid()}\\n'); time.sleep(60)\n"
    )
    handler = {"type": "command", "command": sys.executable, "args": ["hook.py"], "worker": "warm", "async": True}
    settings(tmp_path, hooks_for("PreToolUse", {**handler, "timeout": 1}))

    def lines() -> list[list[int]]:
        text = (tmp_path / "pids").read_text() if (tmp_path / "pids").exists() else ""
        return [[int(word) for word in line.split()] for line in text.splitlines()]

    async def body(session: HookSession) -> None:
        await session.fire(pre(tmp_path))
        for _ in range(100):
            await asyncio.sleep(0.05)
            if not session.background.running:
                break
        await asyncio.sleep(0.5)
        settings(tmp_path, hooks_for("PreToolUse", {**handler, "timeout": 50}))
        await session.fire(pre(tmp_path))
        for _ in range(100):
            await asyncio.sleep(0.05)
            if len(lines()) == 2:
                break

    in_session(tmp_path, body)
    (_, first_parent), (second, second_parent) = lines()
    assert first_parent == os.getpid() != second_parent
    assert gone(second)


def test_the_reply_of_a_fork_is_in_the_outcome(tmp_path: Path) -> None:
    configured(tmp_path, worker="warm")

    async def body(session: HookSession) -> None:
        await warmed(session, tmp_path)
        (run,) = (await session.fire(pre(tmp_path))).runs
        assert isinstance(run.reply, Exited)
        assert run.label == "success"

    in_session(tmp_path, body)
