#!/usr/bin/env python3
"""Write one JSON line for every event to `.claude/logs/audit.jsonl`; it records and never decides anything."""

import json
import os
import re
import sys
import time

SECRET = re.compile(
    r"AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|sk-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{20,}"
    r"|(?i:password|token|secret|api[_-]?key)[\"']?\s*[:=]\s*[\"']?[^\s\"']{6,}"
)
LIMIT = 2000


def short(value):
    """Return a value as text, shortened and without credentials."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return SECRET.sub("[redacted]", text)[:LIMIT]


event = json.load(sys.stdin.buffer)
line = {
    "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    "session": event["session_id"],
    "event": event["hook_event_name"],
}
for key in ("agent_type", "tool_name", "permission_mode", "duration_ms"):
    if key in event:
        line[key] = event[key]
for key in ("prompt", "tool_input", "error"):
    if key in event:
        line[key] = short(event[key])
folder = os.path.join(os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"], ".claude", "logs")
os.makedirs(folder, mode=0o700, exist_ok=True)
ignore = os.path.join(folder, ".gitignore")
if not os.path.exists(ignore):
    with open(ignore, "w", encoding="utf-8") as file:
        file.write("*\n")
descriptor = os.open(os.path.join(folder, "audit.jsonl"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
os.write(descriptor, (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
os.close(descriptor)
