"""Programs inside a shell program: `python3 -c`, `node -e`, and interpreters that read a here-document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookwright.lint.programs.blocks import moved, points
from hookwright.lint.programs.ir import (
    Call,
    CodePlace,
    Eat,
    Inner,
    Language,
    Program,
    Stdin,
    Stmt,
    Text,
    Within,
)
from hookwright.lint.programs.javascript.reader import read_javascript
from hookwright.lint.programs.python.reader import read_python

if TYPE_CHECKING:
    from hookwright.lint.programs.shell.reader import ShellReader

Words = Sequence[Text]

_SHELLS = ("bash", "sh")
_INLINE_CODE = {
    "-c": ("python", "python3", *_SHELLS),
    "-lc": _SHELLS,
    "-e": ("node", "bun"),
    "--eval": ("node", "bun"),
    "-p": ("node",),
}


def inline_code(name: str, words: Words) -> tuple[str, Text] | None:
    """Find the program in `python3 -c '…'`, `node -e '…'` and `bash -c '…'`."""
    for index, word in enumerate(words[1:-1], start=1):
        known = word.constant
        if known in _INLINE_CODE and re.sub(r"[\d.]+$", "", name) in {
            re.sub(r"\d", "", n) for n in _INLINE_CODE[known]
        }:
            return name, words[index + 1]
        if known is None or not known.startswith("-"):
            return None
    return None


def reads_program(reader: ShellReader, name: str, words: Words) -> bool:
    """Return whether an interpreter reads its program from a here-document."""
    if reader.input.kind is not Stdin.HERE or not re.fullmatch(r"python[\d.]*|node|bash|sh", name):
        return False
    return all(word.known.startswith("-") for word in words[1:])


def read_code(reader: ShellReader, name: str, code: str, *, event: bool) -> Program | None:
    """Read a program inside a shell program."""
    if name.startswith("python"):
        return read_python(code, event=event)
    if name in ("node", "bun"):
        return read_javascript(code, event=event)
    return reader.inner(code) if name in ("bash", "sh") else None


def child(
    reader: ShellReader, words: Words, code: tuple[str, Text], place: CodePlace, *, from_stdin: bool
) -> list[Stmt]:
    """Read a program inside the shell program as a child, whose exit ends only itself."""
    name, source = code
    known = source.constant
    if known is None:
        return [Call(place, tuple(words), reader.input.kind)]
    program = read_code(reader, name, known, event=not from_stdin and "event" in reader.input.text.origins)
    if program is None or (not program.body and known.strip()):
        return [Call(place, tuple(words), reader.input.kind)]
    reader.fields += [replace(field, place=place) for field in program.fields]
    reader.env += [replace(env, place=place) for env in program.env]
    body = moved(program.body, place.line if from_stdin else place.line - 1)
    if not from_stdin and reader.input.kind is not Stdin.EVENT:
        body = tuple(stmt for stmt in body if not isinstance(stmt, Eat))
    if from_stdin:
        eaten = [point.stmt for point in points(body) if isinstance(point.stmt, Eat)]
        body = (*(replace(stmt, by=f"{name} <<") for stmt in eaten[:1]), *(s for s in body if not isinstance(s, Eat)))
    return [Within(place, Inner.CHILD, body)]


def language_of(name: str) -> Language | None:
    """Return the language of an interpreter's programs."""
    if re.fullmatch(r"(?:ba|da|z|k)?sh", name):
        return Language.SHELL
    if re.fullmatch(r"python[\d.]*|pypy[\d.]*", name):
        return Language.PYTHON
    return Language.JAVASCRIPT if name in ("node", "bun", "deno", "nodejs") else None
