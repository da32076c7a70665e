"""Imports go one way, rooms stay small, and importing costs nothing."""

from __future__ import annotations

import ast
import collections
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import layers


def relative(path: Path) -> str:
    return str(path.relative_to(layers.SRC))


@pytest.mark.parametrize("path", [path for path in layers.files() if layers.module_of(path)], ids=relative)
def test_imports_go_one_way(path: Path) -> None:
    here = layers.room_of(layers.module_of(path))
    assert here in layers.RANK, f"put `{here}` into a layer"
    wrong = {
        f"line {line}: {module}"
        for module, line in layers.imported(path)
        if layers.RANK[layers.room_of(module)] > layers.RANK[here]
    }
    assert not wrong


def test_no_room_imports_itself_through_others() -> None:
    imports: dict[str, set[str]] = collections.defaultdict(set)
    for path in layers.files():
        here = layers.room_of(layers.module_of(path))
        imports[here] |= {layers.room_of(module) for module, _ in layers.imported(path)} - {here}
    below = {room: set(rooms) for room, rooms in imports.items()}
    for _ in layers.RANK:
        below = {room: rooms.union(*(below.get(other, set()) for other in rooms)) for room, rooms in below.items()}
    assert not {room for room, rooms in below.items() if room in rooms}


def test_no_module_imports_itself_through_others() -> None:
    known = {layers.module_of(path) for path in layers.files()}
    graph: dict[str, set[str]] = {}
    for path in layers.files():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hookwright."):
                base = (node.module or "").removeprefix("hookwright.")
                named = {f"{base}.{alias.name}" for alias in node.names}
                graph.setdefault(layers.module_of(path), set()).update(named & known or {base})
    graphlib.TopologicalSorter(graph).prepare()


def test_every_layer_exists() -> None:
    rooms = {layers.room_of(layers.module_of(path)) for path in layers.files()}
    assert set(layers.RANK) <= rooms


def test_the_design_page_draws_the_layers_that_are_enforced() -> None:
    page = (layers.SRC.parent.parent / "docs" / "design.md").read_text()
    drawn = page.partition("<!-- layers -->\n```text\n")[2].partition("\n```\n<!-- end of layers -->")[0]
    assert drawn == layers.drawing(), "run: make docs"


def test_no_folder_has_more_modules_than_a_reader_can_take_in() -> None:
    counts = collections.Counter(path.parent for path in layers.files() if path.name != "__init__.py")
    assert not {relative(folder): n for folder, n in counts.items() if n > layers.MOST_MODULES}


@pytest.mark.parametrize("path", layers.files(), ids=relative)
def test_a_private_module_is_imported_by_its_own_folder_only(path: Path) -> None:
    assert not list(layers.private_imports(path))


def test_the_engine_does_not_import_the_package_that_runs_processes() -> None:
    code = "import sys, hookwright.engine; print([m for m in sys.modules if m.startswith('hookwright.processes')])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


CORE = {"msgspec", "typing_extensions"}  # msgspec itself takes the second where it is installed


@pytest.mark.parametrize(
    "statement", ["import hookwright", "from hookwright import HookEngine, PreToolUse, load_hooks"]
)
def test_the_core_imports_one_third_party_package(statement: str) -> None:
    code = (
        "import sys; before = {m.split('.')[0] for m in sys.modules}\n"
        f"{statement}\n"
        "print('\\n'.join(sorted({m.split('.')[0] for m in sys.modules} - before)))"
    )
    out = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(out.stdout.split()) - set(sys.stdlib_module_names) - {"hookwright", "__main__", "__mp_main__"}
    assert {name for name in loaded if not name.startswith("_")} <= CORE


def test_importing_the_package_does_no_io_and_loads_no_module_of_its_own() -> None:
    code = "import sys, hookwright; print(sorted(m for m in sys.modules if m.startswith('hookwright')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "['hookwright', 'hookwright._version']"


def test_every_public_name_resolves() -> None:
    import hookwright

    for name in dir(hookwright):
        assert getattr(hookwright, name) is not None
