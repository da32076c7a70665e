#!/usr/bin/env python3
"""Ask a web service whether a command may run (PreToolUse); any failure means no.

`.claude/approval-url` holds the address. The event is posted to it, and the answer must be a JSON object with
`approved` (true or false) and, if you like, `reason`. Put a pattern for the commands that need it into NEEDED.
"""

import json
import os
import re
import subprocess
import sys

NEEDED = re.compile(r"\b(deploy|publish|release|terraform apply|kubectl delete)\b")
SECONDS = 90


def refuse(reason):
    print(reason, file=sys.stderr)
    sys.exit(2)


event = json.load(sys.stdin.buffer)
if not NEEDED.search(event["tool_input"].get("command", "")):
    sys.exit(0)
project = os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"]
try:
    with open(os.path.join(project, ".claude", "approval-url"), encoding="utf-8") as file:
        url = file.read().strip()
except OSError:
    refuse("This needs approval, but .claude/approval-url does not contain an address to ask.")
question = json.dumps({"tool": event["tool_name"], "input": event["tool_input"], "cwd": event["cwd"]})
options = ["--silent", "--show-error", "--fail", "--max-time", str(SECONDS), "--proto", "=https,http"]
argv = ["curl", *options, "--header", "Content-Type: application/json", "--data-binary", "@-", "--", url]
done = subprocess.run(argv, input=question.encode(), capture_output=True, check=False)
if done.returncode != 0:
    refuse(f"The request for approval got no answer: {done.stderr.decode('utf-8', 'replace').strip()}")
try:
    answer = json.loads(done.stdout)
except ValueError:
    answer = {}
if not isinstance(answer, dict) or answer.get("approved") is not True:
    reason = answer.get("reason") if isinstance(answer, dict) else None
    refuse(f"Not approved: {reason or 'no reason was given'}")
