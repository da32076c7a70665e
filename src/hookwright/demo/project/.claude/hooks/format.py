#!/usr/bin/env python3
"""Strip trailing blanks and end the file with one newline; tell the model about it."""

import json
import pathlib
import sys

path = pathlib.Path(json.load(sys.stdin)["tool_input"]["file_path"])
before = path.read_text(encoding="utf-8")
after = "\n".join(line.rstrip() for line in before.splitlines()).rstrip("\n") + "\n"
if after != before:
    path.write_text(after, encoding="utf-8")
    note = {"hookEventName": "PostToolUse", "additionalContext": f"{path.name} was formatted after you wrote it."}
    print(json.dumps({"hookSpecificOutput": note}))
