"""The hook engine of deepagents-code under one hostile hook: a JSON line in, what came of it out."""

import asyncio
import json
import math
import os
import sys
import time
from pathlib import Path

from deepagents_code.hooks.engine import HookEngine
from deepagents_code.hooks.models.config import HooksConfig
from deepagents_code.hooks.models.domain import HookContext, HookEvent, HookInvocation, PreToolUseEvent, ToolCallData
from deepagents_code.hooks.snapshot import HooksSnapshot

# Whatever the package prints goes to stderr; the answer is alone on stdout.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


async def main() -> None:
    job = json.loads(sys.stdin.readline())
    limit = math.ceil(job["timeout"])
    handlers = [{"type": "command", "command": text, "timeout": limit} for text in job["commands"]]
    config = HooksConfig.model_validate({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}})
    engine = HookEngine(HooksSnapshot.from_config(config))
    call = ToolCallData(id="toolu_1", name="Bash", args={"command": "x" * job["size"]})
    invocation = HookInvocation(
        context=HookContext(thread_id="thread", cwd=Path.cwd(), approval_mode="manual"),
        event=PreToolUseEvent(event=HookEvent.PRE_TOOL_USE, call=call),
    )
    began = time.monotonic()
    try:
        decision = await engine.run(invocation, transcript_path=Path("/tmp/transcript.jsonl"))
        word = str(getattr(decision.permission.behavior, "value", decision.permission.behavior))
    except Exception as error:  # an engine that raises has decided nothing
        word = f"raises {type(error).__name__}"
    seconds = time.monotonic() - began - (limit - job["timeout"])
    print(json.dumps({"decision": word, "seconds": seconds}), flush=True, file=ANSWERS)
    sys.stdin.readline()


asyncio.run(main())
