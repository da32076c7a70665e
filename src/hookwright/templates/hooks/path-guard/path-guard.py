#!/usr/bin/env python3
"""Protect files from edits (PreToolUse, the tools that write files).

Links are resolved first, so a link to a protected file is also protected. Writes by shell commands do not pass
here: add a `deny` permission rule, or a guard on Bash, where that matters.
"""

import fnmatch
import json
import os
import sys

#: Patterns for the path below the project and for the file's name; edit them to your needs.
PROTECTED = {
    ".env": "it holds secrets; edit .env.example instead",
    ".env.*": "it holds secrets; edit .env.example instead",
    "*.pem": "it is a key or a certificate",
    "*.key": "it is a key or a certificate",
    "id_rsa*": "it is a private key",
    "id_ed25519*": "it is a private key",
    "*.lock": "a package manager writes it; run the package manager",
    "package-lock.json": "a package manager writes it; run the package manager",
    "pnpm-lock.yaml": "a package manager writes it; run the package manager",
    ".git/*": "git writes it; use git commands",
    ".claude/settings*.json": "it configures hooks and permissions; a person edits it",
    ".claude/hooks/*": "it is a hook; a person edits it",
}
ALLOWED = (".env.example", ".env.sample", ".env.template", ".claude/hooks/tests/*")


def matches(pattern, below, name):
    return fnmatch.fnmatchcase(below if "/" in pattern else name, pattern)


event = json.load(sys.stdin.buffer)
given = event["tool_input"].get("file_path") or event["tool_input"].get("notebook_path") or ""
project = os.path.realpath(os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"])
real = os.path.realpath(os.path.join(event["cwd"], given))
for path in dict.fromkeys((os.path.normpath(os.path.join(event["cwd"], given)), real)):
    below, name = os.path.relpath(path, project), os.path.basename(path)
    if any(matches(pattern, below, name) for pattern in ALLOWED):
        continue
    for pattern, why in PROTECTED.items():
        if matches(pattern, below, name):
            print(f"{below} is protected: {why}.", file=sys.stderr)
            sys.exit(2)
