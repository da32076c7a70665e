#!/usr/bin/env python3
"""Refuse shell commands that destroy work (PreToolUse, Bash and PowerShell).

The command is split into its parts first, so that `rm -r -f x` is found and `echo "rm -rf /"` is not. This catches
mistakes. It is not a boundary: a script can hide anything, so keep permission rules and backups.
"""

import json
import os
import re
import shlex
import sys

#: Words that only start another command.
PREFIXES = {"sudo", "doas", "command", "exec", "env", "nohup", "time", "nice", "xargs"}


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


def without_prefixes(words):
    """Remove prefixes such as `sudo` and `env A=1`."""
    while words and (words[0] in PREFIXES or re.match(r"\w+=", words[0])):
        words = words[1:]
    return words


def flags(words):
    """List single options: -rf is -r and -f."""
    found = set()
    for word in words:
        if word.startswith("--"):
            found.add(word.split("=")[0])
        elif word.startswith("-"):
            found.update(f"-{letter}" for letter in word[1:])
    return found


def precious(target):
    """Return whether removing this path would lose everything."""
    path = os.path.normpath(os.path.expanduser(target.rstrip("*")) or "/")
    if path in (".", "..", os.path.expanduser("~"), os.getcwd()) or os.path.basename(path) == ".git":
        return True
    return path.startswith("/") and path.count("/") == 1


def danger(words):
    """Return why a command is refused, or None."""
    words = without_prefixes(words)
    if not words:
        return None
    name, rest = os.path.basename(words[0]), words[1:]
    options = flags(rest)
    targets = [word for word in rest if not word.startswith("-")]
    if name == "rm" and options & {"-r", "-R", "--recursive"}:
        lost = [target for target in targets if precious(target)]
        if lost:
            return f"`rm` would remove {lost[0]} with everything in it. Name the folder you mean."
    if name == "git" and targets[:1] == ["reset"] and "--hard" in options:
        return "`git reset --hard` discards uncommitted work. Use `git stash` first."
    if name == "git" and targets[:1] == ["clean"] and "-f" in options and "-d" in options:
        return "`git clean -fd` deletes untracked files for good. Use `git clean -nd` and delete by name."
    if name == "git" and targets[:1] == ["push"] and options & {"-f", "--force"}:
        return "A force push overwrites other people's commits. Use --force-with-lease on your own branch."
    if name.startswith("mkfs") or (name == "dd" and any(word.startswith("of=/dev/") for word in rest)):
        return f"`{name}` overwrites a whole disk."
    if name in ("chmod", "chown") and options & {"-R", "--recursive"} and any(precious(target) for target in targets):
        return f"`{name} -R` on {targets[-1]} changes files far beyond the project."
    return None


event = json.load(sys.stdin.buffer)
try:
    found = parts(event["tool_input"].get("command", ""))
except ValueError:
    found = []  # unbalanced quotes: the shell refuses it anyway
for words in found:
    reason = danger(words)
    if reason:
        print(reason, file=sys.stderr)
        sys.exit(2)
