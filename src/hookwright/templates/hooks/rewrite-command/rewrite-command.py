#!/usr/bin/env python3
"""Replace `npm` with the project's package manager (PreToolUse, Bash), in commands that only call it.

`updatedInput` replaces the whole input, so the other fields are returned unchanged.
"""

import json
import os
import re
import sys

LOCKS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lockb": "bun", "bun.lock": "bun"}

event = json.load(sys.stdin.buffer)
given = event["tool_input"]
found = re.fullmatch(r"npm (install|i|add|run|test)\b([^;&|<>`$\n]*)", given.get("command", "").strip())
project = os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"]
manager = next((name for lock, name in LOCKS.items() if os.path.exists(os.path.join(project, lock))), None)
if found and manager:
    verb, rest = found[1], found[2]
    if verb in ("install", "i") and rest.strip():
        verb = "add"
    answer = {
        "hookEventName": "PreToolUse",
        "updatedInput": {**given, "command": f"{manager} {verb}{rest}"},
        "additionalContext": f"This project uses {manager}; the command was changed from npm.",
    }
    print(json.dumps({"hookSpecificOutput": answer}))
