import json
import os
import shutil
import sys
from datetime import datetime
from pathlib import Path

event = json.load(sys.stdin)
state = Path(os.environ["CLAUDE_PROJECT_DIR"]) / ".claude" / "state"
state.mkdir(parents=True, exist_ok=True)
transcript = Path(event["transcript_path"])
if transcript.exists():
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    shutil.copy(transcript, state / f"{stamp}-{event['trigger']}.jsonl")
