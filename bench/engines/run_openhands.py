"""The hook manager of the OpenHands SDK as a contender: "COUNT INFLIGHT" on stdin, nanoseconds on stdout.

python run_openhands.py HOOKS      the number of hooks of the event; 0 for an event that none of them is for
"""

import os
import sys
import time

from openhands.sdk.hooks import HookConfig, HookManager
from openhands.sdk.hooks.config import HookDefinition, HookMatcher

# Whatever the package prints goes to stderr; the figures are alone on stdout.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
HOOKS = int(sys.argv[1])
# Equal commands would be one hook for some engines: each has its own comment.
HANDLERS = [HookDefinition(command=f"true # {number}") for number in range(max(HOOKS, 1))]
MATCHER = "Bash" if HOOKS else "Write"

manager = HookManager(
    config=HookConfig(pre_tool_use=[HookMatcher(matcher=MATCHER, hooks=HANDLERS)]), working_dir="/tmp", session_id="s"
)
for line in sys.stdin:
    each = []
    began = time.perf_counter_ns()
    for _ in range(int(line.split()[0])):
        start = time.perf_counter_ns()
        manager.run_pre_tool_use("Bash", {"command": "x" * 700})
        each.append(time.perf_counter_ns() - start)
    print(time.perf_counter_ns() - began, *each, flush=True, file=ANSWERS)
