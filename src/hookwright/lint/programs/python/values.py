"""Expressions of a Python program -> values, and where an unknown part comes from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookwright.lint.programs.ir import (
    UNKNOWN,
    Array,
    Hole,
    Object,
    Part,
    Text,
    Value,
    origins_of,
    origins_of_test,
    text,
)
from hookwright.lint.programs.python.calls import call_value, environment
from hookwright.lint.programs.values import added, as_text, element, elsewhere, field, is_empty, item, tried

if TYPE_CHECKING:
    from hookwright.lint.programs.python.reader import PythonReader


def read_value(reader: PythonReader, node: ast.expr) -> Value:
    """Return the value of an expression."""
    match node:
        case ast.Constant(value=constant):
            return _constant(constant)
        case ast.Name(id=name):
            return reader.variables.get(name, UNKNOWN)
        case ast.JoinedStr(values=parts):
            return text(*(_formatted(reader, part) for part in parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return added(read_value(reader, left), read_value(reader, right))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return _percent(read_value(reader, left), read_value(reader, right))
        case ast.Dict(keys=keys, values=members):
            return _dict(reader, keys, members)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return Array(tuple(read_value(reader, part) for part in items if not isinstance(part, ast.Starred)))
        case ast.Subscript(value=inner, slice=index):
            return _subscript(reader, node, inner, index)
        case ast.Call():
            return call_value(reader, node)
        case ast.BoolOp(values=sides):
            return _either(reader, sides)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            reader.test(test)
            return _either(reader, [body, orelse])
        case ast.NamedExpr(target=target, value=inner):
            found = read_value(reader, inner)
            reader.bind(target, found)
            return found
        case ast.Await(value=inner) | ast.Starred(value=inner):
            return read_value(reader, inner)
        case ast.Attribute(value=inner):
            return Hole(origins_of(read_value(reader, inner)))
        case ast.UnaryOp():
            return _unary(reader, node)
    return _comprehension(reader, node)


def _comprehension(reader: PythonReader, node: ast.expr) -> Value:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        for part in node.generators:
            reader.bind(part.target, element(read_value(reader, part.iter)))
        return Array((read_value(reader, node.elt),))
    if isinstance(node, ast.Compare):
        return Hole(origins_of_test(reader.test(node)))
    return UNKNOWN


def _unary(reader: PythonReader, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        return Hole(origins_of_test(reader.test(node)))
    found = read_value(reader, node.operand)
    if isinstance(node.op, ast.USub) and isinstance(found, int | float):
        return -found
    return Hole(origins_of(found))


def _constant(constant: object) -> Value:
    if isinstance(constant, str):
        return text(constant)
    if constant is None or isinstance(constant, bool | int | float):
        return constant
    return UNKNOWN


def _formatted(reader: PythonReader, node: ast.expr) -> Text | str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return as_text(read_value(reader, node.value)) if isinstance(node, ast.FormattedValue) else text(UNKNOWN)


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
        found = read_value(reader, item_node)
        name = read_value(reader, key) if key is not None else None
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
    """Return one of several values; event fields tried one after the other are marked as alternatives."""
    before, variables = len(reader.fields), len(reader.env)
    found = [read_value(reader, node) for node in nodes]
    tried(reader.fields, before)
    elsewhere(reader.env, variables, [part for part in found if not _of_environment(part)])
    real = [part for part in found if not is_empty(part)]
    if len(real) == 1:
        return real[0]
    return Hole(frozenset(origin for part in found for origin in origins_of(part)))


def _of_environment(found: Value) -> bool:
    origins = origins_of(found)
    return bool(origins) and all(origin.startswith("env.") for origin in origins)


def _subscript(reader: PythonReader, node: ast.expr, inner: ast.expr, index: ast.expr) -> Value:
    if reader.dotted(inner) == "os.environ":
        return environment(reader, node, read_value(reader, index))
    found = read_value(reader, inner)
    key = index.value if isinstance(index, ast.Constant) else None
    if isinstance(key, str):
        return field(reader.fields, reader.place(node), found, key)
    return item(found, key) if isinstance(key, int) else Hole(origins_of(found))
