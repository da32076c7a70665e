"""A small server that starts in no time: it answers, hangs or dies, as the tool it is called with says."""

from __future__ import annotations

import json
import os
import sys

for line in sys.stdin:
    message = json.loads(line)
    match message:
        case {"method": "tools/call", "params": {"name": "hang"}}:
            continue
        case {"method": "tools/call", "params": {"name": "die"}}:
            print("last words", file=sys.stderr, flush=True)
            os._exit(3)
        case {"method": "tools/call", "params": {"arguments": {"text": str(text)}}}:
            result = {"content": [{"type": "text", "text": f"echo:{text}"}]}
        case _:
            result = {"resources": []}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
