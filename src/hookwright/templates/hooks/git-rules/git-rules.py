#!/usr/bin/env python3
"""Keep commits off the main branch and git's own hooks on (PreToolUse, Bash and PowerShell)."""

import json
import shlex
import subprocess
import sys

MAIN = ("main", "master", "trunk")


def parts(command):
    """Split a command line into lists of words at ; & | and newlines, quotes respected."""
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    found = [[]]
    for word in lexer:
        if set(word) <= set(";&|()"):
            found.append([])
        else:
            found[-1].append(word)
    return [words for words in found if words]


def branch(folder):
    """Return the current branch, or an empty string."""
    argv = ["git", "-C", folder, "symbolic-ref", "--short", "-q", "HEAD"]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


def broken_rule(words, cwd):
    """Return which rule a command breaks, or None."""
    if words[:1] != ["git"]:
        return None
    rest = words[1:]
    folder = cwd
    while rest[:1] in (["-C"], ["-c"]):
        folder = rest[1] if rest[0] == "-C" and len(rest) > 1 else folder
        rest = rest[2:]
    if not rest or rest[0] not in ("commit", "push", "merge"):
        return None
    if "--no-verify" in rest or (rest[0] == "commit" and "-n" in rest):
        return f"`git {rest[0]} --no-verify` skips this repository's checks. Fix what they find instead."
    if rest[0] == "commit" and "--allow-empty-message" in rest:
        return "A commit needs a message that says why it was made."
    if rest[0] == "commit" and branch(folder) in MAIN:
        return f"You are on {branch(folder)}. Make a branch first: git switch -c <topic>"
    return None


event = json.load(sys.stdin.buffer)
try:
    found = parts(event["tool_input"].get("command", ""))
except ValueError:
    found = []  # unbalanced quotes: the shell refuses it anyway
for words in found:
    reason = broken_rule(words, event["cwd"])
    if reason:
        print(reason, file=sys.stderr)
        sys.exit(2)
