"""The marks of requirement rows are honest: every row has one, and no marked test asks the product what to expect."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import coverage_map
from mutants import ledger
from mutants.mutant import mutants
from mutants.targets import PROVING, TARGETS

Function = ast.FunctionDef | ast.AsyncFunctionDef

#: The registries that say what an event does; a marked test writes its expectation out instead of reading them.
TABLES = {"rules"}
#: Marked tests that read a registry on purpose, with the reason.
READING = {
    "tests/agent/test_kept_rules.py::"
    "test_a_person_of_a_program_keeps_the_projects_deny_rules_with_every_kind_of_update": (
        "these are the permission rules of a session, not those of an event"
    ),
    "tests/test_docs.py::test_tables_of_exit_codes_and_readers_have_every_event_and_say_what_the_registry_says": (
        "the row asks that the pages agree with the registry"
    ),
}


def named(tree: ast.Module) -> dict[str, ast.stmt]:
    """Return the functions and constants of a module by name."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, Function):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


def readings(node: ast.AST, known: Mapping[str, ast.stmt], seen: set[str]) -> Iterator[int]:
    """Find where a test, or what it uses of its module, reads a field of a registry: `cls.rules.exit_2`.

    Handing a registry to the function under test is not reading it: `time_limit(handler, cls.rules)` is an input.
    """
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Attribute) and part.value.attr in TABLES:
            yield part.lineno
        elif isinstance(part, ast.Name) and part.id in known and part.id not in seen:
            seen.add(part.id)
            yield from readings(known[part.id], known, seen)


def circular(source: str, path: Path) -> list[str]:
    """Return the marked tests of a file that read a registry."""
    tree = ast.parse(source)
    known = named(tree)
    return [
        f"{path}::{node.name}"
        for node in tree.body
        if isinstance(node, Function)
        and any(list(coverage_map.read_marks(ast.unparse(mark), path)) for mark in node.decorator_list)
        and any(readings(node, known, {node.name}))
    ]


def test_no_marked_test_takes_its_expectation_from_the_table_under_test() -> None:
    files = sorted(coverage_map.TESTS.rglob("test_*.py"))
    found = [name for path in files for name in circular(path.read_text(), path.relative_to(coverage_map.ROOT))]
    assert found == list(READING)


def test_a_list_of_events_that_is_computed_from_their_rules_is_found() -> None:
    source = """
SILENT = [name for name, cls in CATALOGUE.items() if cls.rules.exit_2 is Exit2.IGNORED]

@pytest.mark.req("R-212")
@pytest.mark.parametrize("name", SILENT)
def test_computed(name): ...

@pytest.mark.req("R-212")
def test_written(): assert time_limit(handler, CATALOGUE["Stop"].rules) == 600
"""
    assert circular(source, Path("tests/test_x.py")) == ["tests/test_x.py::test_computed"]


def test_every_requirement_row_is_named_and_every_mark_names_a_row() -> None:
    rows = {row.id for row in coverage_map.all_rows()}
    marks = {mark.row for mark in (*coverage_map.all_marks(), *coverage_map.case_marks())}
    assert marks == rows
    assert len(rows) == 416


def test_every_proof_names_a_mutant_that_exists_and_a_test_with_the_mark() -> None:
    marked = {(mark.row, _function(mark)) for mark in coverage_map.all_marks()}
    known = {one.id for file in (*TARGETS, *PROVING) for one in mutants(file)}
    known |= {f"{one.file}: {one.before} → {one.after}" for one in ledger.row_mutants()}
    proofs = json.loads(coverage_map.RECORD.read_text())["rows"]
    stale = [
        row
        for row, proof in proofs.items()
        if proof["mutant"] not in known or (row, proof["test"].split("[")[0]) not in marked
    ]
    assert stale == []
    assert len(proofs) > 140


def _function(mark: coverage_map.Mark) -> str:
    """Return the test that a mark stands over, as pytest names it; the file alone for a mark of the module."""
    lines = (coverage_map.ROOT / mark.path).read_text().splitlines()
    found = (re.match(r"(?:async )?def (test_\w+)", line) for line in lines[mark.line - 1 :])
    return f"{mark.path}::{next((one[1] for one in found if one), '')}"
