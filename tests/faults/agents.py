"""Faults of the reference agent: its model API breaks, it is ended or killed, it is not alone."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from typing import Any

from faults.hosts import survivors
from faults.leftovers import MARK, describe
from faults.network import TESTS, endpoint
from faults.world import World, command
from hookwright.agent.transcript import load
from hookwright.agent.transcript.reader import closed

HOOKWRIGHT = [sys.executable, "-m", "hookwright.cli"]
_BASH = [{"tool": "Bash", "input": {"command": "sleep 60 & sleep 0.05; echo hi"}}]
#: Hooks at every moment of a turn; some are slow, some never end, some leave things behind.
_HOOKS = {
    "SessionStart": "echo context",
    "UserPromptSubmit": "sleep 0.02",
    "PreToolUse": "sleep 0.03",
    "PostToolUse": "sleep 60 & wait",
    "Stop": "sleep 0.02",
    "SessionEnd": "touch ended",
}


def start_agent(world: World, *args: str, **env: str) -> subprocess.Popen[str]:
    """Start `hookwright run` in the row's folders."""
    inherited = {**world.env, "PYTHONPATH": str(TESTS), MARK: world.mark, **env}
    return subprocess.Popen(
        [*HOOKWRIGHT, "run", "-p", *args],
        cwd=world.project,
        env=inherited,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def write_settings(world: World, **hooks: str) -> None:
    """Give the user these hooks."""
    value = {"hooks": {name: [{"hooks": [command(text, timeout=5)]}] for name, text in hooks.items()}}
    (world.home / ".claude" / "settings.json").write_text(json.dumps(value))


async def ended(agent: subprocess.Popen[str], seconds: float) -> tuple[int | None, str, str]:
    """Wait for an agent; None instead of a status when it does not end."""
    try:
        out, err = await asyncio.to_thread(agent.communicate, timeout=seconds)
    except subprocess.TimeoutExpired:
        agent.kill()
        out, err = agent.communicate()
        return None, out, err
    return agent.returncode, out, err


async def model_breaks(world: World, mode: str) -> None:
    """Let the model API break in the middle of an answer: the turn fails, is told, and the session ends in order."""
    write_settings(world, SessionEnd=_HOOKS["SessionEnd"])
    async with endpoint() as url, world.session():
        env = {"ANTHROPIC_BASE_URL": f"{url}/{mode}", "ANTHROPIC_API_KEY": "key"}
        env |= {"API_TIMEOUT_MS": "700", "CLAUDE_CODE_MAX_RETRIES": "0"}
        status, out, err = await ended(start_agent(world, "go", **env), 30)
        world.check(status == 1, f"it ended with {status}: {out[:100]} {err[-200:]}")
        world.check("Messages API" in out + err, f"nobody says what failed: {out[:100]} {err[-200:]}")
        world.check((world.project / "ended").exists(), "its SessionEnd hook did not run")
        (world.project / "ended").unlink(missing_ok=True)
        await world.settle()


async def terminated(world: World) -> None:
    """End an agent whose model is silent and whose answer never ends: it goes in order, at once."""
    write_settings(world, SessionEnd=_HOOKS["SessionEnd"])
    async with endpoint() as url, world.session():
        for mode in ("stream_stalls", "stream_floods"):
            env = {"ANTHROPIC_BASE_URL": f"{url}/{mode}", "ANTHROPIC_API_KEY": "key"}
            agent = start_agent(world, "go", **env)
            await asyncio.sleep(3)
            asked = time.monotonic()
            agent.terminate()
            status, _, err = await ended(agent, 20)
            world.over = max(world.over, time.monotonic() - asked)
            world.check(status == 143, f"{mode}: it ended with {status}: {err[-200:]}")
            world.check((world.project / "ended").exists(), f"{mode}: its SessionEnd hook did not run")
            (world.project / "ended").unlink(missing_ok=True)
        await world.settle()
    world.check(world.over < 8, f"it took {world.over:.1f} s to go")


def _script(world: World, turns: int) -> str:
    path = world.folder / "script.json"
    path.write_text(json.dumps({"turns": [*([_BASH] * turns), [{"text": "done"}]]}))
    return str(path)


async def killed(world: World, times: int) -> None:
    """Kill the agent at random moments: its hooks and commands go with it, and its session can be continued."""
    chance = random.Random(11)
    write_settings(world, **_HOOKS)
    script = _script(world, 20)
    async with world.session() as session:
        for _ in range(times):
            agent = start_agent(world, "--script", script, "--allowedTools", "Bash", "go")
            await asyncio.sleep(chance.uniform(0.2, 1.5))
            agent.kill()
            agent.communicate()
            left, seconds = await survivors(world, agent.pid)
            world.over = max(world.over, seconds)
            world.check(not left, f"{len(left)} processes survive: {'; '.join(map(describe, left))}")
            await world.next_works(session)
        write_settings(world, SessionEnd="true")
        _read_transcripts(world)
        status, out, err = await ended(start_agent(world, "--script", _script(world, 0), "--continue", "go on"), 30)
        world.check((status, out) == (0, "done\n"), f"the session does not go on: {status} {out[:100]} {err[-300:]}")
        (world.project / "ended").unlink(missing_ok=True)
        await world.settle()


def _read_transcripts(world: World) -> None:
    for path in (world.home / ".claude" / "projects").glob("*/*.jsonl"):
        messages = closed(load(str(path)).messages())
        roles = [message["role"] for message in messages if message["role"] != "system"]
        world.check(not roles or roles[0] == "user", f"{path.name} begins with {roles[:1]}")


async def side_by_side(world: World) -> None:
    """Let four agents work at once in one project and one home: each has a session of its own, and all is there."""
    write_settings(world, PreToolUse="sleep 0.01", Stop="true")
    path = world.folder / "script.json"
    path.write_text(
        json.dumps({"turns": [*([[{"tool": "Bash", "input": {"command": "echo hi"}}]] * 5), [{"text": "done"}]]})
    )
    async with world.session():
        agents = [start_agent(world, "--script", str(path), "--allowedTools", "Bash", "go") for _ in range(4)]
        for agent in agents:
            status, out, err = await ended(agent, 60)
            world.check((status, out) == (0, "done\n"), f"an agent ended with {status}: {out[:100]} {err[-200:]}")
        sessions = list((world.home / ".claude" / "projects").glob("*/*.jsonl"))
        world.check(len(sessions) == 4, f"{len(sessions)} transcripts of 4")
        for session in sessions:
            results = _results(load(str(session)).messages())
            world.check(results == 5, f"{session.name} has {results} results of 5")
        lines = [json.loads(line) for line in (world.state / "journal.jsonl").read_bytes().split(b"\n") if line]
        count = sum(
            line["kind"] == "run" and line.get("event") == "PreToolUse" and line.get("tool") == "Bash" for line in lines
        )
        world.check(count == 20, f"{count} of 20 runs are in the journal")
        await world.settle()


def _results(messages: list[dict[str, Any]]) -> int:
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return sum(block["type"] == "tool_result" for block in blocks)
