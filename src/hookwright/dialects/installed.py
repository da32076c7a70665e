"""Which version of an agent is installed, read from its package, and whether its table is older than that."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from hookwright.config.files import Unreadable, read_bytes
from hookwright.dialects.model import Dialect, Evidence
from hookwright.protocol.jsontext import parse_json

_VERSION = re.compile(r"\d+(?:\.\d+)+")
#: A package file is not larger than this, and not further above its program.
_MOST = 1_000_000
_LEVELS = 6


def installed_version(dialect: Dialect, env: Mapping[str, str], project: str) -> str:
    """Return the version of the agent that a shell would start; empty if it is not installed or cannot be told.

    Law: nothing is executed, and nothing below the project is read: a project could bring a program of that name. A
    home directory is not a project.
    """
    program = _program(dialect.program, env, project) if dialect.program and dialect.package else ""
    return next(_versions(dialect.package, os.path.realpath(program)), "") if program else ""


def _program(name: str, env: Mapping[str, str], project: str) -> str:
    """Return the first program of a name on PATH, in a folder that is absolute and outside the project."""
    inside = os.path.join(os.path.realpath(project), "")
    if os.path.join(os.path.realpath(env.get("HOME", "")), "").startswith(inside):
        inside = "\0"
    for folder in env.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if not os.path.isabs(folder) or os.path.join(os.path.realpath(folder), "").startswith(inside):
            continue
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return "" if os.path.realpath(path).startswith(inside) else path
    return ""


def _versions(package: str, program: str) -> Iterator[str]:
    """Yield what the files above a program say about its version: npm's package, then Homebrew's folder."""
    folder = os.path.dirname(program)
    for _ in range(_LEVELS):
        yield from _package_version(package, os.path.join(folder, "package.json"))
        folder = os.path.dirname(folder)
    kept = re.search(r"/(?:Cellar|Caskroom)/[^/]+/(\d+(?:\.\d+)+)[^/]*/", program)
    if kept is not None:
        yield kept[1]


def _package_version(package: str, path: str) -> Iterator[str]:
    try:
        value, problem = parse_json(read_bytes(path, _MOST).decode("utf-8", "replace"))
    except (FileNotFoundError, NotADirectoryError, Unreadable):
        return
    if problem is None and isinstance(value, dict) and value.get("name") == package:
        found = _VERSION.match(str(value.get("version")))
        yield from (found[0],) if found is not None else ()


def newer_than_recorded(dialect: Dialect, env: Mapping[str, str], project: str) -> str:
    """Return a warning if the installed agent is newer than what its table was made from; else an empty text."""
    known = _VERSION.fullmatch(dialect.version)
    found = installed_version(dialect, env, project)
    if not found or known is None or _parts(found) <= _parts(known[0]):
        return ""
    what = "recorded" if dialect.proof.evidence is Evidence.RECORDED else "documented"
    return (
        f"{dialect.title} {found} is installed and newer than {dialect.version}, which was {what}: "
        "what is said here may not hold. Try a refusal first."
    )


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
