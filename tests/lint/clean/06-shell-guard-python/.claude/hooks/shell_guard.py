#!/usr/bin/env python3
"""Refuse destructive shell commands."""

import json
import re
import sys

RULES = [
    (r"\brm\s+(?:-\w+\s+)*-\w*[rf]\w*\s+(?:/|~|\$HOME)(?:\s|$)", "rm -r on a root or home directory"),
    (r"\bgit\s+push\b.*\s(?:--force|-f)\b", "force push; use --force-with-lease on your own branch"),
    (r"\bgit\s+reset\s+--hard\b", "git reset --hard throws work away; use git stash"),
    (r"\b(?:mkfs|dd\s+.*of=/dev/)", "writing to a device"),
]


def main() -> None:
    event = json.load(sys.stdin)
    command = event.get("tool_input", {}).get("command", "")
    for pattern, reason in RULES:
        if re.search(pattern, command):
            print(f"Refused: {reason}.", file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    main()
