"""What Python code imports from the folders on its path, and which names there would come before other modules."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence

from hookwright.config.scripts.search import ScriptRole, ScriptSearch

#: Modules that Python or its library imports without being asked in the code; a file of that name comes before them.
_ALWAYS = frozenset(sys.stdlib_module_names) | {"sitecustomize", "usercustomize", "__main__"}
_MODULE = re.compile(r"([^.]+)(?:\.[\w-]+)*\.(?:py|pyc|pyo|so|pyd|pyw|zip)")


def search_python(text: str, path: str, roots: Sequence[str], role: ScriptRole, search: ScriptSearch) -> None:
    """Add the modules that code imports.

    Law: a name is looked for in every root, and in the code's own package if the import is relative. Every file that
    could be that module is added: source, compiled, extension, package. The names that are looked for in a root are
    bound as a list, with those of the standard library, which imports them itself. An import that is neither there
    nor in the standard library comes from an installed package; then every name of the root is bound.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about an escape in a script is not ours to report
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if path:
            search.note(f"what {os.path.basename(path)} imports, because it is not valid Python")
        return
    here = set().union(*(_by_name(root) for root in roots), *(_folders(root) for root in roots))
    elsewhere: set[str] = set()
    for name in dict.fromkeys(_imports(tree)):
        top = name.partition(".")[0]
        if name.startswith("."):
            _relative(name, path, roots, role, search)
        elif top in here:
            wants_module(name, roots, search, role)
        else:
            elsewhere.add(top)
    for root in roots:
        search.wants(root, elsewhere if elsewhere <= _ALWAYS else None)
    for root in roots:
        search.wants(root, ())
        _shadows(root, roots, role, search)
    if "sys.path" in text or "addsitedir" in text:
        _path_changes(tree, path, roots, search)
    if re.search(r"\b(?:importlib|__import__|runpy|exec|eval)\b", text) and path:
        search.note(f"what {os.path.basename(path)} loads by names it computes")


def wants_module(name: str, roots: Sequence[str], search: ScriptSearch, role: ScriptRole = ScriptRole.MODULE) -> None:
    """Add a module by its name, in each root in which it may be."""
    parts = name.split(".")
    found = False
    for root in roots:
        if root not in search.modules:
            search.wants(root, _ALWAYS)
        search.wants(root, (parts[0],))
        found |= _files(root, parts, roots, role, search)
    if not found and parts[0] not in _ALWAYS:
        for root in roots:
            search.wants(root, None)


def _files(root: str, parts: Sequence[str], roots: Sequence[str], role: ScriptRole, search: ScriptSearch) -> bool:
    """Add the files that a dotted name means below a folder; return whether there is one."""
    folder, found = root, False
    for number, part in enumerate(parts):
        if number:
            search.wants(folder, (part, "__init__"))
        for name in search.found(folder, part, _by_name):
            found = True
            search.add(os.path.join(folder, name), role, "python", tuple(roots))
        folder = os.path.join(folder, part)
    if os.path.isfile(main := os.path.join(folder, "__main__.py")):
        search.add(main, role, "python", tuple(roots))
    return found


def _relative(name: str, path: str, roots: Sequence[str], role: ScriptRole, search: ScriptSearch) -> None:
    level = len(name) - len(name.lstrip("."))
    folder = os.path.dirname(path)
    for _ in range(1, level):
        folder = os.path.dirname(folder)
    parts = [part for part in name.lstrip(".").split(".") if part]
    if parts:
        search.wants(folder, (parts[0],))
        _files(folder, parts, roots, role, search)


def _shadows(root: str, roots: Sequence[str], role: ScriptRole, search: ScriptSearch) -> None:
    """Add the files that come before modules of the standard library."""
    search.wants(root, _ALWAYS)
    for name in module_names(root, set(_ALWAYS)):
        search.add(os.path.join(root, name), role, "python", tuple(roots))


def module_names(folder: str, wanted: set[str] | None) -> list[str]:
    """Return the modules of a folder, by file name: sources, compiled files, extensions, packages; None for all."""
    return [name for stem, names in _by_name(folder).items() if wanted is None or stem in wanted for name in names]


def _by_name(folder: str) -> dict[str, list[str]]:
    """Return the files of each module in a folder, in a stable order."""
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return {}
    found: dict[str, list[str]] = {}
    for entry in listed:
        match = _MODULE.fullmatch(entry.name)
        if match is not None:
            found.setdefault(match[1], []).append(entry.name)
        elif entry.name != "__pycache__" and entry.is_dir() and (inner := _package(entry.path)):
            found.setdefault(entry.name, []).extend(f"{entry.name}/{name}" for name in inner)
    return found


def _folders(root: str) -> list[str]:
    try:
        with os.scandir(root) as entries:
            return [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []


def _package(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith("__init__.") and _MODULE.fullmatch(name))
    except OSError:
        return []


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            if node.module:
                yield base
            dot = "" if base.endswith(".") and not node.module else "."
            yield from (
                f"{base}{dot}{alias.name}" for alias in node.names if alias.name != "*" and (node.level or base)
            )
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__", "run_module") and isinstance(node.args[0].value, str):
                yield node.args[0].value or "_"


def _path_changes(tree: ast.AST, path: str, roots: Sequence[str], search: ScriptSearch) -> None:
    """Add the folders that code puts on the path, where it names them."""
    beside = os.path.dirname(path) if path else (roots[0] if roots else "")
    folders = [
        folder
        for text in _texts(tree)
        if os.path.isdir(folder := os.path.normpath(os.path.join(beside, text.lstrip("/") or "."))) and folder != "/"
    ]
    parents = [os.path.dirname(beside)] if beside else []
    for folder in dict.fromkeys((*folders, *parents)):
        if folder not in roots:
            search.wants(folder, _ALWAYS)
            for name in dict.fromkeys(_imports(tree)):
                if not name.startswith("."):
                    search.wants(folder, (name.split(".")[0],))
                    _files(folder, name.split("."), (*roots, folder), ScriptRole.RUN, search)
    search.note(f"what {os.path.basename(path) or 'the code'} finds through the sys.path it changes")


def _texts(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 0 < len(node.value) < 200:
            yield node.value
