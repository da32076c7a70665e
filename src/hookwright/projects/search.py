"""Read, Grep and Glob as a program: one JSON request on stdin, one JSON answer on stdout.

Each search has its own process because a model's regular expression may take forever, and only the end of the process
stops it. The program imports nothing but the standard library and its own folder, so it starts fast.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from hookwright.projects.files import Refused, read_lines
from hookwright.projects.folders import MAX_ENTRIES, Walk
from hookwright.projects.globs import glob_regex, rooted

#: Larger files are not searched by content.
MAX_FILE = 10_000_000
MAX_LINE = 500
MAX_TEXT = 200_000


def read(request: dict[str, Any]) -> dict[str, Any]:
    """Read lines of a file."""
    path = os.path.expanduser(request["path"])
    return read_lines(path, request["first"], request["wanted"], request["most"], request["widest"])._asdict()


def glob(request: dict[str, Any]) -> dict[str, Any]:
    """List the files below a folder that match a glob pattern, latest change first."""
    folder, pattern = rooted(os.path.expanduser(request["path"]), request["pattern"])
    if not os.path.isdir(folder):
        raise Refused(f"Directory does not exist: {folder}")
    wanted = glob_regex(pattern)
    walk = Walk(folder, pattern, request.get("inside", ()))
    found = [(_modified(path), path) for relative, path in walk if wanted.fullmatch(relative)]
    names = [path for _, path in sorted(found, key=lambda pair: (-pair[0], pair[1]))]
    shown = [_name(path, request.get("base")) for path in names[: request["most"]]]
    return {"files": shown, "total": len(names), "complete": walk.complete}


def _name(path: str, base: str | None) -> str:
    """Return a path relative to `base` where it is below it."""
    inside = base is not None and path.startswith(base.rstrip("/") + "/")
    return os.path.relpath(path, base) if inside else path


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def grep(request: dict[str, Any]) -> dict[str, Any]:
    """Find a regular expression in the files below a path."""
    flags = (re.IGNORECASE if request["ignore_case"] else 0) | (re.DOTALL | re.MULTILINE if request["multiline"] else 0)
    try:
        pattern = re.compile(request["pattern"], flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise Refused(f"the pattern is not a regular expression: {error}") from None
    found: list[tuple[str, int, list[str]]] = []
    size = 0
    alone = "base" in request and os.path.isfile(os.path.expanduser(request["path"]))
    for path in _files(os.path.expanduser(request["path"]), request["glob"], request.get("inside", ())):
        text = _text(path)
        hits = [] if text is None else _hits(pattern, text, request["multiline"])
        if text is None or not hits:
            continue
        name = _name(path, request.get("base"))
        wanted = request["mode"] == "content" and size < MAX_TEXT
        shown = _shown("" if alone else name, text, hits, request) if wanted else []
        size += sum(map(len, shown))
        found.append((name, len(hits), shown))
    if request["mode"] == "files_with_matches":
        found.sort(key=lambda one: -_modified(os.path.join(request.get("base") or "", one[0])))
    return {"files": found}


def _files(path: str, pattern: str | None, inside: Sequence[str]) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
        return
    if not os.path.isdir(path):
        raise Refused(f"Path does not exist: {path}")
    # As in gitignore: a pattern without a slash applies at any depth.
    wanted = None if pattern is None else glob_regex(pattern if "/" in pattern else f"**/{pattern}")
    walk = Walk(path, pattern or "", inside)
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
    """Write hits and the lines around them: `:` marks a hit, `-` a line near one; without a path if that is empty."""
    lines = text.split("\n")
    before, after, numbered = request["before"], request["after"], request["numbers"]
    wanted = sorted({near for hit in hits for near in range(max(hit - before, 0), min(hit + after + 1, len(lines)))})
    marks = set(hits)
    out: list[str] = []
    for place, number in enumerate(wanted):
        if (before or after) and place and number - wanted[place - 1] > 1:
            out.append("--")
        mark = ":" if number in marks else "-"
        parts = [path] if path else []
        where = "".join(f"{part}{mark}" for part in (*parts, *([str(number + 1)] if numbered else [])))
        line = lines[number].removesuffix("\r")
        out.append(where + (line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}... [line truncated]"))
    return out


_REQUESTS = {"Read": read, "Grep": grep, "Glob": glob}


def main() -> None:
    """Answer the request on stdin."""
    request = json.load(sys.stdin.buffer)
    try:
        answer = _REQUESTS[request["tool"]](request)
    except Refused as refusal:
        answer = {"refused": str(refusal)}
    # A file name that is not UTF-8 is shown with question marks.
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))
