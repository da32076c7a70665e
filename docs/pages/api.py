"""The API reference: public names with their signatures and docstrings, read from the source and never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from pages.markdown import code, page, ticked

import hookwright
from hookwright.protocol.events import CATALOGUE

ROOT = Path(hookwright.__file__).parent
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.AnnAssign | ast.Assign

#: Public modules other than the package itself, with their public names.
FURTHER = {
    "hookwright.background": ("Background",),
    "hookwright.executors.callback": ("CallbackContext", "Signal"),
    "hookwright.executors.toolbox": ("ToolBox", "ToolUse", "ReadResult"),
    "hookwright.protocol.samples": ("sample",),
    "hookwright.protocol.handlers": (
        *("CommandHandler", "HttpHandler", "McpToolHandler", "PromptHandler", "AgentHandler", "CallbackHandler"),
        "FunctionHandler",
    ),
    "hookwright.observers.otel": ("Telemetry",),
    "hookwright.models": ("from_environment",),
    "hookwright.models.script": ("Script", "load_script", "parse_script"),
    "hookwright.models.scripted": ("ScriptedModel",),
    "hookwright.author": ("Hook", "deny", "ask", "allow", "defer", "block", "stop", "context", "message", "rewrite"),
    "hookwright.agent": ("open_agent", "Agent", "AgentOptions", "Result", "Person"),
}


#: Members that only Hookwright's own hosts use: a function makes these objects, and its docstring says how.
HIDDEN = {
    ("Agent", "__init__"),
    ("Agent", "session"),
    ("Agent", "main"),
    ("HookSession", "__init__"),
    ("Loaded", "gate"),
}

#: Types that are passed around and never taken apart: shown with their docstring alone.
OPAQUE = {"Entry", "Watchdog"}


def api() -> str:
    """Write the page."""
    by_module: dict[str, list[str]] = {}
    for module, names in hookwright._EXPORTS.items():
        by_module.setdefault(module, []).extend(name for name in names if name not in CATALOGUE)
    parts = [_module(module, tuple(names), "hookwright") for module, names in by_module.items() if names]
    return page(
        "API",
        "Everything here is imported from `hookwright`, unless its heading says otherwise. "
        "Importing `hookwright` does nothing; names are loaded on first use.",
        f"The events are classes with the names of the wire: {ticked(CATALOGUE)}. "
        "Their fields are in [events.md](events.md); each class has its `rules`.",
        *parts,
        "## Further modules",
        *(_module(module, names, module) for module, names in FURTHER.items()),
        "## Types in signatures",
        "What the signatures above mention, each importable from the module in its heading.",
        *(_entry(module, name, module) for module, name in sorted(_mentioned())),
    )


def _public() -> Iterator[tuple[str, str]]:
    for listed in (hookwright._EXPORTS, FURTHER):
        for module, names in listed.items():
            for name in names:
                yield module, name


def _mentioned() -> set[tuple[str, str]]:
    """Find the types that public signatures mention, and those that their own signatures mention, and so on."""
    todo = [_home(module, name) for module, name in _public()]
    found = {home for home in todo if home is not None}
    listed = set(found)
    while todo:
        here = todo.pop()
        if here is None or here[1] in OPAQUE:
            continue
        for annotation in _annotations(_find(*here)[0]):
            for node in ast.walk(annotation):
                home = _home(here[0], node.id) if isinstance(node, ast.Name) else None
                if home is not None and home not in found:
                    found.add(home)
                    todo.append(home)
    return found - listed


def _home(module: str, name: str) -> tuple[str, str] | None:
    """Find the module that defines a name, and its name there; None for names from elsewhere and type variables."""
    tree = ast.parse(_path(module).read_text())
    for node in tree.body:
        if isinstance(node, Definition) and name in _defined(node):
            variable = isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("TypeVar(")
            return None if variable else (module, name)
    for inner in ast.walk(tree):
        if isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("hookwright"):
            for alias in inner.names:
                if (alias.asname or alias.name) == name:
                    return _home(inner.module or "", alias.name)
    return None


def _defined(node: Definition) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _annotations(node: Definition) -> Iterator[ast.expr]:
    """Yield what a definition's shown parts say about types."""
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        for item in _members(node):
            yield from _annotations(item)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        spec = node.args
        every = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
        yield from (one.annotation for one in every if one is not None and one.annotation is not None)
        yield from [node.returns] if node.returns is not None else []
    elif isinstance(node, ast.AnnAssign):
        yield node.annotation
    elif _is_alias(node):
        yield node.value


def _is_alias(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.BinOp | ast.Subscript | ast.Name)


def _members(node: ast.ClassDef) -> Iterator[Definition]:
    """Yield what the page shows of a class."""
    body = [inner for item in node.body for inner in (item.body if isinstance(item, ast.If) else [item])]
    for item in body:
        fields = isinstance(item, ast.AnnAssign | ast.Assign) and not _private(item)
        methods = isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and _shown(item)
        if isinstance(item, Definition) and (fields or methods) and not _hidden(node.name, item):
            yield item


def _hidden(owner: str, item: Definition) -> bool:
    return any((owner, name) in HIDDEN for name in _defined(item))


def _module(module: str, names: tuple[str, ...], home: str) -> str:
    return "\n\n".join(_entry(module, name, home) for name in names)


def _entry(module: str, name: str, home: str) -> str:
    node, lines = _find(module, name)
    heading = f"### {name}" if home == "hookwright" else f"### {module}.{name}"
    if isinstance(node, ast.ClassDef):
        text = _class(node, lines)
    elif isinstance(node, ast.AnnAssign):
        text = f"{name}: {ast.unparse(node.annotation)}"
    elif isinstance(node, ast.Assign):
        text = "\n".join([*_notes(node.lineno, lines), *lines[node.lineno - 1 : node.end_lineno]])
    else:
        text = _function(node, lines)
    return f"{heading}\n\n{code(text, 'python')}"


def _path(module: str) -> Path:
    path = ROOT.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _find(module: str, name: str) -> tuple[Definition, list[str]]:
    """Find the definition of a name, through re-exports, lazy ones included."""
    text = _path(module).read_text()
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node, text.splitlines()
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node, text.splitlines()
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets):
            return node, text.splitlines()
    for inner in ast.walk(tree):
        if isinstance(inner, ast.ImportFrom) and inner.module and any(alias.name == name for alias in inner.names):
            return _find(inner.module, name)
    raise LookupError(f"{module} has no {name}")


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """Copy the signature as it is written, and the docstring."""
    head = _head(node, lines)
    doc = _doc(node, lines)
    return f"{head}\n{doc}" if doc else f"{head} ..."


def _head(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    if node.body[0].lineno == node.lineno:  # a method for type checkers alone
        return f"    {lines[node.lineno - 1].strip().removesuffix(' ...')}"
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    written = lines[first - 1 : node.body[0].lineno - 1] or [lines[first - 1]]
    while not written[-1].rstrip().endswith(":") and "  #" not in written[-1]:
        written = written[:-1]
    return "\n".join(re.sub(r"  # .*$", "", line) for line in written)


def _class(node: ast.ClassDef, lines: list[str]) -> str:
    fields: list[str] = []
    methods: list[str] = []
    for item in () if node.name in OPAQUE else _members(node):
        if isinstance(item, ast.AnnAssign | ast.Assign):
            fields += [*_notes(item.lineno, lines), *lines[item.lineno - 1 : item.end_lineno]]
        elif isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            methods.append(_function(item, lines))
    head = "\n".join(filter(None, [_head(node, lines), _doc(node, lines)]))
    parts = ["\n".join(fields), *methods]
    return "\n\n".join([head, *filter(None, parts)])


def _private(item: ast.AnnAssign | ast.Assign) -> bool:
    target = item.target if isinstance(item, ast.AnnAssign) else item.targets[0]
    return isinstance(target, ast.Name) and target.id.startswith("_")


def _shown(item: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return item.name in ("__init__", "__call__") or not item.name.startswith("_")


def _notes(line: int, lines: list[str]) -> list[str]:
    """Take the `#:` lines above a field."""
    found: list[str] = []
    while line > 1 and lines[line - 2].strip().startswith("#:"):
        line -= 1
        found.insert(0, lines[line - 1])
    return found


def _doc(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """Copy the docstring as it is written."""
    if ast.get_docstring(node) is None:
        return ""
    return "\n".join(lines[node.body[0].lineno - 1 : node.body[0].end_lineno])
