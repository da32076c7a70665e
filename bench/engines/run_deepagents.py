"""The hook engine of deepagents-code as a contender: "COUNT INFLIGHT" on stdin, nanoseconds on stdout.

python run_deepagents.py HOOKS      the number of hooks of the event; 0 for an event that none of them is for
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from deepagents_code.hooks.engine import HookEngine
from deepagents_code.hooks.models.config import HooksConfig
from deepagents_code.hooks.models.domain import HookContext, HookEvent, HookInvocation, PreToolUseEvent, ToolCallData
from deepagents_code.hooks.snapshot import HooksSnapshot

# Whatever the package prints goes to stderr; the figures are alone on stdout.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
HOOKS = int(sys.argv[1])
# Equal commands would be one hook for some engines: each has its own comment.
HANDLERS = [{"type": "command", "command": f"true # {number}"} for number in range(max(HOOKS, 1))]
MATCHER = "Bash" if HOOKS else "Write"


async def main() -> None:
    config = HooksConfig.model_validate({"hooks": {"PreToolUse": [{"matcher": MATCHER, "hooks": HANDLERS}]}})
    engine = HookEngine(HooksSnapshot.from_config(config))
    call = ToolCallData(id="toolu_1", name="Bash", args={"command": "x" * 700})
    cwd, transcript = Path.cwd(), Path("/tmp/transcript.jsonl")
    for line in sys.stdin:
        each = []
        began = time.perf_counter_ns()
        for _ in range(int(line.split()[0])):
            start = time.perf_counter_ns()
            invocation = HookInvocation(
                context=HookContext(thread_id="thread", cwd=cwd, approval_mode="manual"),
                event=PreToolUseEvent(event=HookEvent.PRE_TOOL_USE, call=call),
            )
            await engine.run(invocation, transcript_path=transcript)
            each.append(time.perf_counter_ns() - start)
        print(time.perf_counter_ns() - began, *each, flush=True, file=ANSWERS)


asyncio.run(main())
