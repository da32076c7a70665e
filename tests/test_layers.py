"""Imports go one way, and importing costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "hookwright"

#: Layers from left to right; a module may import from its own layer and those before it.
LAYERS: list[set[str]] = [
    {"_version", "errors", "sources", "jsontext", "private", "replacing", "screen"},
    {"diagnostics", "handlers", "replies", "model"},
    {"events", "outcome"},
    {
        "wire",
        "matchers",
        "conditions",
        "jsregex",
        "shell",
        "paths",
        "answers",
        "samples",
        "interpret",
        "exitnotes",
        "program",
        "target",
    },
    {
        "hookset",
        "aggregate",
        "visibility",
        "host",
        "spill",
        "executors",
        "background",
        "observers",
        "mcp_servers",
        "watchdog",
    },
    {"engine", "journal", "otel", "recorder"},
    {"config", "testing", "author", "schema"},
    {"models", "replay", "warm"},
    {"session", "wiring"},
    {"lint", "cases", "templates", "agent", "pytest_plugin"},
    {"cli", "tui"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def known(name: str) -> str:
    return "mcp_servers" if name.lstrip("_").startswith("mcp") else name


def layer_of(path: Path) -> str:
    part = path.relative_to(SRC).parts[0].removesuffix(".py")
    return known(part)


def imports(path: Path) -> set[str]:
    """Name the hookwright modules that a file imports at its top; types alone do not count."""
    found = set()
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("hookwright."):
            found.add(node.module.split(".")[1])
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("hookwright.")}
    return found


FILES = sorted(path for path in SRC.rglob("*.py") if path.parent != SRC or path.name != "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_go_leftward_only(path: Path) -> None:
    here = layer_of(path)
    assert here in RANK, f"put `{here}` into a layer"
    wrong = {name for name in imports(path) if RANK[known(name)] > RANK[here]}
    assert not wrong


CORE = {"msgspec", "typing_extensions"}  # msgspec itself takes the second where it is installed


@pytest.mark.parametrize("statement", ["import hookwright", "from hookwright import HookEngine, PreToolUse, load_hooks"])
def test_the_core_imports_one_third_party_package(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint('\\n'.join(sorted({{m.split('.')[0] for m in sys.modules}})))"
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
