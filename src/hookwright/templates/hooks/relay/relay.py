#!/usr/bin/env python3
"""Post the event's name, tool and session to a dashboard on this machine; prints nothing, so it cannot interfere.

Names and ids only: no input, no prompt, no output leaves the session.
"""

import json
import os
import subprocess
import sys

URL = os.environ.get("RELAY_URL", "http://127.0.0.1:4040/events")

event = json.load(sys.stdin.buffer)
sent = {key: event[key] for key in ("hook_event_name", "session_id", "tool_name", "agent_type", "cwd") if key in event}
options = ["--silent", "--max-time", "2", "--header", "Content-Type: application/json", "--data-binary", "@-"]
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
subprocess.run(["curl", *options, "--", URL], input=json.dumps(sent).encode(), **quiet)
