#!/usr/bin/env python3
"""Refuse commands that destroy what cannot be brought back."""

import json
import re
import sys

command = json.load(sys.stdin)["tool_input"]["command"]
if re.search(r"\brm\s+(-\w+\s+)*-\w*[rR]", command):
    print("recursive removal is not allowed here; delete single files by name", file=sys.stderr)
    sys.exit(2)
