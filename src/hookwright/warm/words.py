"""Read shell commands with only one possible meaning: one program, plain words, quotes and variables."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

import msgspec

#: Characters without a special meaning anywhere in a shell word.
_PLAIN = r"[A-Za-z0-9_./+@%:,=-]"
_TOKEN = re.compile(
    rf"""
      (?P<blank>[ \t]+)
    | (?P<plain>{_PLAIN}+)
    | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\`$!]|\$(?:[A-Za-z_][A-Za-z0-9_]*|\{{[A-Za-z_][A-Za-z0-9_]*\}}))*)"
    | \$(?P<bare>[A-Za-z_][A-Za-z0-9_]*|\{{[A-Za-z_][A-Za-z0-9_]*\}})
    | (?P<home>~)(?=/)
    """,
    re.VERBOSE,
)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_HARMLESS = re.compile(rf"{_PLAIN}+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class _Text(msgspec.Struct, frozen=True):
    """Literal characters."""

    text: str


class _Quoted(msgspec.Struct, frozen=True):
    """The value of a variable in quotes; empty when it is not set."""

    name: str


class _Bare(msgspec.Struct, frozen=True):
    """The value of a variable without quotes; it must contain nothing the shell would split or expand."""

    name: str


_Part = _Text | _Quoted | _Bare


def split(command: str, env: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the words a POSIX shell would start, or None where only a shell can tell.

    Law: operators, redirections, substitutions, globs, escapes, comments, assignments before the program and anything
    else that is not certain return None. A result is the same in every POSIX shell.
    """
    parsed = _parse(command.strip(" \t\n"))
    if parsed is None:
        return None
    words = []
    for parts in parsed:
        word = ""
        for part in parts:
            value = part.text if isinstance(part, _Text) else env.get(part.name, "")
            if isinstance(part, _Bare) and not _HARMLESS.fullmatch(value):
                return None
            word += value
        words.append(word)
    return tuple(words)


@functools.lru_cache(maxsize=256)
def _parse(command: str) -> tuple[tuple[_Part, ...], ...] | None:
    words: list[list[_Part]] = []
    word: list[_Part] | None = None
    at = 0
    while at < len(command):
        token = _TOKEN.match(command, at)
        if token is None or (token.lastgroup == "home" and word is not None):
            return None
        at = token.end()
        if token.lastgroup == "blank":
            word = None
            continue
        if word is None:
            word = []
            words.append(word)
        word += _parts(token)
    if not words or _ASSIGNMENT.match("".join(p.text for p in words[0] if isinstance(p, _Text))):
        return None
    return tuple(map(tuple, words))


def _parts(token: re.Match[str]) -> list[_Part]:
    match token.lastgroup:
        case "home":
            return [_Quoted("HOME")]
        case "bare":
            return [_Bare(token["bare"].strip("{}"))]
        case "double":
            return _inside_quotes(token["double"])
        case _:
            return [_Text(token["plain"] or token["single"] or "")]


def _inside_quotes(text: str) -> list[_Part]:
    parts: list[_Part] = []
    at = 0
    for found in _VARIABLE.finditer(text):
        parts.append(_Text(text[at : found.start()]))
        parts.append(_Quoted(found[1] or found[2]))
        at = found.end()
    parts.append(_Text(text[at:]))
    return parts
