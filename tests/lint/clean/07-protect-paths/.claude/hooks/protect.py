#!/usr/bin/env python3
import json
import sys
from pathlib import Path

PROTECTED_NAMES = {".env", ".env.production", "package-lock.json", "pnpm-lock.yaml", "uv.lock"}
PROTECTED_DIRS = {".git", "migrations"}

data = json.load(sys.stdin)
tool_input = data.get("tool_input", {})
raw = tool_input.get("file_path") or tool_input.get("notebook_path") or ""
path = Path(raw).resolve()

if path.name in PROTECTED_NAMES or PROTECTED_DIRS & set(path.parts):
    reason = f"{path.name} is protected. Ask the user to change it by hand."
    print(
        json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": reason,
                }
            }
        )
    )
sys.exit(0)
