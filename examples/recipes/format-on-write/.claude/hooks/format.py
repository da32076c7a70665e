#!/usr/bin/env python3
"""Format the file that was written: feedback is context, trouble goes to stderr."""

import json
import pathlib
import sys

event = json.load(sys.stdin)
path = pathlib.Path(event["tool_input"].get("file_path", ""))
if path.suffix not in {".txt", ".md"} or not path.is_file():
    sys.exit(0)
try:
    before = path.read_text(encoding="utf-8")
    after = "\n".join(line.rstrip() for line in before.splitlines()) + "\n"
    if after == before:
        sys.exit(0)
    path.write_text(after, encoding="utf-8")
except (OSError, UnicodeError) as error:
    print(f"cannot format {path}: {error}", file=sys.stderr)
    sys.exit(1)
answer = {
    "hookEventName": "PostToolUse",
    "additionalContext": f"{path.name} was formatted; read it again before editing.",
}
print(json.dumps({"hookSpecificOutput": answer}))
