"""The globs of rules files: read, expanded and matched within a budget, for they come with the project."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from hookwright.matching.paths import PathPattern, parse_path

#: `{a,b}` in a glob may multiply; beyond this number of patterns and characters a rule applies to every file.
_MAX_GLOBS = 256
_MAX_CHARS = 16_384
#: Characters of patterns times characters of the path, for all rules and one file: about a second.
_MAX_STEPS = 10_000_000
_BRACES = re.compile(r"\{([^{}]*)\}")


def read_globs(head: Mapping[str, object]) -> tuple[str, ...]:
    """Read `paths`: one glob, several with commas, or a list."""
    paths = head.get("paths")
    listed = paths if isinstance(paths, list) else _split(paths) if isinstance(paths, str) else []
    return tuple(glob.strip() for glob in listed if isinstance(glob, str) and glob.strip())


def _split(text: str) -> list[str]:
    """Split a text at the commas outside braces; a brace that is not closed holds no commas."""
    found, start = [], 0
    last = text.rfind("}")
    inside = False
    for at, char in enumerate(text):
        if char == "{":
            inside = at < last
        elif char == "}":
            inside = False
        elif char == "," and not inside:
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]


@functools.lru_cache(maxsize=256)
def patterns(globs: tuple[str, ...]) -> tuple[PathPattern, ...] | None:
    """Return the patterns of a rule; None if they are too many or too long, and the rule applies to every file."""
    found: list[str] = []
    for glob in globs:
        several = expanded(glob)
        if several is None or len(found) + len(several) > _MAX_GLOBS:
            return None
        found += several
    return tuple(map(parse_path, found)) if sum(map(len, found)) <= _MAX_CHARS else None


def expanded(glob: str) -> list[str] | None:
    """Expand `{a,b}`, which path patterns do not support; return None if that gives too many patterns."""
    done: list[str] = []
    todo = [glob] if len(glob) <= _MAX_CHARS else []
    if not todo:
        return None
    while todo:
        one = todo.pop()
        found = _BRACES.search(one)
        if found is None:
            done.append(one)
        else:
            parts = found[1].split(",", _MAX_GLOBS)
            todo += [one[: found.start()] + part + one[found.end() :] for part in reversed(parts)]
        if len(done) + len(todo) > _MAX_GLOBS:
            return None
    return done


def matching(rules: Iterable[tuple[tuple[str, ...], str]], path: str) -> list[bool]:
    """Return for each rule, its globs and their folder, whether it applies to a file.

    Law: the work is bounded for all rules together. A rule that cannot be decided within the budget applies: a text
    too many for the model is harmless, a session that hangs is not.
    """
    left = _MAX_STEPS
    found = []
    for globs, base in rules:
        several = patterns(globs)
        if several is not None:
            left -= sum(len(pattern.text) + 1 for pattern in several) * len(path)
        found.append(several is None or left < 0 or any(pattern.matches(path, [base]) for pattern in several))
    return found
