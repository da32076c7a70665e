#!/usr/bin/env python3
"""Send the agent back to work once while the list has open points."""

import json
import os
import pathlib
import sys

event = json.load(sys.stdin)
todo = pathlib.Path(os.environ["CLAUDE_PROJECT_DIR"], "TODO.md")
open_points = [line for line in todo.read_text().splitlines() if line.startswith("- [ ]")] if todo.exists() else []
if open_points and not event["stop_hook_active"]:
    print(json.dumps({"decision": "block", "reason": "Still open:\n" + "\n".join(open_points)}))
