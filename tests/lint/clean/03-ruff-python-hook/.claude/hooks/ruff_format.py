#!/usr/bin/env python3
"""Run ruff on the edited Python file; report what is left to the model."""

import json
import subprocess
import sys
from pathlib import Path


def main() -> int:
    event = json.load(sys.stdin)
    path = Path(event["tool_input"].get("file_path", ""))
    if path.suffix != ".py" or not path.exists():
        return 0
    subprocess.run(["ruff", "format", str(path)], capture_output=True)
    result = subprocess.run(["ruff", "check", "--fix", str(path)], capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stdout, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
