#!/usr/bin/env python3
"""Let subagents write only inside the project (PreToolUse); the main agent is not affected."""

import json
import os
import sys

event = json.load(sys.stdin.buffer)
if not event.get("agent_id"):
    sys.exit(0)
given = event["tool_input"].get("file_path") or event["tool_input"].get("notebook_path") or ""
project = os.path.realpath(os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"])
path = os.path.realpath(os.path.join(event["cwd"], given))
below = os.path.relpath(path, project)
who = event.get("agent_type") or "A subagent"
if below.startswith(".."):
    print(f"{who} may only write inside the project, and {path} is outside.", file=sys.stderr)
    sys.exit(2)
if below.split(os.sep)[0] == ".claude":
    print(f"{who} may not change .claude; report what should change instead.", file=sys.stderr)
    sys.exit(2)
