"""Calls in a JavaScript program: what prints, what leaves, what reads the event, what starts something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookwright.lint.programs.ir import (
    UNKNOWN,
    Arm,
    Array,
    Branch,
    Call,
    Catch,
    CodePlace,
    Eat,
    Hole,
    Leave,
    Say,
    Stdin,
    Stmt,
    Stream,
    Text,
    Try,
    Value,
    origins_of,
    text,
)
from hookwright.lint.programs.javascript.nodes import call_parts, key_of, unwrapped
from hookwright.lint.programs.values import added, as_text, encoded, one_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from hookwright.lint.programs.javascript.reader import JavaScriptReader

_SAYS = {
    "console.log": Stream.OUT,
    "console.info": Stream.OUT,
    "console.debug": Stream.OUT,
    "console.error": Stream.ERR,
    "console.warn": Stream.ERR,
    "process.stdout.write": Stream.OUT,
    "process.stderr.write": Stream.ERR,
}
_SHELL_STARTERS = frozenset(["exec", "execSync"])
_STARTERS = frozenset(["spawn", "spawnSync", "execFile", "execFileSync", "fork"])
_FUNCTIONS = frozenset(["arrow_function", "function_expression"])
#: Callbacks of these run with nothing known about their arguments.
_LATER = frozenset(
    ["on", "once", "then", "finally", "forEach", "addListener", "setTimeout", "setImmediate", "nextTick"]
)
_TEXT_METHODS = frozenset(["toString", "trim", "toLowerCase", "toUpperCase", "replace", "replaceAll", "slice", "split"])


def leave(place: CodePlace, found: Value) -> Leave:
    """End the program with a value, as `process.exit` reads it."""
    if found is None:
        return Leave(place, 0)
    return Leave(place, int(found) % 256) if isinstance(found, int | float) else Leave(place, None)


def _exit(reader: JavaScriptReader, node: Node, argument: Node | None) -> Stmt:
    """Leave; a status that depends on a condition is a branch."""
    place = reader.place(node)
    condition = argument.child_by_field_name("condition") if argument is not None else None
    if argument is None or argument.type != "ternary_expression" or condition is None:
        return leave(place, reader.value(argument) if argument is not None else None)
    yes, no = argument.child_by_field_name("consequence"), argument.child_by_field_name("alternative")
    ends = [leave(place, reader.value(side) if side is not None else None) for side in (yes, no)]
    return Branch(place, (Arm(reader.test(condition), (ends[0],)),), (ends[1],))


def read_statement(reader: JavaScriptReader, node: Node) -> list[Stmt]:
    """Read an expression statement."""
    match node.type:
        case "parenthesized_expression" | "await_expression":
            return read_statement(reader, node.named_children[0]) if node.named_children else []
        case "assignment_expression" | "augmented_assignment_expression":
            return _assign(reader, node)
        case "call_expression":
            return _call(reader, node)
        case "binary_expression":
            return _short_circuit(reader, node)
        case "ternary_expression":
            sides = [node.child_by_field_name("consequence"), node.child_by_field_name("alternative")]
            condition = node.child_by_field_name("condition")
            if condition is not None and sides[0] is not None and sides[1] is not None:
                return [reader.branch(node, [(reader.test(condition), [sides[0]])], [sides[1]])]
    reader.value(node)
    return []


def _short_circuit(reader: JavaScriptReader, node: Node) -> list[Stmt]:
    """Read `condition && call()`."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None or reader.source(operator) not in ("&&", "||"):
        return []
    test = reader.test(left)
    if reader.source(operator) == "||":
        test = replace(test, negated=not test.negated)
    return [Branch(reader.place(node), (Arm(test, tuple(read_statement(reader, right))),))]


def _assign(reader: JavaScriptReader, node: Node) -> list[Stmt]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return []
    found = reader.value(right)
    if node.type == "augmented_assignment_expression":
        found = added(reader.value(left), found)
    if reader.source(left) == "process.exitCode":
        return [leave(reader.place(node), found)]
    reader.bind(left, found)
    return []


def _call(reader: JavaScriptReader, node: Node) -> list[Stmt]:
    """Read a call by its name; callbacks are read as if they ran here."""
    function, arguments = call_parts(node)
    if function is None:
        return []
    name = reader.source(function).replace("?.", ".")
    if name == "process.exit":
        return [_exit(reader, node, arguments[0] if arguments else None)]
    if name in _SAYS:
        return [_say(reader, node, name, arguments)]
    inner = unwrapped(function)
    if inner.type in _FUNCTIONS:
        return list(reader.inline(inner, []) or ())
    if name in reader.functions:
        given = [reader.value(argument) for argument in arguments]
        return list(reader.inline(reader.functions[name], given) or ())
    started = _started(reader, node, name, arguments)
    if started is not None:
        return [started]
    if function.type == "member_expression":
        return _method(reader, node, function, arguments)
    return [*_callbacks(reader, name, arguments, Hole()), _unknown(reader, node, name)]


def _unknown(reader: JavaScriptReader, node: Node, name: str) -> Call:
    return Call(reader.place(node), (text(name),), program=False)


def _say(reader: JavaScriptReader, node: Node, name: str, arguments: list[Node]) -> Say:
    pieces: list[Text] = []
    for index, argument in enumerate(arguments if name.startswith("console") else arguments[:1]):
        pieces += [text(" ")] * bool(index) + [as_text(reader.value(argument))]
    return Say(reader.place(node), _SAYS[name], text(*pieces, "\n" if name.startswith("console") else ""))


def _method(reader: JavaScriptReader, node: Node, function: Node, arguments: list[Node]) -> list[Stmt]:
    """Read `process.stdin.on('end', …)`, `main().catch(…)` and other methods with callbacks."""
    inner = function.child_by_field_name("object")
    name = key_of(reader, function) or ""
    if inner is None:
        return []
    first = read_statement(reader, inner) if inner.type == "call_expression" else []
    if name == "catch":
        caught = _callbacks(reader, "then", arguments, Hole())
        return [Try(reader.place(node), tuple(first), (Catch(reader.place(function), ("Error",), tuple(caught)),))]
    stdin = reader.source(inner).endswith("stdin") or "readline" in reader.source(inner) or reader.source(inner) == "rl"
    given = _event(reader, node) if stdin and name in ("on", "once", "addListener") else Hole()
    if name in _LATER:
        return [*first, *_callbacks(reader, name, arguments, given)]
    called = reader.source(function)
    quiet = called.startswith(("process.stdin.", "process.stdout."))
    reader.value(node)
    return [*first, *([] if quiet else [_unknown(reader, node, called)])]


def _callbacks(reader: JavaScriptReader, name: str, arguments: list[Node], given: Value) -> list[Stmt]:
    found: list[Stmt] = []
    for argument in arguments:
        function = argument if argument.type in _FUNCTIONS else reader.functions.get(reader.source(argument))
        if function is not None and name.rsplit(".", 1)[-1] in _LATER:
            found += reader.inline(function, [given]) or ()
    return found


def _started(reader: JavaScriptReader, node: Node, name: str, arguments: list[Node]) -> Call | None:
    last = name.rsplit(".", 1)[-1]
    if last not in _SHELL_STARTERS | _STARTERS or not arguments:
        return None
    if last == "exec" and "." in name and not name.startswith(("child_process.", "cp.")):
        return None
    first = as_text(reader.value(arguments[0]))
    place = reader.place(node)
    if last in _SHELL_STARTERS:
        return Call(place, (first,), Stdin.EVENT, Stream.AWAY, checked=True, shell=True, background=last == "exec")
    more = reader.value(arguments[1]) if len(arguments) > 1 else None
    words = tuple(as_text(part) for part in more.items) if isinstance(more, Array) else ()
    return Call(place, (first, *words), Stdin.EVENT, Stream.AWAY, checked=True, background=last == "spawn")


# ── values ──────────────────────────────────────────────────────────────────


def call_value(reader: JavaScriptReader, node: Node) -> Value:
    """Return the value of a call; what it does is recorded as effects."""
    function, arguments = call_parts(node)
    if function is None:
        return UNKNOWN
    name = reader.source(function).replace("?.", ".")
    if name.endswith("readFileSync") and arguments and reader.source(arguments[0]).strip("'\"") in _STDIN_NAMES:
        return _event(reader, node)
    if name.endswith(("readFileSync", "readFile")):
        return Hole()  # the content of a file says nothing about its name
    if name == "JSON.parse":
        return Hole(origins_of(reader.value(arguments[0]))) if arguments else UNKNOWN
    if name == "JSON.stringify":
        return encoded(reader.value(arguments[0])) if arguments else UNKNOWN
    if name == "require" or name.endswith(".resolve"):
        reader.includes |= bool(arguments) and reader.source(arguments[0]).strip("'\"").startswith(".")
        return UNKNOWN
    if name in ("RegExp", "String", "Set", "Array.from") and arguments:
        return reader.value(arguments[0])
    started = _started(reader, node, name, arguments)
    if started is not None:
        reader.effects.append(started)
        return Hole()
    if name in reader.functions:
        return _function(reader, reader.functions[name], arguments)
    inner = unwrapped(function)
    if inner.type in _FUNCTIONS:
        return _function(reader, inner, arguments)
    return _method_value(reader, function, arguments)


_STDIN_NAMES = frozenset(["0", "/dev/stdin", "process.stdin.fd"])


def _function(reader: JavaScriptReader, function: Node, arguments: list[Node]) -> Value:
    body = reader.inline(function, [reader.value(argument) for argument in arguments])
    if body is None:
        return UNKNOWN
    reader.effects += body
    if "stdin" in reader.source(function):
        return Hole(frozenset({"event"})) if reader.event else Hole()
    return one_of(reader.last_returned) if reader.last_returned else None


def _event(reader: JavaScriptReader, node: Node) -> Hole:
    reader.effects.append(Eat(reader.place(node), "node"))
    return Hole(frozenset({"event"})) if reader.event else Hole()


def iterated(reader: JavaScriptReader, node: Node) -> Value:
    """Return what a `for … of` iterates over; for stdin it is the event."""
    if reader.source(node).endswith("stdin"):
        return _event(reader, node)
    return reader.value(node)


def _method_value(reader: JavaScriptReader, function: Node, arguments: list[Node]) -> Value:
    inner = function.child_by_field_name("object") if function.type == "member_expression" else None
    given = [reader.value(argument) for argument in arguments]
    if inner is None:
        return Hole(frozenset(origin for part in given for origin in origins_of(part)))
    subject = reader.value(inner)
    name = key_of(reader, function) or ""
    if name in ("trim", "toLowerCase", "toString") and isinstance(subject, Text) and subject.constant is not None:
        return subject
    if name == "concat":
        return added(subject, given[0]) if given else subject
    origins = origins_of(subject)
    if name not in _TEXT_METHODS or not origins:
        origins |= frozenset(origin for part in given for origin in origins_of(part))
    return Hole(origins)
