#!/usr/bin/env python3
"""Give the model its context (SessionStart): git facts, then `.claude/context.md`; again after a compaction."""

import json
import os
import subprocess
import sys

#: Above 10,000 characters the model would only see a preview.
LIMIT = 8000


def git(folder, *arguments):
    argv = ["git", "-C", folder, "--no-optional-locks", *arguments]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


event = json.load(sys.stdin.buffer)
project = os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"]
parts = []
branch = git(project, "symbolic-ref", "--short", "-q", "HEAD") or git(project, "rev-parse", "--short", "HEAD")
if branch:
    parts.append(f"Git branch: {branch}")
    changes = git(project, "status", "--short").splitlines()
    if changes:
        more = [f"… and {len(changes) - 20} more"] if len(changes) > 20 else []
        parts.append("Uncommitted changes:\n" + "\n".join(changes[:20] + more))
    commits = git(project, "log", "--oneline", "-5")
    if commits:
        parts.append(f"Last commits:\n{commits}")
try:
    with open(os.path.join(project, ".claude", "context.md"), encoding="utf-8", errors="replace") as file:
        parts.append(file.read().strip())
except OSError:
    pass
text = "\n\n".join(part for part in parts if part)
if text:
    answer = {"hookEventName": "SessionStart", "additionalContext": text[:LIMIT]}
    print(json.dumps({"hookSpecificOutput": answer}))
