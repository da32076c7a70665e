import json
import os
import sys
from pathlib import Path

json.load(sys.stdin)
notes = Path(os.environ["CLAUDE_PLUGIN_DATA"]) / "notes.md"
if notes.exists():
    context = notes.read_text(encoding="utf-8")[-4000:]
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": context}}
    json.dump(answer, sys.stdout)
