"""Every rule has one home: one function names it in its docstring, and no other file makes its findings."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import hookwright.lint
from hookwright.lint import RULES

LINT = Path(hookwright.lint.__file__).parent
GENERATOR = Path(__file__).parent.parent.parent / "docs" / "generate_rules.py"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_rules", GENERATOR)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named_in(path: Path) -> set[str]:
    """Return the rules a file names in code, not in prose."""
    constants = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    return {value for value in constants if isinstance(value, str) and value in RULES}


def test_one_function_claims_each_rule() -> None:
    homes = generator().homes()
    assert {rule: places for rule, places in homes.items() if len(places) != 1} == {}
    assert homes.keys() == RULES.keys()


def test_a_rule_is_named_in_the_file_of_its_function_alone() -> None:
    files = [path for path in LINT.rglob("*.py") if "catalogue" not in path.parts]
    named = {path.relative_to(LINT).as_posix(): named_in(path) for path in files}
    found = {rule: [name for name, rules in named.items() if rule in rules] for rule in RULES}
    assert found == {rule: [places[0][0]] for rule, places in generator().homes().items()}
