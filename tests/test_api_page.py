"""The API page is complete: what it lists can be imported, and what its signatures mention is listed."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import hookwright
from docpages import ROOT, blocks, headings
from hookwright.protocol.events import CATALOGUE

PAGE = (ROOT / "docs" / "reference" / "api.md").read_text()
#: The heading of each entry: a name of the package itself, or the dotted path of one in a module.
ENTRIES = [heading for heading in headings(PAGE)[1:] if " " not in heading]
LISTED = {entry.rpartition(".")[2] for entry in ENTRIES} | set(CATALOGUE)

#: Types every embedder meets, whichever way the page is made.
WANTED = frozenset(
    """
    Answer Decision Diagnostic Event EventEnded Executor Failed Handler HookEngine HookSession Host Job Json Kind
    MatcherGroup McpServers Model Notice Observer Outcome Places Powers Reply Request Response Run RunEnded RunStarted
    ScriptedModel Severity Skip Source Timing ToolBox Verdict
""".split()  # noqa: SIM905 - a list literal would have 35 lines
)


def test_types_that_embedders_meet_are_listed() -> None:
    assert not set(WANTED) - LISTED


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_listed_name_can_be_imported_from_where_the_page_says(entry: str) -> None:
    module, _, name = entry.rpartition(".")
    assert not any(part.startswith("_") for part in entry.split(".")), "a private module is not documented"
    assert hasattr(importlib.import_module(module or "hookwright"), name)


def test_every_public_name_is_listed() -> None:
    assert set(dir(hookwright)) - {"__version__"} <= LISTED


def typed_parts(code: str) -> Iterator[ast.expr]:
    """Yield what a block's code says about types, default values aside."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ClassDef):
            yield from node.bases
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            yield node.returns
        elif isinstance(node, ast.arg) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Subscript):
            yield node.value


def own_types() -> set[str]:
    """Name every class and every alias of the package, from its source."""
    found: set[str] = set()
    for module in pkgutil.walk_packages(hookwright.__path__, "hookwright."):
        path = ROOT / "src" / module.name.replace(".", "/")
        source = path / "__init__.py" if module.ispkg else path.with_suffix(".py")
        for node in ast.parse(source.read_text()).body:
            if isinstance(node, ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp | ast.Subscript):
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in found if not name.startswith("_") and not name.isupper()}


def test_every_type_in_a_signature_of_the_page_is_listed() -> None:
    mentioned = {
        node.id
        for block in blocks(PAGE)
        for annotation in typed_parts(block.text)
        for node in ast.walk(annotation)
        if isinstance(node, ast.Name)
    }
    assert "Reply" in mentioned
    mentioned -= {"Path"}  # the one of pathlib; a class of the package has the same name
    assert mentioned & own_types() - LISTED == set()
