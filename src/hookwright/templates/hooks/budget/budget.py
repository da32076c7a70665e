#!/usr/bin/env python3
"""Count the calls of expensive tools in one session (PreToolUse) and refuse those over the budget."""

import fcntl
import json
import os
import re
import sys

BUDGET = {"WebSearch": 20, "WebFetch": 40, "Agent": 10}

event = json.load(sys.stdin.buffer)
tool = event["tool_name"]
session = re.sub(r"[^A-Za-z0-9_-]", "_", event["session_id"])
config = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
folder = os.path.join(config, "budget")
os.makedirs(folder, mode=0o700, exist_ok=True)
descriptor = os.open(os.path.join(folder, f"{session}-{tool}"), os.O_RDWR | os.O_CREAT, 0o600)
with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    text = file.read().strip()
    used = int(text) if text.isdigit() else 0
    if used >= BUDGET.get(tool, used + 1):
        print(
            f"The budget of {BUDGET[tool]} {tool} calls for this session is used up. Continue without it.",
            file=sys.stderr,
        )
        sys.exit(2)
    file.seek(0)
    file.truncate()
    file.write(str(used + 1))
