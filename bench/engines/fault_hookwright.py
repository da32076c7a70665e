"""Hookwright under one hostile hook: a JSON line in, what came of it out (see faults_peers.py)."""

import asyncio
import json
import os
import sys
import tempfile
import time

from hookwright.config import Places
from hookwright.protocol.outcome import Allow, Ask, Deny
from hookwright.protocol.samples import sample
from hookwright.session import open_session

WORDS = {Allow: "allow", Ask: "ask", Deny: "deny"}


async def main() -> None:
    job = json.loads(sys.stdin.readline())
    handlers = [{"type": "command", "command": text, "timeout": job["timeout"]} for text in job["commands"]]
    hooks = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}}
    places = Places(
        project=os.getcwd(), env={**os.environ, "HOME": tempfile.gettempdir()}, settings=(json.dumps(hooks),)
    )
    async with open_session(places) as session:
        event = sample("PreToolUse", cwd=os.getcwd(), tool_input={"command": "x" * job["size"]})
        began = time.monotonic()
        outcome = await session.fire(event)
        seconds = time.monotonic() - began
        word = WORDS.get(type(outcome.decision), "none")
        print(json.dumps({"decision": word, "seconds": seconds}), flush=True)
        sys.stdin.readline()


asyncio.run(main())
