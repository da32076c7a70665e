#!/usr/bin/env python3
"""Keep credentials out of prompts, files and commands (UserPromptSubmit and PreToolUse)."""

import json
import re
import sys

#: What credentials look like; precise on purpose, because a guard that cries wolf is switched off.
SECRETS = {
    "an AWS access key": r"\bAKIA[0-9A-Z]{16}\b",
    "a GitHub token": r"\bgh[pousr]_[A-Za-z0-9]{36,}\b",
    "a Slack token": r"\bxox[abprs]-[A-Za-z0-9-]{20,}",
    "an API key": r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}",
    "a Google API key": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
}


def texts(value):
    """List every string inside a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


event = json.load(sys.stdin.buffer)
looked_at = event.get("prompt") if event["hook_event_name"] == "UserPromptSubmit" else event.get("tool_input")
for text in texts(looked_at):
    for name, pattern in SECRETS.items():
        if re.search(pattern, text):
            print(f"This contains {name}. Put it in an environment variable and use its name.", file=sys.stderr)
            sys.exit(2)
