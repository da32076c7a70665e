#!/usr/bin/env python3
"""Apply the rules of `.claude/policy.json` to a tool call (PreToolUse).

A rule has `tool` (pattern for the whole name), `field` (of the input; without it the whole input), `pattern`,
`decision` (deny or ask) and `reason`. The first deny wins, then the first ask. A broken file refuses everything, so
that a typo never switches the policy off.
"""

import json
import os
import re
import sys


def decide(rules, event):
    asked = None
    for rule in rules:
        if not re.fullmatch(rule.get("tool", ".*"), event["tool_name"]):
            continue
        given = event["tool_input"]
        value = given.get(rule["field"], "") if "field" in rule else given
        text = value if isinstance(value, str) else json.dumps(value)
        if not re.search(rule["pattern"], text):
            continue
        if rule["decision"] == "deny":
            return rule
        asked = asked or rule
    return asked


event = json.load(sys.stdin.buffer)
path = os.path.join(os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"], ".claude", "policy.json")
try:
    with open(path, encoding="utf-8") as file:
        rule = decide(json.load(file), event)
except FileNotFoundError:
    sys.exit(0)
except (ValueError, KeyError, AttributeError, TypeError, re.error) as error:
    print(f".claude/policy.json is not valid ({error}); everything is refused until it is fixed.", file=sys.stderr)
    sys.exit(2)
if rule is not None:
    answer = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny" if rule["decision"] == "deny" else "ask",
        "permissionDecisionReason": rule.get("reason") or f"the policy has a rule for {rule['pattern']}",
    }
    print(json.dumps({"hookSpecificOutput": answer}))
