"""Conditions of a Python program -> tests."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookwright.lint.programs.blocks import all_tests
from hookwright.lint.programs.ir import Array, Asks, Hole, Object, Test, origins_of
from hookwright.lint.programs.values import element, patterns_of, rooted

if TYPE_CHECKING:
    from hookwright.lint.programs.python.reader import PythonReader

_METHODS = {
    "startswith": Asks.PREFIX,
    "endswith": Asks.SUFFIX,
    "match": Asks.REGEX,
    "search": Asks.REGEX,
}
_METHODS |= {"fullmatch": Asks.REGEX, "findall": Asks.REGEX, "finditer": Asks.REGEX}
_EXISTS = frozenset(["os.path.exists", "os.path.isfile", "os.path.isdir", "shutil.which"])


def read_test(reader: PythonReader, node: ast.expr) -> Test:
    """Return the test of a condition."""
    place = reader.place(node)
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            found = read_test(reader, inner)
            return replace(found, negated=not found.negated)
        case ast.BoolOp(op=op, values=values):
            kind = Asks.ALL if isinstance(op, ast.And) else Asks.ANY
            return Test(place, kind, parts=tuple(read_test(reader, part) for part in values))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(reader, node, left, op, right)
        case ast.Compare(left=left, ops=ops, comparators=rights):
            pairs = zip((left, *rights), ops, rights, strict=False)
            return Test(place, Asks.ALL, parts=tuple(_compare(reader, node, a, op, b) for a, op, b in pairs))
        case ast.Call():
            return _call(reader, node)
        case ast.NamedExpr(target=target, value=inner):
            found = read_test(reader, inner)
            reader.bind(target, Hole(found.origins))
            return found
    return Test(place, Asks.EMPTY, origins_of(reader.value(node)), negated=True)


def _compare(reader: PythonReader, node: ast.expr, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Test:
    place = reader.place(node)
    if isinstance(op, ast.In | ast.NotIn):
        negated = isinstance(op, ast.NotIn)
        if reader.dotted(right) == "os.environ":
            names = patterns_of(reader.value(left))
            return Test(place, Asks.EXISTS, frozenset(f"env.{name}" for name in names), negated=negated)
        needle, hay = reader.value(left), reader.value(right)
        if isinstance(hay, Array | Object):
            return Test(place, Asks.EQUALS, origins_of(needle), patterns_of(hay), negated)
        return Test(place, Asks.CONTAINS, origins_of(hay), patterns_of(needle), negated)
    first, second = reader.value(left), reader.value(right)
    origins = origins_of(first) | origins_of(second)
    if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        found = patterns_of(second) or patterns_of(first)
        return Test(place, Asks.EQUALS, origins, found, isinstance(op, ast.NotEq | ast.IsNot))
    return Test(place, Asks.OTHER, origins)


def _call(reader: PythonReader, node: ast.Call) -> Test:
    place = reader.place(node)
    name = reader.dotted(node.func)
    if name in ("any", "all") and node.args and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
        for part in node.args[0].generators:
            reader.bind(part.target, element(reader.value(part.iter)))
        return read_test(reader, node.args[0].elt)
    if name == "bool" and node.args:
        return read_test(reader, node.args[0])
    if name in ("re.search", "re.match", "re.fullmatch", "re.findall") and len(node.args) > 1:
        found = _found(patterns_of(reader.value(node.args[0])), name)
        return Test(place, Asks.REGEX, origins_of(reader.value(node.args[1])), found)
    if name in ("fnmatch.fnmatch", "fnmatch.fnmatchcase") and len(node.args) > 1:
        return Test(place, Asks.GLOB, origins_of(reader.value(node.args[0])), patterns_of(reader.value(node.args[1])))
    if name in _EXISTS:
        return Test(place, Asks.EXISTS, origins_of(reader.value(node.args[0])) if node.args else frozenset())
    if name in reader.functions:
        return _function(reader, node, name)
    return _method(reader, node)


def _found(patterns: tuple[str, ...], name: str) -> tuple[str, ...]:
    return rooted(patterns) if name.endswith("match") else patterns


def _function(reader: PythonReader, node: ast.Call, name: str) -> Test:
    place = reader.place(node)
    given = frozenset(origin for argument in node.args for origin in origins_of(reader.value(argument)))
    body = reader.inline(name, node)
    asked = (*all_tests(body), *reader.answers) if body is not None else ()
    return Test(place, Asks.ANY, given, parts=asked) if asked else Test(place, Asks.OTHER, given)


def _method(reader: PythonReader, node: ast.Call) -> Test:
    place = reader.place(node)
    if not isinstance(node.func, ast.Attribute):
        return Test(place, Asks.OTHER, origins_of(reader.value(node)))
    subject = reader.value(node.func.value)
    kind = _METHODS.get(node.func.attr)
    if kind is Asks.REGEX and node.args:
        # A compiled expression: the text that is searched is the argument.
        return Test(place, kind, origins_of(reader.value(node.args[0])), _found(patterns_of(subject), node.func.attr))
    if kind is not None and node.args:
        return Test(place, kind, origins_of(subject), patterns_of(reader.value(node.args[0])))
    if node.func.attr in ("exists", "is_file", "is_dir"):
        return Test(place, Asks.EXISTS, origins_of(subject))
    found = reader.value(node)
    return Test(place, Asks.EMPTY, origins_of(found), negated=True)
