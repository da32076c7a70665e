"""Search files by pattern, as a program: one JSON request on stdin, one JSON answer on stdout.

It is a process of its own because a regular expression of a model may take forever, and nothing else could stop it.
It imports nothing but the standard library, so that it starts fast.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

#: Entries that are looked at before a search gives up, and says so.
MAX_ENTRIES = 200_000
#: Larger files are left out of a search by content.
MAX_FILE = 10_000_000
MAX_LINE = 500
MAX_TEXT = 200_000
SKIPPED = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})


_MAX_ALTERNATIVES = 500
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
_TOKEN = re.compile(r"(?<![^/])\*\*/|\*\*|\[[!^]?(?:\][^\]/]*|[^\]/]+)\]|.", re.DOTALL)
_MEANINGS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


class Refused(Exception):
    """A request that cannot be carried out, with the reason for the model."""


def glob_regex(pattern: str) -> re.Pattern[str]:
    """Translate a glob for paths relative to its folder: `**` any folders, `*` and `?` inside a name, `{a,b}`."""
    try:
        return re.compile("|".join(map(_translated, _alternatives(pattern))), re.DOTALL)
    except re.error as error:
        raise Refused(f"{pattern!r} cannot be read as a glob pattern: {error}") from None


def _alternatives(pattern: str) -> list[str]:
    """Write `{a,b}` out, the innermost first."""
    done, todo = [], [pattern]
    while todo:
        text = todo.pop()
        choice = _CHOICE.search(text)
        if choice is None:
            done.append(text)
        else:
            todo += [text[: choice.start()] + part + text[choice.end() :] for part in choice[1].split(",")]
        if len(done) + len(todo) > _MAX_ALTERNATIVES:
            raise Refused(f"{pattern!r} stands for more than {_MAX_ALTERNATIVES} patterns")
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
    """Write the inside of a set of characters so that nothing in it is special but a range."""
    out, at = "", 0
    while at < len(text):
        is_range = at + 2 < len(text) and text[at + 1] == "-"
        out += f"{re.escape(text[at])}-{re.escape(text[at + 2])}" if is_range else re.escape(text[at])
        at += 3 if is_range else 1
    return out


class Walk:
    """Yields the files below a folder; `complete` says afterwards whether it saw them all."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.complete = True

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Give (path relative to the folder, path), folders in the order of their names."""
        seen = 0
        stack = [""]
        while stack:
            folder = stack.pop()
            try:
                entries = sorted(os.scandir(os.path.join(self.root, folder)), key=lambda entry: entry.name)
            except OSError:
                continue
            deeper = []
            for entry in entries:
                seen += 1
                if seen > MAX_ENTRIES:
                    self.complete = False
                    return
                relative = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in SKIPPED:
                        deeper.append(f"{relative}/")
                elif entry.is_file():
                    yield relative, os.path.join(self.root, relative)
            stack += reversed(deeper)


def grep(request: dict[str, Any]) -> dict[str, Any]:
    """Find a regular expression in the files below a path."""
    flags = (re.IGNORECASE if request["ignore_case"] else 0) | (re.DOTALL | re.MULTILINE if request["multiline"] else 0)
    try:
        pattern = re.compile(request["pattern"], flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise Refused(f"the pattern is not a regular expression: {error}") from None
    found: list[tuple[str, int]] = []
    lines: list[str] = []
    size = 0
    for path in _files(request["path"], request["glob"]):
        text = _text(path)
        hits = [] if text is None else _hits(pattern, text, request["multiline"])
        if text is None or not hits:
            continue
        found.append((path, len(hits)))
        if request["mode"] == "content" and size < MAX_TEXT:
            shown = _shown(path, text, hits, request)
            lines += shown
            size += sum(map(len, shown))
    return {"files": found, "lines": lines}


def _files(path: str, glob: str | None) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
        return
    if not os.path.isdir(path):
        raise Refused(f"Path does not exist: {path}")
    # As in gitignore: a pattern without a slash is meant at any depth.
    wanted = None if glob is None else glob_regex(glob if "/" in glob else f"**/{glob}")
    walk = Walk(path)
    for relative, file in walk:
        if wanted is None or wanted.fullmatch(relative):
            yield file
    if not walk.complete:
        raise Refused(f"{path} has more than {MAX_ENTRIES:,} entries; search a smaller folder")


def _text(path: str) -> str | None:
    try:
        if os.stat(path).st_size > MAX_FILE:
            return None
        with open(path, "rb") as file:
            data = file.read(MAX_FILE)
    except OSError:
        return None
    return None if b"\0" in data[:8192] else data.decode("utf-8", "replace")


def _hits(pattern: re.Pattern[str], text: str, multiline: bool) -> list[int]:
    """List the numbers, from 0, of lines that match or in which a match begins."""
    if not multiline:
        return [number for number, line in enumerate(text.split("\n")) if pattern.search(line.removesuffix("\r"))]
    numbers = [text.count("\n", 0, match.start()) for match in pattern.finditer(text)]
    return list(dict.fromkeys(numbers))


def _shown(path: str, text: str, hits: list[int], request: dict[str, Any]) -> list[str]:
    """Write hits and the lines around them; `:` marks a hit, `-` what stands near one."""
    lines = text.split("\n")
    before, after, numbered = request["before"], request["after"], request["numbers"]
    wanted = sorted({near for hit in hits for near in range(max(hit - before, 0), min(hit + after + 1, len(lines)))})
    marks = set(hits)
    out: list[str] = []
    for place, number in enumerate(wanted):
        if (before or after) and place and number - wanted[place - 1] > 1:
            out.append("--")
        mark = ":" if number in marks else "-"
        where = f"{path}{mark}{number + 1}{mark}" if numbered else f"{path}{mark}"
        line = lines[number].removesuffix("\r")
        out.append(where + (line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}... [line truncated]"))
    return out


if __name__ == "__main__":
    try:
        answer: dict[str, Any] = grep(json.load(sys.stdin))
    except Refused as refusal:
        answer = {"refused": str(refusal)}
    json.dump(answer, sys.stdout)
