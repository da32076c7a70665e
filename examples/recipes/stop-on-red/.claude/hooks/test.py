#!/usr/bin/env python3
"""Run the tests after an edit; on failure end the turn and give the output to the model."""

import json
import os
import subprocess
import sys

json.load(sys.stdin)
done = subprocess.run(
    [sys.executable, "-m", "unittest", "discover", "-q"],
    cwd=os.environ["CLAUDE_PROJECT_DIR"],
    stdin=subprocess.DEVNULL,
    capture_output=True,
    text=True,
    check=False,
)
if done.returncode != 0:
    specific = {"hookEventName": "PostToolUse", "additionalContext": done.stderr[-4000:]}
    print(json.dumps({"continue": False, "stopReason": "the tests fail", "hookSpecificOutput": specific}))
