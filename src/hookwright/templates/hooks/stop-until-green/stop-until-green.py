#!/usr/bin/env python3
"""Send the agent back to work while the checks fail (Stop), once per turn: it never loops.

The check is an executable `.claude/check`, else `make check`, else `npm test`, whichever the project has.
"""

import json
import os
import re
import subprocess
import sys

LINES = 40


def check_command(project):
    own = os.path.join(project, ".claude", "check")
    if os.access(own, os.X_OK):
        return [own]
    for name in ("Makefile", "makefile"):
        path = os.path.join(project, name)
        if os.path.isfile(path):
            with open(path, encoding="utf-8", errors="replace") as file:
                if re.search(r"^check\s*:", file.read(), re.MULTILINE):
                    return ["make", "--no-print-directory", "check"]
    if os.path.isfile(os.path.join(project, "package.json")):
        return ["npm", "test", "--silent"]
    return None


event = json.load(sys.stdin.buffer)
project = os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"]
command = check_command(project)
if command is None:
    sys.exit(0)
done = subprocess.run(
    command, cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
)
if done.returncode == 0:
    sys.exit(0)
shown = os.path.relpath(command[0], project) if os.path.isabs(command[0]) else " ".join(command)
if event.get("stop_hook_active"):
    print(json.dumps({"systemMessage": f"`{shown}` still fails; the agent stopped anyway."}))
    sys.exit(0)
tail = "\n".join(done.stdout.decode("utf-8", "replace").splitlines()[-LINES:])
print(json.dumps({"decision": "block", "reason": f"`{shown}` fails. Fix it before you stop:\n{tail}"}))
