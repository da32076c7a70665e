#!/usr/bin/env python3
"""Format the file just written (PostToolUse); silent unless the formatter fails."""

import json
import os
import shutil
import subprocess
import sys

FORMATTERS = {
    (".py", ".pyi"): ["ruff", "format", "--quiet"],
    (".go",): ["gofmt", "-w"],
    (".rs",): ["rustfmt"],
    (".sh", ".bash"): ["shfmt", "-w"],
    (".js", ".jsx", ".ts", ".tsx", ".css", ".html", ".json", ".md", ".yaml", ".yml"): ["prettier", "--write"],
}

event = json.load(sys.stdin.buffer)
path = event["tool_input"].get("file_path", "")
project = os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"]
command = next((found for endings, found in FORMATTERS.items() if path.endswith(endings)), None)
if command is None or not os.path.isfile(path):
    sys.exit(0)
local = os.path.join(project, "node_modules", ".bin")
program = shutil.which(command[0], path=os.pathsep.join((local, os.environ.get("PATH", ""))))
if program is None:
    sys.exit(0)
done = subprocess.run(
    [program, *command[1:], path],
    cwd=project,
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    check=False,
)
if done.returncode != 0:
    said = done.stderr.decode("utf-8", "replace").strip()[-1500:]
    answer = {"hookEventName": "PostToolUse", "additionalContext": f"{command[0]} could not format {path}:\n{said}"}
    print(json.dumps({"hookSpecificOutput": answer}))
