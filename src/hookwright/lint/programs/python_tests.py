"""Conditions of a Python program -> tests."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookwright.lint.programs.blocks import all_tests
from hookwright.lint.programs.ir import Array, Hole, Kind, Object, Test, origins_of
from hookwright.lint.programs.values import element, patterns_of, rooted

if TYPE_CHECKING:
    from hookwright.lint.programs.python import Reader

_METHODS = {"startswith": Kind.PREFIX, "endswith": Kind.SUFFIX, "match": Kind.REGEX, "search": Kind.REGEX}
_METHODS |= {"fullmatch": Kind.REGEX, "findall": Kind.REGEX, "finditer": Kind.REGEX}
_EXISTS = frozenset(["os.path.exists", "os.path.isfile", "os.path.isdir", "shutil.which"])


def test(reader: Reader, node: ast.expr) -> Test:
    """Tell what a condition asks."""
    place = reader.place(node)
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            found = test(reader, inner)
            return replace(found, negated=not found.negated)
        case ast.BoolOp(op=op, values=values):
            kind = Kind.ALL if isinstance(op, ast.And) else Kind.ANY
            return Test(place, kind, parts=tuple(test(reader, part) for part in values))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(reader, node, left, op, right)
        case ast.Call():
            return _call(reader, node)
        case ast.NamedExpr(target=target, value=inner):
            found = test(reader, inner)
            reader.bind(target, Hole(found.origins))
            return found
    return Test(place, Kind.EMPTY, origins_of(reader.value(node)), negated=True)


def _compare(reader: Reader, node: ast.expr, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Test:
    place = reader.place(node)
    if isinstance(op, ast.In | ast.NotIn):
        negated = isinstance(op, ast.NotIn)
        if reader.dotted(right) == "os.environ":
            names = patterns_of(reader.value(left))
            return Test(place, Kind.EXISTS, frozenset(f"env.{name}" for name in names), negated=negated)
        needle, hay = reader.value(left), reader.value(right)
        if isinstance(hay, Array | Object):
            return Test(place, Kind.EQUALS, origins_of(needle), patterns_of(hay), negated)
        return Test(place, Kind.CONTAINS, origins_of(hay), patterns_of(needle), negated)
    first, second = reader.value(left), reader.value(right)
    origins = origins_of(first) | origins_of(second)
    if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        found = patterns_of(second) or patterns_of(first)
        return Test(place, Kind.EQUALS, origins, found, isinstance(op, ast.NotEq | ast.IsNot))
    return Test(place, Kind.OTHER, origins)


def _call(reader: Reader, node: ast.Call) -> Test:
    place = reader.place(node)
    name = reader.dotted(node.func)
    if name in ("any", "all") and node.args and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
        for part in node.args[0].generators:
            reader.bind(part.target, element(reader.value(part.iter)))
        return test(reader, node.args[0].elt)
    if name == "bool" and node.args:
        return test(reader, node.args[0])
    if name in ("re.search", "re.match", "re.fullmatch", "re.findall") and len(node.args) > 1:
        found = _found(patterns_of(reader.value(node.args[0])), name)
        return Test(place, Kind.REGEX, origins_of(reader.value(node.args[1])), found)
    if name in ("fnmatch.fnmatch", "fnmatch.fnmatchcase") and len(node.args) > 1:
        return Test(place, Kind.GLOB, origins_of(reader.value(node.args[0])), patterns_of(reader.value(node.args[1])))
    if name in _EXISTS:
        return Test(place, Kind.EXISTS, origins_of(reader.value(node.args[0])) if node.args else frozenset())
    if name in reader.functions:
        return _function(reader, node, name)
    return _method(reader, node)


def _found(patterns: tuple[str, ...], name: str) -> tuple[str, ...]:
    return rooted(patterns) if name.endswith("match") else patterns


def _function(reader: Reader, node: ast.Call, name: str) -> Test:
    place = reader.place(node)
    given = frozenset(origin for argument in node.args for origin in origins_of(reader.value(argument)))
    body = reader.inline(name, node)
    asked = (*all_tests(body), *reader.answers) if body is not None else ()
    return Test(place, Kind.ANY, given, parts=asked) if asked else Test(place, Kind.OTHER, given)


def _method(reader: Reader, node: ast.Call) -> Test:
    place = reader.place(node)
    if not isinstance(node.func, ast.Attribute):
        return Test(place, Kind.OTHER, origins_of(reader.value(node)))
    subject = reader.value(node.func.value)
    kind = _METHODS.get(node.func.attr)
    if kind is Kind.REGEX and node.args:
        # A compiled expression: the text that is searched is the argument.
        return Test(place, kind, origins_of(reader.value(node.args[0])), _found(patterns_of(subject), node.func.attr))
    if kind is not None and node.args:
        return Test(place, kind, origins_of(subject), patterns_of(reader.value(node.args[0])))
    if node.func.attr in ("exists", "is_file", "is_dir"):
        return Test(place, Kind.EXISTS, origins_of(subject))
    found = reader.value(node)
    return Test(place, Kind.EMPTY, origins_of(found), negated=True)
