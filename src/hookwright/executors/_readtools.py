"""Read, Grep and Glob as a program: one JSON call on stdin, one JSON result on stdout.

It is started as a file of its own and imports nothing but the standard library, so that it starts fast.
"""

from __future__ import annotations

import fnmatch
import glob
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

LINES = 2000
_WIDTH = 2000
_TEXT = 30_000
_HITS = 200
_FILES = 200
_FILE_BYTES = 10_000_000
_SKIPPED = {".git", "node_modules", "__pycache__", ".venv"}


class Refused(Exception):
    """A call that cannot be carried out, with the reason for the model."""


def read(arguments: Mapping[str, Any], cwd: str) -> str:
    """Give the lines of a file with their numbers."""
    path = _path(arguments, "file_path", cwd)
    first = max(_whole(arguments, "offset", 1), 1)
    count = min(_whole(arguments, "limit", LINES), LINES)
    lines = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if number >= first + count:
                lines.append(f"(more lines follow; go on with offset {number})")
                break
            if number >= first:
                lines.append(f"{number:>6}\t{_cut(line.rstrip(chr(10)), _WIDTH)}")
    return "\n".join(lines) or "(no lines here)"


def grep(arguments: Mapping[str, Any], cwd: str) -> str:
    """Give the lines that match, as path:line:text."""
    flags = re.IGNORECASE if arguments.get("ignore_case") is True else 0
    try:
        pattern = re.compile(_text(arguments, "pattern"), flags)
    except re.error as error:
        raise Refused(f"pattern is not a regular expression: {error}") from None
    hits: list[str] = []
    for path in _files(_path(arguments, "path", cwd, cwd), arguments.get("glob")):
        for hit in _matches(path, pattern):
            hits.append(hit)
            if len(hits) == _HITS:
                return "\n".join([*hits, f"(stopped at {_HITS} hits; narrow the search)"])
    return "\n".join(hits) or "(no matches)"


def list_files(arguments: Mapping[str, Any], cwd: str) -> str:
    """Give the files that match a glob pattern, newest first."""
    pattern = os.path.join(_path(arguments, "path", cwd, cwd), _text(arguments, "pattern"))
    found = [
        path
        for path in glob.iglob(pattern, recursive=True, include_hidden=True)
        if os.path.isfile(path) and not _SKIPPED & set(path.split(os.sep))
    ]
    found.sort(key=lambda path: (-os.path.getmtime(path), path))
    rest = [f"({len(found) - _FILES} more)"] if len(found) > _FILES else []
    return "\n".join([*found[:_FILES], *rest]) or "(no files)"


def _files(root: str, name: Any) -> Iterator[str]:
    if os.path.isfile(root):
        yield root
        return
    if not os.path.isdir(root):
        raise Refused(f"{root} does not exist")
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - _SKIPPED)
        for file in sorted(files):
            if not isinstance(name, str) or fnmatch.fnmatch(file, name):
                yield os.path.join(folder, file)


def _matches(path: str, pattern: re.Pattern[str]) -> Iterator[str]:
    try:
        if os.path.getsize(path) > _FILE_BYTES:
            return
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return  # a file that came or went, or may not be read, has no lines to show
    if b"\0" in data[:8192]:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if pattern.search(line):
            yield f"{path}:{number}:{_cut(line, 300)}"


def _path(arguments: Mapping[str, Any], key: str, cwd: str, default: str | None = None) -> str:
    if default is not None and key not in arguments:
        return default
    return os.path.join(cwd, os.path.expanduser(_text(arguments, key)))


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    if not isinstance(value, str) or not value:
        raise Refused(f"`{key}` must be text, not {value!r}")
    return value


def _whole(arguments: Mapping[str, Any], key: str, default: int) -> int:
    value = arguments.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(f"`{key}` must be a whole number, not {value!r}")
    return value


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[:width] + "…"


TOOLS = {"Read": read, "Grep": grep, "Glob": list_files}


def main() -> None:
    """Answer the call on stdin."""
    call = json.load(sys.stdin)
    try:
        if call["name"] not in TOOLS:
            raise Refused(f"there is no tool {call['name']}; there are {', '.join(TOOLS)}")
        text, is_error = _cut(TOOLS[call["name"]](call["input"], call["cwd"]), _TEXT), False
    except (Refused, OSError, ValueError) as error:
        text, is_error = str(error), True
    json.dump({"text": text, "is_error": is_error}, sys.stdout)


if __name__ == "__main__":
    main()
