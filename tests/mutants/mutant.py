"""Mutants of a module: every small change of its syntax tree, in the order of the source."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src"


class Slot(msgspec.Struct, frozen=True, eq=False):
    """A place in a syntax tree that holds a node."""

    parent: ast.AST
    field: str
    index: int | None = None

    @property
    def node(self) -> ast.AST:
        """The node in the place."""
        held = getattr(self.parent, self.field)
        node = held if self.index is None else held[self.index]
        assert isinstance(node, ast.AST)
        return node

    def put(self, node: ast.AST | None) -> None:
        """Replace the node, or take it out of its list."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        elif node is None:
            del getattr(self.parent, self.field)[self.index]
        else:
            getattr(self.parent, self.field)[self.index] = node


class Mutant(msgspec.Struct, frozen=True, eq=False):
    """One change of one module."""

    #: The module's path below `src`.
    file: str
    #: The outermost function or method that is changed, or the constant of the module.
    name: str
    #: The change, as `before → after`, numbered where a function has it more than once.
    change: str
    #: The lines of the statement; a test that runs none of them cannot notice the change.
    lines: range
    tree: ast.Module
    slot: Slot
    #: What goes there; None for nothing.
    node: ast.AST | None
    #: Whether `name` is a constant.
    constant: bool

    @property
    def id(self) -> str:
        """The name of the change, which does not move with the lines above it."""
        return f"{self.file}::{self.name}: {self.change}"

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"src/{self.file}:{self.lines.start}"

    def apply(self) -> ast.Module:
        """Change the tree for good and return it: a mutant lives in its own process."""
        self.slot.put(self.node)
        return ast.fix_missing_locations(self.tree)


def mutants(file: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of the source."""
    tree = ast.parse((SOURCE / file).read_text(), file)
    constants = {name for statement in tree.body for name in assigned(statement)}
    seen: Counter[tuple[str, str]] = Counter()
    found: list[Mutant] = []
    for name, lines, slot in _sites(tree):
        before = _text(slot.node)
        for node in _changes(slot.node, slot):
            change = f"{before} → {_text(node) if node is not None else '(nothing)'}"
            seen[name, change] += 1
            numbered = change if seen[name, change] == 1 else f"{change} ({seen[name, change]})"
            found.append(Mutant(file, name, numbered, lines, tree, slot, node, name in constants))
    return found


def assigned(statement: ast.stmt) -> set[str]:
    """Return the names that a statement of a module gives a value."""
    match statement:
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return {name}
    return set()


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.keyword):
        return f"{node.arg}={ast.unparse(node.value)}"
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
        return repr(node.value)
    return " ".join(ast.unparse(node).split())


# ── where ───────────────────────────────────────────────────────────────────

#: Fields that change nothing at run time, or nothing after the import.
_IGNORED = ("decorator_list", "annotation", "returns", "type_params", "args", "type_comment", "ctx", "format_spec")


def _sites(tree: ast.Module) -> Iterator[tuple[str, range, Slot]]:
    """Yield the nodes that may change, with the outermost function around them and the lines of their statement."""
    for index, statement in enumerate(tree.body):
        yield from _of_definition(statement, Slot(tree, "body", index), "")


def _of_definition(node: ast.stmt, slot: Slot, prefix: str) -> Iterator[tuple[str, range, Slot]]:
    match node:
        case ast.ClassDef():
            for index, inner in enumerate(node.body):
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    yield from _of_definition(inner, Slot(node, "body", index), f"{prefix}{node.name}.")
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            for index, inner in enumerate(node.body):
                for lines, found in _walk(Slot(node, "body", index), _lines(inner)):
                    yield f"{prefix}{node.name}", lines, found
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            for name in () if _is_type(value) else sorted(assigned(node) - {"__all__"}):
                for lines, found in _walk(Slot(node, "value"), _lines(node)):
                    yield name, lines, found


def _is_type(value: ast.expr) -> bool:
    """Return whether a module names a type: nothing reads it at run time."""
    inner = [value.left, value.right] if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr) else []
    alias = isinstance(value, ast.Name) and value.id[0].isupper() and not value.id.isupper()
    return isinstance(value, ast.Subscript) or alias or (bool(inner) and all(_is_type(node) for node in inner))


def _walk(slot: Slot, lines: range) -> Iterator[tuple[range, Slot]]:
    node = slot.node
    if _is_left_alone(node):
        return
    if isinstance(node, ast.stmt):
        lines = _lines(node)
    yield lines, slot
    for field, value in ast.iter_fields(node):
        if field in _IGNORED and not (field == "args" and isinstance(node, ast.Call)):
            continue
        if isinstance(value, ast.AST):
            yield from _walk(Slot(node, field), lines)
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _walk(Slot(node, field, index), lines)


def _is_left_alone(node: ast.AST) -> bool:
    """Return whether a statement is a docstring, an assertion or the end of a closed choice."""
    if isinstance(node, ast.Assert | ast.Raise):
        return True
    if not isinstance(node, ast.Expr):
        return False
    value = node.value
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(value, ast.Constant) or (isinstance(called, ast.Name) and called.id == "assert_never")


def _lines(node: ast.stmt) -> range:
    """Return the lines of a statement; of a compound one those of its head."""
    end = node.end_lineno or node.lineno
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    first = body[0] if body else None
    if isinstance(first, ast.match_case):
        end = max(node.lineno, first.pattern.lineno - 1)
    elif first is not None:
        end = max(node.lineno, first.lineno - 1)
    return range(node.lineno, end + 1)


# ── what ────────────────────────────────────────────────────────────────────

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATIONS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
}


def _changes(node: ast.AST, slot: Slot) -> Iterator[ast.AST | None]:
    """Yield what may stand for a node; None for nothing."""
    match node:
        case ast.Compare(ops=ops):
            for index, op in enumerate(ops):
                yield _with(node, ops=[*ops[:index], _COMPARISONS[type(op)](), *ops[index + 1 :]])
        case ast.BoolOp(op=op):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            yield from (left, right)
        case ast.BinOp(op=op) if type(op) in _OPERATIONS:
            yield _with(node, op=_OPERATIONS[type(op)]())
        case ast.Constant(value=value):
            yield from (ast.Constant(other) for other in _other(value))
        case ast.keyword(arg=str()):
            yield None
        case ast.Expr():
            yield ast.Pass()
        case ast.Continue():
            yield ast.Break()
        case ast.Break():
            yield ast.Continue()
        case ast.AugAssign(target=target, op=ast.Add(), value=value):
            yield ast.Assign(targets=[target], value=value, lineno=node.lineno)
        case ast.Return(value=ast.expr() as value) if not _is_nothing(value):
            yield ast.Return(ast.Constant(None))
    if _is_condition(slot) and isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.NamedExpr):
        yield ast.UnaryOp(ast.Not(), node)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _other(value: object) -> Iterator[bool | int | float | str | bytes]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str():
            yield f"{value[: len(value) // 2]}XX{value[len(value) // 2 :]}"
        case bytes():
            yield value[: len(value) // 2] + b"XX" + value[len(value) // 2 :]


def _is_nothing(node: ast.expr) -> bool:
    """Return whether None would mean the same: it is None, or a plain no."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def _is_condition(slot: Slot) -> bool:
    """Return whether a node decides between two ways."""
    return slot.field in ("test", "ifs", "guard") or (isinstance(slot.parent, ast.BoolOp) and slot.field == "values")
