#!/usr/bin/env python3
"""Redact credentials in a tool's result (PostToolUse); the result keeps its shape, only strings change."""

import json
import re
import sys

SECRET = re.compile(
    r"\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bxox[abprs]-[A-Za-z0-9-]{20,}"
    r"|\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|\bAIza[0-9A-Za-z_-]{35}\b"
    r"|-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)"
)


def redacted(value):
    if isinstance(value, str):
        return SECRET.sub("[redacted]", value)
    if isinstance(value, dict):
        return {key: redacted(item) for key, item in value.items()}
    return [redacted(item) for item in value] if isinstance(value, list) else value


event = json.load(sys.stdin.buffer)
before = event.get("tool_response")
after = redacted(before)
if after != before:
    answer = {"hookEventName": "PostToolUse", "updatedToolOutput": after}
    print(json.dumps({"hookSpecificOutput": answer}))
