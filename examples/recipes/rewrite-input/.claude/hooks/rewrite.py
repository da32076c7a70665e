#!/usr/bin/env python3
"""Run npm through the project's wrapper; every other field of the input is kept."""

import json
import sys

event = json.load(sys.stdin)
call = event["tool_input"]
words = call["command"].split(" ")
if words[0] == "npm":
    changed = {**call, "command": " ".join(["./scripts/npm.sh", *words[1:]])}
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": changed}}))
