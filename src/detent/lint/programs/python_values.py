"""Expressions of a Python program -> values, and where an unknown part comes from."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from detent.lint.programs import python_calls
from detent.lint.programs.ir import (
    UNKNOWN,
    Array,
    Encoded,
    FieldRead,
    Hole,
    Object,
    Part,
    Place,
    Text,
    Value,
    origins_of,
    text,
)

if TYPE_CHECKING:
    from detent.lint.programs.python import Reader


def value(reader: Reader, node: ast.expr) -> Value:
    """Tell what an expression comes to."""
    match node:
        case ast.Constant(value=constant):
            return _constant(constant)
        case ast.Name(id=name):
            return reader.variables.get(name, UNKNOWN)
        case ast.JoinedStr(values=parts):
            return text(*(_formatted(reader, part) for part in parts))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _sum(value(reader, left), value(reader, right))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return _percent(value(reader, left), value(reader, right))
        case ast.Dict(keys=keys, values=values):
            return _dict(reader, keys, values)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return Array(tuple(value(reader, item) for item in items if not isinstance(item, ast.Starred)))
        case ast.Subscript(value=inner, slice=index):
            return _subscript(reader, node, inner, index)
        case ast.Call():
            return python_calls.call_value(reader, node)
        case ast.BoolOp(values=values):
            return _either(reader, values)
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


def _comprehension(reader: Reader, node: ast.expr) -> Value:
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        for part in node.generators:
            reader.bind(part.target, element(value(reader, part.iter)))
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


def as_text(found: Value) -> Text:
    """Write a value as `str` does, as far as that is known."""
    match found:
        case Text():
            return found
        case Hole():
            return text(found)
        case bool() | int() | float() | None:
            return text(str(found))
    return text(Hole(origins_of(found)))


def _formatted(reader: Reader, node: ast.expr) -> Text | str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return as_text(value(reader, node.value)) if isinstance(node, ast.FormattedValue) else text(UNKNOWN)


def _sum(left: Value, right: Value) -> Value:
    if isinstance(left, Array) and isinstance(right, Array):
        return Array((*left.items, *right.items))
    if isinstance(left, Text) or isinstance(right, Text):
        return text(as_text(left), as_text(right))
    return Hole(origins_of(left) | origins_of(right))


def _percent(left: Value, right: Value) -> Value:
    if not isinstance(left, Text):
        return UNKNOWN
    hole = Hole(origins_of(right))
    parts: list[Part] = []
    for index, piece in enumerate((left.constant or "").split("%s")):
        parts += [hole, piece] if index else [piece]
    return text(*parts)


def _dict(reader: Reader, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Object:
    items: dict[str, Value] = {}
    opened = False
    for key, item_node in zip(keys, values, strict=True):
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


def _either(reader: Reader, nodes: Sequence[ast.expr]) -> Value:
    """Take one of several; fields of the event that are tried one after the other are marked so."""
    before = len(reader.fields)
    found = [value(reader, node) for node in nodes]
    new = reader.fields[before:]
    if len({field.path for field in new}) > 1:
        reader.fields[before:] = [FieldRead(field.place, field.path, True) for field in new]
    real = [item for item in found if not _is_empty(item)]
    if len(real) == 1:
        return real[0]
    return Hole(frozenset(origin for item in found for origin in origins_of(item)))


def _is_empty(found: Value) -> bool:
    return found is None or found in (Text(), Object({}), Array(())) or found is False


def _subscript(reader: Reader, node: ast.expr, inner: ast.expr, index: ast.expr) -> Value:
    if reader.dotted(inner) == "os.environ":
        return python_calls.environment(reader, node, value(reader, index))
    found = value(reader, inner)
    key = index.value if isinstance(index, ast.Constant) else None
    if isinstance(key, str):
        return field(reader, reader.place(node), found, key)
    return item(found, key) if isinstance(key, int) else Hole(origins_of(found))


def field(reader: Reader, place: Place, found: Value, key: str) -> Value:
    """Look at one key of an object; of the event, note that it was looked at."""
    if isinstance(found, Object):
        return found.items.get(key, UNKNOWN)
    if not isinstance(found, Hole | Text):
        return UNKNOWN
    origins = found.origins
    for origin in origins:
        if origin == "event" or origin.startswith("event."):
            reader.fields.append(FieldRead(place, (*origin.split(".")[1:], key)))
    return Hole(frozenset(f"{origin}.{key}" if origin.startswith("event") else origin for origin in origins))


def item(found: Value, index: int) -> Value:
    """Look at one element of a list."""
    if isinstance(found, Array):
        return found.items[index] if -len(found.items) <= index < len(found.items) else UNKNOWN
    return Hole(origins_of(found))


def element(found: Value) -> Value:
    """Give what a loop over a value gets: one of its elements."""
    if isinstance(found, Object):
        return Hole(choices=tuple(found.items))
    if not isinstance(found, Array) or not found.items:
        return Hole(origins_of(found))
    if all(isinstance(part, Array) for part in found.items):
        rows = [part.items for part in found.items if isinstance(part, Array)]
        return Array(tuple(_one_of(column) for column in zip(*rows, strict=False)))
    return _one_of(found.items)


def _one_of(values: Sequence[Value]) -> Value:
    if len(values) == 1:
        return values[0]
    constants = [part.constant if isinstance(part, Text) else None for part in values]
    choices = tuple(part for part in constants if part is not None)
    return Hole(frozenset(origin for part in values for origin in origins_of(part)), choices)


def encoded(found: Value) -> Text:
    """Write a value as JSON."""
    return text(Encoded(found))
