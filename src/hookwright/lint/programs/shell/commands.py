"""Commands of a shell program -> statements: what prints, exits, reads stdin or starts something else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hookwright.lint.programs.blocks import redirected
from hookwright.lint.programs.ir import (
    Call,
    CodePlace,
    Hole,
    How,
    Leave,
    Say,
    Stdin,
    Stmt,
    Stream,
    Text,
    text,
)
from hookwright.lint.programs.shell.children import child, inline_code, reads_program
from hookwright.lint.programs.shell.jq_calls import eats, run_jq
from hookwright.lint.programs.shell.words import read_word, substitutions

if TYPE_CHECKING:
    from tree_sitter import Node

    from hookwright.lint.programs.shell.reader import ShellReader

Words = Sequence[Text]


class Line(NamedTuple):
    """One command as a builtin receives it."""

    reader: ShellReader
    words: Words
    place: CodePlace


#: Programs that print a changed form of their input.
_FILTERS = frozenset(
    ["awk", "cut", "egrep", "fgrep", "fold", "grep", "head", "rev", "sed", "sort", "tail", "tee", "tr", "uniq", "wc"]
)
_PATH_TOOLS = frozenset(["basename", "dirname", "realpath", "readlink"])
_SILENT = frozenset(
    [
        ":",
        "true",
        "false",
        "shift",
        "trap",
        "pushd",
        "popd",
        "break",
        "continue",
        "umask",
        "wait",
        "mkdir",
        "touch",
        "rm",
        "sleep",
        "unset",
        "shopt",
        "hash",
        "chmod",
        "ulimit",
        "getopts",
        "test",
        "[",
        "command",
        "which",
        "type",
        "alias",
        "disown",
    ]
)
_PREFIXES = frozenset(["command", "builtin", "exec", "env", "nohup", "time", "sudo", "timeout", "nice"])
_PRINTF = re.compile(r"%[-+ #0]*[\d*]*(?:\.[\d*]+)?([a-zA-Z%])")


def read_command(reader: ShellReader, node: Node, redirects: Sequence[Node]) -> list[Stmt]:
    """Read a simple command with its redirections."""
    own = [child for child in node.children if child.type.endswith("_redirect")]
    every = [*own, *redirects]
    name = node.child_by_field_name("name")
    if name is not None and reader.source(name) == "exec" and every and node.named_child_count - len(own) == 1:
        _turn(reader, every)
        return []
    return with_redirects(reader, every, lambda: _plain(reader, node, every))


def with_redirects(reader: ShellReader, redirects: Sequence[Node], body: Callable[[], list[Stmt]]) -> list[Stmt]:
    """Read something whose streams are turned elsewhere."""
    out, err = Stream.OUT, Stream.ERR
    kind, value = reader.input.kind, reader.input.text
    for node in redirects:
        if node.type == "heredoc_redirect":
            inner = next((child for child in node.children if child.type == "heredoc_body"), None)
            kind, value = Stdin.HERE, _heredoc(reader, node, inner)
            for more in node.children_by_field_name("redirect"):
                out, err, kind, value = _file_redirect(reader, more, (out, err), (kind, value))
        elif node.type == "herestring_redirect":
            kind, value = Stdin.HERE, text(*(reader.word(child) for child in node.children if child.is_named), "\n")
        else:
            out, err, kind, value = _file_redirect(reader, node, (out, err), (kind, value))
    return list(redirected(tuple(reader.reading(kind, value, body)), out, err))


def _turn(reader: ShellReader, redirects: Sequence[Node]) -> None:
    """Read `exec 1>&2`: the rest of the program prints elsewhere; another descriptor brings a saved stream back."""
    for node in redirects:
        if node.type != "file_redirect":
            continue
        out, err = reader.turned
        numbers = [reader.source(child) for child in node.children if child.type == "number"]
        if numbers and numbers[-1] not in ("1", "2"):
            reader.turned = (Stream.OUT, Stream.ERR)
        else:
            reader.turned = _file_redirect(reader, node, (out, err), (reader.input.kind, reader.input.text))[:2]


def _heredoc(reader: ShellReader, node: Node, body: Node | None) -> Text:
    start = next((reader.source(child) for child in node.children if child.type == "heredoc_start"), "")
    if body is None:
        return Text()
    if start[:1] in ("'", '"', "\\"):
        return text(reader.source(body))
    return read_word(reader, body)


def _file_redirect(
    reader: ShellReader, node: Node, streams: tuple[Stream, Stream], stdin: tuple[Stdin, Text]
) -> tuple[Stream, Stream, Stdin, Text]:
    out, err = streams
    descriptor = next((reader.source(child) for child in node.children if child.type == "file_descriptor"), "")
    operator = next((child.type for child in node.children if not child.is_named), "")
    targets = node.children_by_field_name("destination")
    target = reader.word(targets[0]).known if targets else ""
    if operator.startswith("<"):
        return out, err, *((Stdin.FILE, text(Hole())) if target != "/dev/stdin" else stdin)
    goal = {"2": err, "/dev/stderr": err, "1": out, "/dev/stdout": out}.get(target, Stream.AWAY)
    if operator in ("&>", "&>>") or (operator == ">&" and not descriptor and not target.isdigit()):
        return goal, goal, *stdin
    if descriptor == "2":
        return out, goal, *stdin
    return (goal if descriptor in ("", "1") else out), err, *stdin


def _plain(reader: ShellReader, node: Node, redirects: Sequence[Node]) -> list[Stmt]:
    """Read a command's words, after the effects of its substitutions."""
    skipped = ("file_redirect", "herestring_redirect", "heredoc_redirect")
    assignments = [child for child in node.children if child.type == "variable_assignment"]
    parts = [child for child in node.children if child.type not in (*skipped, "variable_assignment")]
    for redirect in redirects:
        if redirect.type == "heredoc_redirect":
            parts += redirect.children_by_field_name("argument")
    before = [stmt for part in (*assignments, *parts) for stmt in substitutions(reader, part)]
    if node.type == "test_command" or not parts:
        return before
    words = [reader.word(part) for part in parts]
    return [*before, *run(reader, words, reader.place(node))]


def run(reader: ShellReader, words: Words, place: CodePlace) -> list[Stmt]:
    """Read a command by its name."""
    first = words[0].constant if words else None
    name = first.rsplit("/", 1)[-1] if first else ""
    if name in _BUILTINS:
        return _BUILTINS[name](Line(reader, words, place))
    inlined = reader.inline(name, words[1:]) if name else None
    if inlined is not None:
        return inlined
    if name in _PREFIXES and len(words) > 1:
        return _prefixed(reader, name, words, place)
    code = inline_code(name, words)
    if code is not None:
        return child(reader, words, code, place, from_stdin=False)
    if reads_program(reader, name, words):
        return child(reader, words, (name, reader.input.text), place, from_stdin=True)
    if name in _FILTERS:
        return _filter(reader, name, words, place)
    if name in _PATH_TOOLS:
        return [Say(place, Stream.OUT, _path_tool(name, words))]
    if name in _SILENT:
        return []
    return [Call(place, tuple(words), reader.input.kind)]


def _prefixed(reader: ShellReader, name: str, words: Words, place: CodePlace) -> list[Stmt]:
    """Take off `exec`, `env X=1`, `timeout 5` and the like."""
    rest = list(words[1:])
    while rest and ((known := rest[0].known).startswith("-") or (name == "env" and "=" in known)):
        if name == "command" and known in ("-v", "-V"):
            return []
        rest.pop(0)
    if name == "timeout" and rest:
        rest.pop(0)
    if not rest:
        return []
    found = run(reader, rest, place)
    return [*found, Leave(place, None)] if name == "exec" else found


# ── builtins ────────────────────────────────────────────────────────────────


def _exit(line: Line) -> list[Stmt]:
    code = line.words[1].constant if len(line.words) > 1 else None
    if len(line.words) > 1 and code is None:
        choices = [choice for hole in line.words[1].holes for choice in hole.choices]
        code = choices[0] if len(set(choices)) == 1 and len(line.words[1].parts) == 1 else None
    return [Leave(line.place, int(code) % 256 if code is not None and code.lstrip("-").isdigit() else None)]


def _echo(line: Line) -> list[Stmt]:
    rest = list(line.words[1:])
    newline = "\n"
    while rest and re.fullmatch(r"-[neE]+", rest[0].constant or ""):
        newline = "" if "n" in (rest.pop(0).constant or "") else newline
    parts = [part for index, word in enumerate(rest) for part in ((" ", word) if index else (word,))]
    return [Say(line.place, Stream.OUT, text(*parts, newline))]


def _printf(line: Line) -> list[Stmt]:
    rest = list(line.words[1:])
    if len(rest) > 1 and rest[0].constant == "-v":
        line.reader.assigned.add(rest[1].known)
        line.reader.variables[rest[1].known] = text(Hole())
        return []
    form = rest[0].constant if rest else None
    if form is None:
        return [Say(line.place, Stream.OUT, text(Hole(frozenset(o for word in rest for o in word.origins))))]
    return [Say(line.place, Stream.OUT, _formatted(form, rest[1:]))]


def _formatted(form: str, arguments: Words) -> Text:
    parts: list[str | Text | Hole] = []
    waiting = list(arguments)
    start = 0
    for match in _PRINTF.finditer(form):
        parts.append(_backslashes(form[start : match.start()]))
        start = match.end()
        if match[1] == "%":
            parts.append("%")
        elif waiting:
            value = waiting.pop(0)
            parts.append(Hole(value.origins, quoted=True) if match[1] == "q" else value)
    parts.append(_backslashes(form[start:]))
    return text(*parts)


def _backslashes(part: str) -> str:
    return part.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")


def _cat(line: Line) -> list[Stmt]:
    files = [word for word in line.words[1:] if not word.known.startswith("-") or word.constant == "-"]
    if files and any(word.constant not in ("-", "/dev/stdin") for word in files):
        return [Say(line.place, Stream.OUT, text(Hole()))]
    return [*eats(line.reader, "cat", line.place), Say(line.place, Stream.OUT, line.reader.input.text)]


def _read(line: Line) -> list[Stmt]:
    names = [word.known for word in line.words[1:] if not word.known.startswith("-")]
    for name in names or ["REPLY"]:
        line.reader.assigned.add(name)
        line.reader.variables[name] = text(Hole(line.reader.input.text.origins))
    whole = any("d" in word.known for word in line.words[1:] if word.known.startswith("-"))
    return eats(line.reader, "read", line.place) if whole else []


def _mapfile(line: Line) -> list[Stmt]:
    names = [word.known for word in line.words[1:] if not word.known.startswith("-")]
    for name in names[-1:]:
        line.reader.assigned.add(name)
        line.reader.variables[name] = text(Hole(line.reader.input.text.origins))
    return eats(line.reader, "mapfile", line.place)


def _set(line: Line) -> list[Stmt]:
    known = [word.known for word in line.words[1:]]
    for index, word in enumerate(known):
        if word == "-o" or re.fullmatch(r"-[a-z]*o", word):
            line.reader.pipefail |= known[index + 1 : index + 2] == ["pipefail"]
            line.reader.errexit |= known[index + 1 : index + 2] == ["errexit"]
        if re.fullmatch(r"-[a-z]+", word) and "e" in word:
            line.reader.errexit = True
        elif re.fullmatch(r"\+[a-z]+", word) and "e" in word:
            line.reader.errexit = False
    return []


def _include(line: Line) -> list[Stmt]:
    line.reader.includes = True
    return []


def _export(line: Line) -> list[Stmt]:
    line.reader.assigned.update(word.known.partition("=")[0] for word in line.words[1:])
    return []


def _jq(line: Line) -> list[Stmt]:
    return run_jq(line.reader, line.words, line.place)


def _return(line: Line) -> list[Stmt]:
    return [Leave(line.place, None, How.RETURN)]


_BUILTINS: dict[str, Callable[[Line], list[Stmt]]] = {
    "exit": _exit,
    "return": _return,
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "set": _set,
    "source": _include,
    ".": _include,
    "export": _export,
    "jq": _jq,
}


# ── programs ────────────────────────────────────────────────────────────────


def _filter(reader: ShellReader, name: str, words: Words, place: CodePlace) -> list[Stmt]:
    """Read a program that passes on what it reads, in another form."""
    operands = [word for word in words[1:] if not word.known.startswith("-")]
    needs = 1 if name in ("awk", "egrep", "fgrep", "grep", "sed") else 0
    from_files = len(operands) > needs and name not in ("tr", "tee")
    if from_files:
        origins = frozenset(origin for word in operands[needs:] for origin in word.origins)
        return [Call(place, tuple(words), reader.input.kind), Say(place, Stream.OUT, text(Hole(origins)))]
    said = Say(place, Stream.OUT, text(Hole(reader.input.text.origins)))
    quiet = name.endswith("grep") and any(re.fullmatch(r"-[a-zA-Z]*q[a-zA-Z]*|--quiet", w.known) for w in words[1:])
    return [*eats(reader, name, place), *([] if quiet else [said])]


def _path_tool(name: str, words: Words) -> Text:
    operands = [word for word in words[1:] if not word.known.startswith("-")]
    value = operands[0] if operands else Text()
    if value.constant is None:
        return text(Hole(value.origins), "\n")
    change = {"basename": os.path.basename, "dirname": os.path.dirname}.get(name, os.path.normpath)
    return text(change(value.constant), "\n")
