#!/usr/bin/env python3
"""Run the tests in the background after an edit (PostToolUse, async); ten quick edits start one run, not ten.

The tests are an executable `.claude/test`, else `make test`, else `npm test`, whichever the project has.
"""

import fcntl
import json
import os
import re
import subprocess
import sys
import time

#: Seconds to wait for further edits before the tests start.
QUIET = 1.0
LINES = 40


def test_command(project):
    own = os.path.join(project, ".claude", "test")
    if os.access(own, os.X_OK):
        return [own]
    for name in ("Makefile", "makefile"):
        path = os.path.join(project, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                if re.search(r"^test\s*:", file.read(), re.MULTILINE):
                    return ["make", "--no-print-directory", "test"]
    if os.path.isfile(os.path.join(project, "package.json")):
        return ["npm", "test", "--silent"]
    return None


event = json.load(sys.stdin.buffer)
project = os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"]
command = test_command(project)
if command is None:
    sys.exit(0)
state = os.path.join(project, ".claude", "logs")
os.makedirs(state, exist_ok=True)
with open(os.path.join(state, "async-tests.lock"), "w", encoding="utf-8") as lock:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(0)  # the waiting run will include this edit
    time.sleep(QUIET)
    done = subprocess.run(
        command, cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
if done.returncode != 0:
    tail = "\n".join(done.stdout.decode("utf-8", "replace").splitlines()[-LINES:])
    answer = {"hookEventName": "PostToolUse", "additionalContext": f"The tests fail after your last edits:\n{tail}"}
    print(json.dumps({"systemMessage": "tests fail", "hookSpecificOutput": answer}))
