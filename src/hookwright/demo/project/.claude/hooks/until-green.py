#!/usr/bin/env python3
"""Send the agent back to work until the tests pass."""

import json
import os
import subprocess
import sys

json.load(sys.stdin)
tests = [sys.executable, "-m", "unittest", "-q"]
done = subprocess.run(tests, cwd=os.environ["CLAUDE_PROJECT_DIR"], capture_output=True, text=True, check=False)
if done.returncode != 0:
    failure = next((line for line in done.stderr.splitlines() if "Error" in line), "they fail")
    print(json.dumps({"decision": "block", "reason": f"The tests are red: {failure.strip()}"}))
