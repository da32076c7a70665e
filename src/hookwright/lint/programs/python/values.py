"""Expressions of a Python program -> values, and where an unknown part comes from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookwright.lint.programs import values
from hookwright.lint.programs.ir import UNKNOWN, Array, Hole, Object, Part, Text, Value, origins_of, text
from hookwright.lint.programs.python import calls as python_calls

if TYPE_CHECKING:
    from hookwright.lint.programs.python.reader import PythonReader


def value(reader: PythonReader, node: ast.expr) -> Value:
    """Tell what an expression comes to."""
    match node:
        case ast.Constant(value=constant):
            return _constant(constant)
        case ast.Name(id=name):
            return reader.variables.get(name, UNKNOWN)
        case ast.JoinedStr(values=parts):
            return text(*(_formatted(reader, part) for part in parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return values.added(value(reader, left), value(reader, right))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return _percent(value(reader, left), value(reader, right))
        case ast.Dict(keys=keys, values=members):
            return _dict(reader, keys, members)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return Array(tuple(value(reader, item) for item in items if not isinstance(item, ast.Starred)))
        case ast.Subscript(value=inner, slice=index):
            return _subscript(reader, node, inner, index)
        case ast.Call():
            return python_calls.call_value(reader, node)
        case ast.BoolOp(values=sides):
            return _either(reader, sides)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            reader.test(test)
            return _either(reader, [body, orelse])
        case ast.NamedExpr(target=target, value=inner):
            found = value(reader, inner)
            reader.bind(target, found)
            return found
        case ast.Await(value=inner) | ast.Starred(value=inner):
            return value(reader, inner)
        case ast.Attribute(value=inner):
            return Hole(origins_of(value(reader, inner)))
    return _comprehension(reader, node)


def _comprehension(reader: PythonReader, node: ast.expr) -> Value:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        for part in node.generators:
            reader.bind(part.target, values.element(value(reader, part.iter)))
        return Array((value(reader, node.elt),))
    if isinstance(node, ast.Compare | ast.UnaryOp):
        return Hole(reader.test(node).origins)
    return UNKNOWN


def _constant(constant: object) -> Value:
    if isinstance(constant, str):
        return text(constant)
    if constant is None or isinstance(constant, bool | int | float):
        return constant
    return UNKNOWN


def _formatted(reader: PythonReader, node: ast.expr) -> Text | str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return values.as_text(value(reader, node.value)) if isinstance(node, ast.FormattedValue) else text(UNKNOWN)


def _percent(left: Value, right: Value) -> Value:
    if not isinstance(left, Text):
        return UNKNOWN
    hole = Hole(origins_of(right))
    parts: list[Part] = []
    for index, piece in enumerate((left.constant or "").split("%s")):
        parts += [hole, piece] if index else [piece]
    return text(*parts)


def _dict(reader: PythonReader, keys: Sequence[ast.expr | None], members: Sequence[ast.expr]) -> Object:
    items: dict[str, Value] = {}
    opened = False
    for key, item_node in zip(keys, members, strict=True):
        found = value(reader, item_node)
        name = value(reader, key) if key is not None else None
        known = name.constant if isinstance(name, Text) else None
        if known is not None:
            items[known] = found
        elif key is None and isinstance(found, Object):
            items |= found.items
            opened |= found.open
        else:
            opened = True
    return Object(items, opened)


def _either(reader: PythonReader, nodes: Sequence[ast.expr]) -> Value:
    """Take one of several; fields of the event that are tried one after the other are marked so."""
    before = len(reader.fields)
    found = [value(reader, node) for node in nodes]
    values.tried(reader.fields, before)
    real = [item for item in found if not values.is_empty(item)]
    if len(real) == 1:
        return real[0]
    return Hole(frozenset(origin for item in found for origin in origins_of(item)))


def _subscript(reader: PythonReader, node: ast.expr, inner: ast.expr, index: ast.expr) -> Value:
    if reader.dotted(inner) == "os.environ":
        return python_calls.environment(reader, node, value(reader, index))
    found = value(reader, inner)
    key = index.value if isinstance(index, ast.Constant) else None
    if isinstance(key, str):
        return values.field(reader.fields, reader.place(node), found, key)
    return values.item(found, key) if isinstance(key, int) else Hole(origins_of(found))
