"""Use pnpm where the model reaches for npm."""

import json
import re
import sys

event = json.load(sys.stdin)
tool_input = event["tool_input"]
command = tool_input["command"]
rewritten = re.sub(r"^npm (install|ci|run|test)\b", r"pnpm \1", command)
if rewritten != command:
    answer = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "updatedInput": {**tool_input, "command": rewritten},
            "additionalContext": "This project uses pnpm; the command was rewritten.",
        }
    }
    print(json.dumps(answer))
