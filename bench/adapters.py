"""What an adapter's bridge costs: one tool call through the portal over the same call on the engine, and many at once.

    python bench/adapters.py [--calls 2000] [--conversations 20] [--json]

The hooks are callbacks, so that no process hides the difference. Exits 1 if a call through the portal takes more than
200 µs over the engine (median), or if a conversation reads what belongs to another one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hookwright import Hooks, Places, PreToolUse, open_session
from hookwright.adapters import Bridge, NativeCall

#: The most that the portal may add to a call, in microseconds.
MOST = 200.0
#: The hook of the conversations that run at once is a process.
_SAID = '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"%s"}}'
_NAME = """$(sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/')"""
HOOK = f"""printf '{_SAID}' "{_NAME}\""""


def places(folder: str) -> Places:
    """Return an empty project with its own home."""
    home = Path(folder, "home")
    home.mkdir()
    return Places(project=folder, home=str(home), env={"PATH": os.environ["PATH"], "HOME": str(home)})


def hooks() -> Hooks:
    """Return one silent callback."""
    made = Hooks()
    made.on(PreToolUse, "Bash")(say_nothing)
    return made


async def say_nothing(event: PreToolUse) -> None:
    """Say nothing."""


def median(seconds: list[float]) -> float:
    """Return the median in microseconds."""
    return statistics.median(seconds) * 1e6


def timed(calls: int, work: Callable[[int], Any]) -> list[float]:
    """Time each call of a plain function."""
    out = []
    for number in range(calls):
        start = time.perf_counter()
        work(number)
        out.append(time.perf_counter() - start)
    return out


async def timed_async(calls: int, work: Callable[[int], Any]) -> list[float]:
    """Time each call of a coroutine function."""
    out = []
    for number in range(calls):
        start = time.perf_counter()
        await work(number)
        out.append(time.perf_counter() - start)
    return out


def one_call(folder: str, calls: int) -> dict[str, float]:
    """Time PreToolUse on the engine, and through the bridge from both kinds of code."""
    where = places(folder)

    async def direct() -> list[float]:
        async with open_session(where, hooks=hooks()) as session:
            fields = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
            return await timed_async(calls, lambda number: session.fire(PreToolUse, tool_use_id=f"c{number}", **fields))

    bridge = Bridge(where, hooks=hooks(), transcripts="")
    turn = bridge.turn("bench")
    turn.start().result()
    blocking = timed(calls, lambda number: turn.pre(NativeCall("shell", {"cmd": "ls"}, f"s{number}")).result())

    async def awaited() -> list[float]:
        async def pre(number: int) -> Any:
            return await turn.pre(NativeCall("shell", {"cmd": "ls"}, f"a{number}"))

        return await timed_async(calls, pre)

    through = asyncio.run(awaited())
    bridge.close()
    return {"engine": median(asyncio.run(direct())), "async": median(through), "sync": median(blocking)}


def at_once(folder: str, conversations: int) -> tuple[float, int]:
    """Run conversations in threads of their own, each with a process hook; return the seconds and the wrong texts."""
    where = places(folder)
    settings = Path(folder, "home", ".claude", "settings.json")
    settings.parent.mkdir()
    group = {"hooks": [{"type": "command", "command": HOOK}]}
    settings.write_text(json.dumps({"hooks": {"PostToolUse": [group]}}))
    bridge = Bridge(where)
    wrong: list[str] = []

    def talk(name: str) -> None:
        turn = bridge.turn(name)
        turn.prompt("go").result()
        for number in range(5):
            call = NativeCall("shell", {"cmd": "ls"}, f"{name}-{number}")
            turn.pre(call).result()
            notes = turn.post(call, "out").result().notes
            if len(notes) != 1 or name not in notes[0]:
                wrong.append(f"{name}: {notes}")

    threads = [threading.Thread(target=talk, args=(f"talk-{number}-end",)) for number in range(conversations)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    bridge.close()
    for text in wrong[:3]:
        print(text, file=sys.stderr)
    return seconds, len(wrong)


def main() -> int:
    """Measure, print, and judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--conversations", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cost = one_call(folder, args.calls)
    with tempfile.TemporaryDirectory() as folder:
        seconds, wrong = at_once(folder, args.conversations)
    over = {name: cost[name] - cost["engine"] for name in ("async", "sync")}
    if args.json:
        print(json.dumps({"microseconds": cost, "over": over, "seconds": seconds, "wrong": wrong}))
    else:
        print(f"engine {cost['engine']:.0f} µs, async {cost['async']:.0f} µs, sync {cost['sync']:.0f} µs per call")
        print(f"{args.conversations} conversations, {args.conversations * 5} processes: {seconds:.2f} s, {wrong} wrong")
    return 1 if wrong or max(over.values()) > MOST else 0


if __name__ == "__main__":
    raise SystemExit(main())
