"""Calls in a Python program: what prints, what leaves, what reads the event, what starts something else."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from hookwright.lint.programs.ir import (
    UNKNOWN,
    Arm,
    Array,
    Branch,
    Call,
    CodePlace,
    Eat,
    EnvRead,
    Hole,
    Object,
    Say,
    Stdin,
    Stmt,
    Stream,
    Text,
    Value,
    origins_of,
    text,
)
from hookwright.lint.programs.values import as_text, elsewhere, encoded, field, one_of, patterns_of

if TYPE_CHECKING:
    from hookwright.lint.programs.python.reader import PythonReader

_EXITS = frozenset(["sys.exit", "exit", "quit", "os._exit"])
_STDIN_READS = frozenset(
    ["sys.stdin.read", "sys.stdin.buffer.read", "sys.stdin.readlines", "stdin.read", "sys.stdin.buffer.readlines"]
)
_STDIN_FILES = frozenset(["sys.stdin", "sys.stdin.buffer", "stdin"])
_STREAMS = {"sys.stdout": Stream.OUT, "sys.stderr": Stream.ERR, "sys.__stderr__": Stream.ERR}
_STARTERS = frozenset(
    [
        "subprocess.run",
        "subprocess.call",
        "subprocess.check_call",
        "subprocess.check_output",
        "subprocess.Popen",
        "subprocess.getoutput",
        "subprocess.getstatusoutput",
        "os.system",
        "os.popen",
        "os.execvp",
        "os.execv",
    ]
)
_SHELL_ALWAYS = frozenset(["os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"])
_RUNNERS = frozenset(["asyncio.run", "anyio.run"])
_QUIET = frozenset(
    ["str.strip", "sys.stdout.flush", "sys.stderr.flush", "sys.stdout.reconfigure", "sys.stdin.reconfigure"]
)


def read_statement(reader: PythonReader, node: ast.expr) -> list[Stmt]:
    """Read an expression statement."""
    if not isinstance(node, ast.Call):
        reader.value(node)
        return []
    name = reader.dotted(node.func)
    place = reader.place(node)
    if name in _EXITS:
        return _exit(reader, node)
    if name in _RUNNERS and node.args and isinstance(node.args[0], ast.Call):
        return read_statement(reader, node.args[0])
    said = _said(reader, node, name)
    if said is not None:
        return [said]
    if name in reader.functions:
        body = reader.inline(name, node)
        return list(body) if body is not None else []
    if name in _STARTERS:
        return [started(reader, node, name)]
    _changes(reader, node)
    reader.value(node)
    return [] if name in _QUIET else [_unknown(name, place)]


def _unknown(name: str, place: CodePlace) -> Call:
    return Call(place, (text(name) if name else text(Hole()),), program=False)


def _changes(reader: PythonReader, node: ast.Call) -> None:
    """Follow `output.update({...})` and `reasons.append(...)`."""
    if not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name) or not node.args:
        return
    name = node.func.value.id
    known, given = reader.variables.get(name), reader.value(node.args[0])
    if node.func.attr == "update" and isinstance(known, Object):
        more = given if isinstance(given, Object) else Object({}, True)
        reader.variables[name] = Object({**known.items, **more.items}, known.open or more.open)
    elif node.func.attr in ("append", "add", "extend"):
        reader.variables[name] = Hole(origins_of(known) | origins_of(given))


def _exit(reader: PythonReader, node: ast.Call) -> list[Stmt]:
    """Leave; `sys.exit(main())` leaves with what main returns."""
    argument = node.args[0] if node.args else None
    if isinstance(argument, ast.Call):
        inner = argument
        if reader.dotted(inner.func) in _RUNNERS and inner.args and isinstance(inner.args[0], ast.Call):
            inner = inner.args[0]
        body = reader.inline(reader.dotted(inner.func), inner, exits=True)
        if body is not None:
            return list(body)
    if isinstance(argument, ast.IfExp):
        arm = Arm(reader.test(argument.test), (reader.leave(node, reader.value(argument.body)),))
        return [Branch(reader.place(node), (arm,), (reader.leave(node, reader.value(argument.orelse)),))]
    return [reader.leave(node, reader.value(argument))]


def _said(reader: PythonReader, node: ast.Call, name: str) -> Say | None:
    """Recognise everything that prints."""
    place = reader.place(node)
    keywords = {word.arg: word.value for word in node.keywords if word.arg is not None}
    if name == "print":
        stream = _stream(reader, keywords.get("file"))
        end = reader.value(keywords["end"]) if "end" in keywords else text("\n")
        parts: list[Text] = []
        for index, argument in enumerate(node.args):
            parts += [text(" ")] * bool(index) + [as_text(reader.value(argument))]
        return Say(place, stream, text(*parts, end if isinstance(end, Text) else ""))
    if name in ("sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write") and node.args:
        stream = Stream.ERR if "stderr" in name else Stream.OUT
        return Say(place, stream, as_text(reader.value(node.args[0])))
    if name == "json.dump" and len(node.args) > 1:
        return Say(place, _stream(reader, node.args[1]), encoded(reader.value(node.args[0])))
    return None


def _stream(reader: PythonReader, node: ast.expr | None) -> Stream:
    return Stream.OUT if node is None else _STREAMS.get(reader.dotted(node), Stream.AWAY)


def started(reader: PythonReader, node: ast.Call, name: str) -> Call:
    """Read a call that starts a program."""
    keywords = {word.arg: word.value for word in node.keywords if word.arg is not None}
    given = reader.value(node.args[0]) if node.args else reader.value(keywords.get("args"))
    shell = name in _SHELL_ALWAYS or _is_true(keywords.get("shell"))
    words = tuple(as_text(part) for part in given.items) if isinstance(given, Array) else (as_text(given),)
    captured = "capture_output" in keywords or name.endswith("output") or name == "os.popen"
    out = Stream.AWAY if captured or "stdout" in keywords else Stream.OUT
    err = Stream.AWAY if captured or "stderr" in keywords else Stream.ERR
    stdin = Stdin.PIPE if "input" in keywords or "stdin" in keywords else Stdin.EVENT
    waits = name != "subprocess.Popen"
    return Call(reader.place(node), words, stdin, out, err, checked=True, shell=shell, background=not waits)


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


# ── values ──────────────────────────────────────────────────────────────────


def call_value(reader: PythonReader, node: ast.Call) -> Value:
    """Return the value of a call; what it does is recorded as effects."""
    name = reader.dotted(node.func)
    if name in _STDIN_READS or (name == "json.load" and node.args and reader.dotted(node.args[0]) in _STDIN_FILES):
        return _event(reader, node)
    if (
        name == "open"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value in (0, "/dev/stdin")
    ):
        return _event(reader, node)
    if name == "open" or (isinstance(node.func, ast.Attribute) and node.func.attr in ("read_text", "read_bytes")):
        return Hole()  # the content of a file says nothing about its name
    if name in ("os.environ.get", "os.getenv") and node.args:
        fallback = len(node.args) > 1 and reader.value(node.args[1]) not in (text(), None)
        before = len(reader.env)
        found = environment(reader, node, reader.value(node.args[0]), fallback=fallback)
        elsewhere(reader.env, before, [reader.value(argument) for argument in node.args[1:2]])
        return found
    if name in _STARTERS:
        reader.effects.append(started(reader, node, name))
        return Hole()
    if name in reader.functions:
        return _function(reader, node, name)
    given = [reader.value(argument) for argument in node.args]
    if name == "dict":
        return _make_dict(reader, node, given)
    if name in _BY_NAME:
        return _BY_NAME[name](given)
    return _method(reader, node, given)


def _event(reader: PythonReader, node: ast.Call) -> Value:
    reader.effects.append(Eat(reader.place(node), "Python"))
    return Hole(frozenset({"event"})) if reader.event else Hole()


def environment(reader: PythonReader, node: ast.AST, name: Value, *, fallback: bool = False) -> Hole:
    """Look at an environment variable."""
    names = patterns_of(name)
    reader.env += [EnvRead(reader.place(node), key, fallback) for key in names]
    return Hole(frozenset(f"env.{key}" for key in names))


def _function(reader: PythonReader, node: ast.Call, name: str) -> Value:
    body = reader.inline(name, node)
    if body is None:
        return UNKNOWN
    returned = reader.last_returned
    reader.effects += body
    return one_of(returned) if returned else None


def _loads(given: list[Value]) -> Value:
    return Hole(origins_of(given[0])) if given else UNKNOWN


def _dumps(given: list[Value]) -> Value:
    return encoded(given[0]) if given else UNKNOWN


def _quote(given: list[Value]) -> Value:
    return Hole(origins_of(given[0]), quoted=True) if given else UNKNOWN


def _same(given: list[Value]) -> Value:
    return given[0] if given else UNKNOWN


def _make_dict(reader: PythonReader, node: ast.Call, given: list[Value]) -> Value:
    items = {word.arg: reader.value(word.value) for word in node.keywords if word.arg is not None}
    opened = bool(given) or any(word.arg is None for word in node.keywords)
    return Object(items, opened)


_BY_NAME = {
    "json.loads": _loads,
    "json.dumps": _dumps,
    "shlex.quote": _quote,
    "re.compile": _same,
    "str": _same,
    "list": _same,
    "set": _same,
    "frozenset": _same,
    "tuple": _same,
    "sorted": _same,
}


def _method(reader: PythonReader, node: ast.Call, given: list[Value]) -> Value:
    """Follow the methods of strings, dictionaries and unknown values."""
    if not isinstance(node.func, ast.Attribute):
        return Hole(frozenset(origin for part in given for origin in origins_of(part)))
    subject = reader.value(node.func.value)
    method = node.func.attr
    if method == "get" and given and isinstance(given[0], Text) and given[0].constant is not None:
        found = field(reader.fields, reader.place(node), subject, given[0].constant)
        more = given[1] if len(given) > 1 else None
        return Hole(found.origins | origins_of(more)) if isinstance(found, Hole) else found
    if method == "items" and isinstance(subject, Object):
        return Array(tuple(Array((text(key), part)) for key, part in subject.items.items()))
    if method == "format" and isinstance(subject, Text):
        return _format(subject, given, node, reader)
    if method in ("strip", "rstrip", "lstrip", "lower", "upper") and isinstance(subject, Text) and subject.constant:
        return text(getattr(subject.constant, method)())
    origins = origins_of(subject)
    if method in ("join", "read", "split", "splitlines") or not origins:
        origins |= frozenset(origin for part in given for origin in origins_of(part))
    return Hole(origins)


def _format(subject: Text, given: list[Value], node: ast.Call, reader: PythonReader) -> Text:
    values = [*given, *(reader.value(word.value) for word in node.keywords)]
    hole = Hole(frozenset(origin for part in values for origin in origins_of(part)))
    known = subject.constant or ""
    return text(known, hole) if values else subject
