"""Translate glob patterns into regular expressions."""

from __future__ import annotations

import os
import re

from hookwright.projects.files import Refused

_MAX_ALTERNATIVES = 500
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_TOKEN = re.compile(r"(?<![^/])\*\*/|\*\*|\[[!^]?(?:\][^\]/]*|[^\]/]+)\]|.", re.DOTALL)
_MEANINGS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def glob_regex(pattern: str) -> re.Pattern[str]:
    """Translate a glob for paths relative to its folder: `**` any folders, `*` and `?` inside a name, `{a,b}`."""
    try:
        return re.compile("|".join(map(_translated, _alternatives(pattern))), re.DOTALL)
    except re.error as error:
        raise Refused(f"{pattern!r} is not a valid glob pattern: {error}") from None


def _alternatives(pattern: str) -> list[str]:
    """Expand `{a,b}`, the innermost first."""
    done, todo = [], [pattern]
    while todo:
        text = todo.pop()
        choice = _CHOICE.search(text)
        if choice is None:
            done.append(text)
        else:
            todo += [text[: choice.start()] + part + text[choice.end() :] for part in choice[1].split(",")]
        if len(done) + len(todo) > _MAX_ALTERNATIVES:
            raise Refused(f"{pattern!r} expands to more than {_MAX_ALTERNATIVES} patterns; use fewer alternatives")
    return done


def _translated(pattern: str) -> str:
    out = ""
    for token in _TOKEN.findall(pattern):
        if token in _MEANINGS:
            out += _MEANINGS[token]
        elif len(token) > 2 and token[0] == "[":
            negated = token[1] in "!^" and len(token) > 3
            out += ("[^/" if negated else "[") + _members(token[1 + negated : -1]) + "]"
        else:
            out += re.escape(token)
    return out


def _members(text: str) -> str:
    """Escape the characters of a set; only a range keeps its meaning."""
    out, at = "", 0
    while at < len(text):
        is_range = at + 2 < len(text) and text[at + 1] == "-"
        out += f"{re.escape(text[at])}-{re.escape(text[at + 2])}" if is_range else re.escape(text[at])
        at += 3 if is_range else 1
    return out


def rooted(folder: str, pattern: str) -> tuple[str, str]:
    """Move the leading parts without wildcards from the pattern to the folder, also `..` and an absolute path."""
    plain = []
    parts = pattern.split("/")
    while len(parts) > 1 and not set(parts[0]) & set("*?[{"):
        plain.append(parts.pop(0))
    if not plain:
        return folder, pattern
    return os.path.normpath(os.path.join(folder, "/".join(plain) or "/")), "/".join(parts)
