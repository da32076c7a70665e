#!/usr/bin/env python3
"""Show a desktop notification (Notification and Stop); without a notifier, ring the terminal bell.

The message is passed to the notifier as an argument and never becomes part of a script.
"""

import json
import os
import shutil
import subprocess
import sys

SHOW = "display notification (item 2 of argv) with title (item 1 of argv)"
OSASCRIPT = ["-e", "on run argv", "-e", SHOW, "-e", "end run"]

event = json.load(sys.stdin.buffer)
project = os.path.basename(os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"])
message = event.get("message") or "The agent is done."
title = f"Claude Code: {project}"
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
if shutil.which("notify-send"):
    subprocess.run(["notify-send", "--", title, message], **quiet)
elif shutil.which("osascript"):
    subprocess.run(["osascript", *OSASCRIPT, title, message], **quiet)
else:
    print(json.dumps({"terminalSequence": "\a"}))
