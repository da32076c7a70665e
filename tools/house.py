"""Figures about a source tree, so that two states of it can be compared.

    python tools/house.py [CHECKOUT …]    one column per checkout; this one if none is named
    python tools/house.py --writes        also list every write to an attribute of another object
    python tools/house.py --json          the same figures for a program

A checkout is a folder with `src/PACKAGE`. Hook templates and the project of the demo are data and are not measured.
"""

from __future__ import annotations

import argparse
import ast
import collections
import io
import json
import statistics
import sys
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

from phrases import HABITS, habits_in

ROOT = Path(__file__).parent.parent
Tree = Mapping[Path, ast.Module]
Figures = dict[str, float]
Function = ast.FunctionDef | ast.AsyncFunctionDef

#: Folders that hold hosts and the linter: what an event costs the library is counted without them.
HOSTS = ("agent", "tui", "cli", "lint", "replay", "dialects", "adapters")
#: What a file that is written by a program says of itself.
GENERATED = "ritten by tools/generate.py"


def main() -> int:
    """Print the figures of each checkout side by side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", type=Path, default=[ROOT], metavar="CHECKOUT")
    parser.add_argument("--writes", action="store_true", help="list the writes from outside")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    packages = [package_of(checkout) for checkout in options.checkouts]
    if options.writes:
        for package in packages:
            print(*outside_writes(package), sep="\n")
    columns = [figures(package) for package in packages]
    if options.json:
        print(json.dumps(dict(zip(map(str, options.checkouts), columns, strict=True)), indent=1, ensure_ascii=False))
    else:
        print("\n".join(table([str(package) for package in packages], columns)))
    return 0


def package_of(checkout: Path) -> Path:
    """Return the package of a checkout, whatever its name is."""
    found = sorted(path.parent for path in checkout.glob("src/*/__init__.py"))
    if len(found) != 1:
        raise SystemExit(f"{checkout}: {len(found)} packages below src; name a checkout with one")
    return found[0]


def figures(package: Path) -> Figures:
    """Measure everything."""
    tree = read(package)
    return {
        **sizes(tree, package),
        "writes from outside": len(outside_writes(package)),
        "… in agent/": len(outside_writes(package / "agent")),
        "… in agent's assembly": sum("assembly.py" in line for line in outside_writes(package / "agent")),
        **events(tree, package),
        **names(tree),
        **types(tree),
        **functions(tree),
        **english(tree),
    }


def read(package: Path) -> Tree:
    """Parse the modules of a package; hook templates and the project of the demo are data."""
    data = {"hooks", "project"}
    paths = (path for path in sorted(package.rglob("*.py")) if not data & {*path.relative_to(package).parts[:-1]})
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def sizes(tree: Tree, package: Path) -> Figures:
    """Count modules: all of them, and without `__init__` those at the root and in the fullest folders."""
    folders = collections.Counter(path.parent for path in tree if path.name != "__init__.py")
    fullest = max((folder for folder in folders if folder != package), key=lambda folder: folders[folder])
    return {
        "modules": len(tree),
        "lines": sum(len(path.read_text(encoding="utf-8").splitlines()) for path in tree),
        "modules at the root": folders[package],
        "modules at the root of agent/": folders[package / "agent"],
        "modules at the root of tui/": folders[package / "tui"],
        "modules in the fullest folder below the root": folders[fullest],
        "folders with more than 16 modules": sum(count > 16 for count in folders.values()),
    }


def outside_writes(folder: Path) -> list[str]:
    """Return `file:line target` for every assignment to an attribute of an object other than `self`.

    `self.x = 1` is the object's own business; `other.x = 1`, `self.other.x = 1` and `del other.x` are not. Augmented
    and annotated assignments are included, and so are the targets of `for` and `with`.
    """
    return [
        f"{path.relative_to(folder)}:{node.lineno} {ast.unparse(node)}"
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del) and not _is_own(node.value)
    ]


def _is_own(owner: ast.expr) -> bool:
    return isinstance(owner, ast.Name) and owner.id in ("self", "cls")


def events(tree: Tree, package: Path) -> Figures:
    """Count the files whose code names one event: identifiers and whole string constants, not prose."""
    named = {path: set(_words(module)) for path, module in tree.items()}
    files = {event: [path for path, words in named.items() if event in words] for event in event_names(tree)}
    library = {
        event: [path for path in paths if path.relative_to(package).parts[0] not in HOSTS]
        for event, paths in files.items()
    }
    generated = {path for path in tree if GENERATED in path.read_text(encoding="utf-8")}
    by_hand = [len(set(paths) - generated) for paths in library.values()]
    return {
        "events": len(files),
        "files naming one event, median": statistics.median(map(len, files.values())),
        "… `DirectoryAdded`": len(files["DirectoryAdded"]),
        "… `PreToolUse`": len(files["PreToolUse"]),
        "library files naming one event, median": statistics.median(map(len, library.values())),
        "library files naming one event, written by hand, median": statistics.median(by_hand),
        "… most": max(by_hand),
    }


def event_names(tree: Tree) -> list[str]:
    """List the events: subclasses of `Event` in the catalogue's module."""
    (catalogue,) = (module for path, module in tree.items() if path.name == "events.py" and _defines(module, "Event"))
    bases = {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for node in catalogue.body
        if isinstance(node, ast.ClassDef)
    }
    parents = {base for named in bases.values() for base in named}
    return [name for name in bases if name not in parents and not name.startswith("_") and _descends(name, bases)]


def _descends(name: str, bases: Mapping[str, list[str]]) -> bool:
    return any(base == "Event" or _descends(base, bases) for base in bases.get(name, ()))


def _defines(module: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.ClassDef) and node.name == name for node in module.body)


def _words(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ClassDef | ast.alias):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def names(tree: Tree) -> Figures:
    """Count names that mean more than one thing: classes at module level, and files."""
    classes = collections.Counter(
        node.name for module in tree.values() for node in module.body if isinstance(node, ast.ClassDef)
    )
    public = {name: count for name, count in classes.items() if not name.startswith("_")}
    stems = collections.Counter(path.stem for path in tree if path.stem not in ("__init__", "__main__"))
    return {
        "class names": len(classes),
        "class names with two meanings": sum(count > 1 for count in classes.values()),
        "… public": sum(count > 1 for count in public.values()),
        "file names with two meanings": sum(count > 1 for count in stems.values()),
    }


def types(tree: Tree) -> Figures:
    """Count the uses of `Any`, imports aside.

    An adapter speaks the types of a framework that may not be installed, so its uses are counted apart.
    """
    uses = {path: sum(map(_is_any, ast.walk(module))) for path, module in tree.items()}
    adapters = sum(count for path, count in uses.items() if "adapters" in path.parts)
    return {
        "uses of `Any`": sum(uses.values()) - adapters,
        "… in adapters of frameworks": adapters,
        "files that use `Any`": sum(map(bool, uses.values())),
    }


def _is_any(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "Any"


def functions(tree: Tree) -> Figures:
    """Measure function bodies in lines, without docstrings."""
    found = [node for module in tree.values() for node in ast.walk(module) if isinstance(node, Function)]
    lengths = sorted(map(_length, found))
    return {
        "functions": len(found),
        "function body, median": lengths[len(lengths) // 2],
        "function body, p90": lengths[len(lengths) * 9 // 10],
        "function body, longest": lengths[-1],
        "functions with more than five parameters": sum(_parameters(node) > 5 for node in found),
    }


def _length(function: Function) -> int:
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def _parameters(function: Function) -> int:
    spec = function.args
    every = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
    return sum(one.arg not in ("self", "cls") for one in every)


def english(tree: Tree) -> Figures:
    """Count docstrings, comments and strings with each habit of `phrases.py`."""
    notes: collections.Counter[str] = collections.Counter()
    strings: collections.Counter[str] = collections.Counter()
    for path, module in tree.items():
        docs = set(docstrings(module))
        for text in [*docs, *comments(path)]:
            notes.update(habit for habit, _ in habits_in(text))
        for text in prose(module):
            strings.update(habit for habit, _ in habits_in(text))
    return {
        "habits in docstrings and comments": notes.total(),
        "habits in strings": strings.total(),
        **{f"… {habit}": notes[habit] + strings[habit] for habit in HABITS},
    }


def docstrings(module: ast.Module) -> Iterator[str]:
    """Yield every docstring."""
    for node in ast.walk(module):
        if isinstance(node, ast.Module | ast.ClassDef | Function):
            text = ast.get_docstring(node)
            if text is not None:
                yield text


def comments(path: Path) -> Iterator[str]:
    """Yield every comment."""
    with io.BytesIO(path.read_bytes()) as source:
        for token in tokenize.tokenize(source.readline):
            if token.type == tokenize.COMMENT:
                yield token.string.lstrip("#: ")


def prose(module: ast.Module) -> Iterator[str]:
    """Yield the strings that are more than one word and no docstring, with `…` for the values of f-strings."""
    for _, text in prose_lines(module):
        yield text


def prose_lines(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the same with their lines."""
    skipped = {id(part) for node in ast.walk(module) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(module):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
    for node in ast.walk(module):
        text = _text(node) if id(node) not in skipped else ""
        if " " in text.strip():
            yield node.lineno if isinstance(node, ast.expr) else 0, text


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def table(heads: list[str], columns: list[Figures]) -> Iterator[str]:
    """Draw a Markdown table, one column per checkout."""
    yield "| figure | " + " | ".join(heads) + " |"
    yield "| --- |" + " --: |" * len(heads)
    for figure in columns[0]:
        yield f"| {figure} | " + " | ".join(f"{column[figure]:g}" for column in columns) + " |"


if __name__ == "__main__":
    sys.exit(main())
