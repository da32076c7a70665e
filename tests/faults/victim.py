"""A host that works until it is killed or done: hooks, journal, spill files and the trust store, all in shared folders.

python -m faults.victim FOLDER MARK EVENTS      EVENTS 0: until it is killed
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from pathlib import Path

import hookwright.observers.journal.writer
from faults.hostile import answer, says
from faults.leftovers import MARK
from faults.world import command
from hookwright.config import Places
from hookwright.config.truststore import Record, TrustStore
from hookwright.protocol.samples import sample
from hookwright.session import open_session

#: Small enough that the journal is set aside now and then.
ROTATE_AT = 150_000

HOOKS = {
    "Quick": [command(says(answer("deny", systemMessage="x" * 12_000)))],
    "Slow": [command("sleep 0.02; exit 2"), command("sleep 60 & wait", timeout=0.05), command("exit 1")],
    "Daemon": [command("setsid sleep 60 & sleep 60", timeout=0.05)],
    "Late": [command("sleep 60", **{"async": True})],
}


async def main(folder: Path, mark: str, events: int) -> None:
    """Fire one event after the other."""
    hookwright.observers.journal.writer.ROTATE_AT = ROTATE_AT
    groups = [{"matcher": tool, "hooks": hooks} for tool, hooks in HOOKS.items()]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        MARK: mark,
        "HOOKWRIGHT_STATE_DIR": str(folder / "state"),
    }
    places = Places(project=str(folder / "project"), env=env, settings=(json.dumps({"hooks": {"PreToolUse": groups}}),))
    store = TrustStore(str(folder / "state" / "trust.json"))
    tools = itertools.cycle(("Quick", "Slow", "Daemon", "Late") if not events else ("Quick",))
    async with open_session(places, journal=True, watchdog=True) as session:
        print("ready", flush=True)
        for number, tool in enumerate(tools):
            if events and number == events:
                return
            cwd, transcript = str(folder / "project"), str(folder / "sessions" / "shared.jsonl")
            await session.fire(sample("PreToolUse", cwd=cwd, tool_name=tool, transcript_path=transcript))
            store.record(f"/project/{os.getpid()}", [Record(f"{number}", "entry", "place")], [f"{number - 1}"])


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
