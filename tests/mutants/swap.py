"""Put changed code into a module that is already imported, where everybody who imported from it meets it."""

from __future__ import annotations

import ast
import functools
import sys
import types
from collections.abc import Iterator
from typing import Any

from mutants.mutant import assigned


class NotApplied(Exception):
    """A change has no place in the running module."""


def put_function(module: types.ModuleType, tree: ast.Module, function: str) -> None:
    """Give a function of a module the code of a changed tree; the function itself stays the same object."""
    codes = {code.co_qualname: code for code in _codes(_compiled(module, tree))}
    mine = [found for found in _functions(module) if found.__qualname__ == function]
    if function not in codes or not mine:
        raise NotApplied(f"{module.__name__}.{function} is not a function of the module")
    clear_caches(module)
    for found in mine:
        _put(found, codes[function])
    put_constants(module, tree, function)


def put_all(module: types.ModuleType, tree: ast.Module) -> int:
    """Give every function of a module its code of a changed tree; return how many changed."""
    codes = {code.co_qualname: code for code in _codes(_compiled(module, tree))}
    changed = 0
    for found in _functions(module):
        code = codes.get(found.__qualname__)
        if code is not None and code.replace(co_firstlineno=found.__code__.co_firstlineno) != found.__code__:
            _put(found, code)
            changed += 1
    return changed


def _put(function: types.FunctionType, code: types.CodeType) -> None:
    try:
        function.__code__ = code
    except ValueError as error:  # other names of a scope around it
        raise NotApplied(str(error)) from None


def put_constants(module: types.ModuleType, tree: ast.Module, name: str) -> None:
    """Evaluate a changed constant of a module and those that depend on it or on a function; rebind all of them."""
    changed = {name}
    for statement in tree.body:
        names = assigned(statement)
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        if used & changed and isinstance(statement, ast.FunctionDef):
            changed.add(statement.name)
        if names and used & changed:
            before = {name: module.__dict__.get(name) for name in names}
            only = ast.Module([statement], [])
            exec(compile(only, str(module.__file__), "exec"), module.__dict__)
            changed |= names
            _rebind(before, module)


def clear_caches(module: types.ModuleType) -> None:
    """Forget what functions of a module remember, so that the next call runs them."""
    for value in list(module.__dict__.values()):
        if hasattr(value, "cache_clear") and getattr(value, "__module__", "") == module.__name__:
            value.cache_clear()


def _rebind(before: dict[str, Any], module: types.ModuleType) -> None:
    for other in list(sys.modules.values()):
        known = getattr(other, "__dict__", {})
        for name, value in before.items():
            if value is not None and known.get(name) is value:
                known[name] = module.__dict__[name]


def _compiled(module: types.ModuleType, tree: ast.Module) -> types.CodeType:
    code = compile(tree, str(module.__file__), "exec", dont_inherit=True)
    assert isinstance(code, types.CodeType)
    return code


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _functions(module: types.ModuleType) -> Iterator[types.FunctionType]:
    """Yield the functions and methods that a module defines, below their decorators."""
    for value in list(module.__dict__.values()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            for inner in list(vars(value).values()):
                yield from _plain(inner, module)
        else:
            yield from _plain(value, module)


def _plain(value: object, module: types.ModuleType) -> Iterator[types.FunctionType]:
    match value:
        case property(fget=getter):
            yield from _plain(getter, module)
        case staticmethod() | classmethod():
            yield from _plain(value.__func__, module)
        case functools.cached_property():
            yield from _plain(value.func, module)
        case types.FunctionType() if value.__module__ == module.__name__:
            if value.__code__.co_qualname == value.__qualname__:  # else it is a decorator's, around the one meant
                yield value
            yield from _plain(getattr(value, "__wrapped__", None), module)
        case _ if hasattr(value, "cache_clear"):
            yield from _plain(getattr(value, "__wrapped__", None), module)
