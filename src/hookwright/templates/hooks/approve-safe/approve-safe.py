#!/usr/bin/env python3
"""Approve read-only commands (PreToolUse, Bash); have no opinion on all others, so that the user is asked as usual.

Approved is a command of which every part is on the list, without redirects, substitutions or background work. Deny and
ask rules of the user still hold.
"""

import json
import re
import shlex
import sys

PLAIN = {"ls", "pwd", "cat", "head", "tail", "wc", "file", "stat", "du", "df", "tree", "which", "true", "date", "uname"}
PLAIN |= {"basename", "dirname", "realpath", "cut", "uniq", "tr", "nl", "echo", "printf", "grep", "rg", "jq", "diff"}
GIT = {"status", "diff", "log", "show", "blame", "rev-parse", "ls-files", "describe", "shortlog"}
#: Anything that hides a command, writes a file or runs in the background.
OPAQUE = re.compile(r"[`<>\n\\]|\$|(?<!&)&(?!&)|[{}()~]")
WRITES = re.compile(r"^(--output|--ext-diff|--textconv|--pre|-o)")


def safe(words):
    if any(WRITES.match(word) for word in words[1:]):
        return False
    if words[0] == "git":
        return len(words) > 1 and words[1] in GIT
    return words[0] in PLAIN


event = json.load(sys.stdin.buffer)
command = event["tool_input"].get("command", "")
try:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = list(lexer)
except ValueError:
    words = []
parts = [[]]
for word in words:
    if word in ("&&", "||", "|", ";"):
        parts.append([])
    else:
        parts[-1].append(word)
if words and not OPAQUE.search(command) and all(part and safe(part) for part in parts):
    answer = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "permissionDecisionReason": "every part of the command only reads",
    }
    print(json.dumps({"hookSpecificOutput": answer}))
