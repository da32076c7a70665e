import json
import re
import sys

SECRETS = [
    re.compile(r"AKIA[0-9A-Z]{16}"),
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    re.compile(r"ghp_[A-Za-z0-9]{36}"),
]

event = json.load(sys.stdin)
for pattern in SECRETS:
    if pattern.search(event["prompt"]):
        print(json.dumps({"decision": "block", "reason": "The prompt holds a secret. Remove it and send again."}))
        break
