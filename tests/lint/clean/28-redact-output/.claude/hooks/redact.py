import json
import re
import sys

TOKEN = re.compile(r"(ghp_[A-Za-z0-9]{36}|AKIA[0-9A-Z]{16})")

event = json.load(sys.stdin)
response = event["tool_response"]
clean = {key: TOKEN.sub("[redacted]", value) if isinstance(value, str) else value for key, value in response.items()}
if clean != response:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": clean}}))
