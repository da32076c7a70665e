import json
import os
import sys
from pathlib import Path

event = json.load(sys.stdin)
folder = Path(os.environ["CLAUDE_PLUGIN_DATA"])
folder.mkdir(parents=True, exist_ok=True)
with (folder / "sessions.jsonl").open("a", encoding="utf-8") as log:
    log.write(json.dumps({"session": event["session_id"], "reason": event["reason"]}) + "\n")
