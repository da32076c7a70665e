#!/usr/bin/env python3
"""Check types, refuse paths that leave the project, refuse sensitive names."""

import json
import os
import pathlib
import sys

SENSITIVE = {".env", "id_rsa", "id_ed25519", "credentials.json"}


def refuse(reason: str) -> None:
    print(reason, file=sys.stderr)
    sys.exit(2)


event = json.load(sys.stdin)
name = event.get("tool_input", {}).get("file_path")
if not isinstance(name, str) or not name:
    refuse("file_path must be a string")
root = pathlib.Path(os.environ["CLAUDE_PROJECT_DIR"]).resolve()
path = pathlib.Path(name)
resolved = (path if path.is_absolute() else pathlib.Path(event["cwd"], path)).resolve()
if not resolved.is_relative_to(root):
    refuse(f"{name} is outside the project")
if resolved.name in SENSITIVE or ".git" in resolved.relative_to(root).parts:
    refuse(f"{name} is sensitive")
