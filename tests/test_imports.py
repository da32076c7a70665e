"""What each entry point may import: the start of a hook, a version or a firing pays for nothing else."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from layers import SRC

#: Packages that only a handler or a command that needs them may load.
EXTRAS = {
    *("anthropic", "openai", "mcp", "httpx", "httpx2", "h11", "pydantic", "anyio"),
    *("ruamel", "tree_sitter", "tree_sitter_bash", "tree_sitter_javascript", "pathspec"),
    *("textual", "rich", "opentelemetry", "starlette", "uvicorn", "regress", "pytest", "hypothesis"),
}
#: Parts of Hookwright that firing at no hook has no use for.
APART = {"agent", "author", "lint", "models", "replay", "testing", "tui", "warm", "otel", "templates"}


def loaded(statement: str, folder: Path) -> set[str]:
    """List what a statement loads on top of a bare interpreter."""
    code = f"import sys; before = set(sys.modules)\n{statement}\nprint('loaded', *sorted(set(sys.modules) - before))"
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "HOOKWRIGHT_MANAGED_SETTINGS": str(folder / "none")}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, env=env, check=False)
    assert out.returncode == 0, out.stderr
    return set(out.stdout.rpartition("loaded")[2].split())


PACKAGE = {"__future__", "hookwright", "hookwright._version"}


def test_importing_the_package_loads_nothing(tmp_path: Path) -> None:
    assert loaded("import hookwright", tmp_path) == PACKAGE


def test_an_author_pays_for_four_small_modules(tmp_path: Path) -> None:
    expected = PACKAGE | {"hookwright.author", "hookwright.author._tables"}
    assert loaded("from hookwright.author import deny, hook", tmp_path) == expected


def test_the_version_is_told_without_an_import(tmp_path: Path) -> None:
    assert loaded("from hookwright.cli import main; main(['--version'])", tmp_path) == PACKAGE | {"hookwright.cli"}


def test_the_program_adds_its_streams_and_nothing_else(tmp_path: Path) -> None:
    found = loaded("import sys; sys.argv[1:] = ['--version']\nfrom hookwright.cli import main; main()", tmp_path)
    assert found - {"errno"} == PACKAGE | {"hookwright.cli", "hookwright.cli.streams"}


def test_help_is_told_without_a_parser(tmp_path: Path) -> None:
    assert loaded("from hookwright.cli import main; main(['--help'])", tmp_path) == PACKAGE | {"hookwright.cli"}


FIRE = "from hookwright.cli import main; main(['fire', 'PreToolUse', '--tool', 'Bash', '--no-journal', '--json'])"


@pytest.mark.parametrize(
    "statement",
    ["from hookwright import HookEngine, PreToolUse, load_hooks, open_session", FIRE],
    ids=["engine", "fire"],
)
def test_the_engine_loads_the_core_alone(statement: str, tmp_path: Path) -> None:
    found = loaded(statement, tmp_path)
    assert not {name.partition(".")[0] for name in found} & EXTRAS
    assert not {name.split(".")[1] for name in found if name.startswith("hookwright.")} & APART
    commands = {name for name in found if name.startswith("hookwright.cli.commands.")}
    assert commands <= {"hookwright.cli.commands.fire"}
    cases = {name for name in found if name.startswith("hookwright.cases.")}
    assert cases <= {"hookwright.cases.inject"}
    executors = {name for name in found if name.startswith("hookwright.executors.")}
    assert not executors & {f"hookwright.executors.{kind}" for kind in ("http", "prompt", "agent", "mcp_tool")}


WITHOUT_TEXTUAL = sorted(
    path.relative_to(SRC.parent).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    for room in ("chat", "feed")
    for path in (SRC / "tui" / room).glob("*.py")
)


def test_the_chat_and_its_feed_need_no_textual(tmp_path: Path) -> None:
    found = loaded("\n".join(f"import {module}" for module in WITHOUT_TEXTUAL), tmp_path)
    assert set(WITHOUT_TEXTUAL) <= found
    assert not {name.partition(".")[0] for name in found} & {"textual", "rich"}
    assert not {name for name in found if name.startswith(("hookwright.tui.widgets", "hookwright.tui.screens"))}


@pytest.mark.parametrize("module", WITHOUT_TEXTUAL)
def test_no_function_of_the_chat_imports_a_widget(module: str) -> None:
    path = SRC.parent.joinpath(*module.split("."))
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())
    names = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    apart = ("textual", "rich", "hookwright.tui.widgets", "hookwright.tui.screens")
    assert not {name for name in names if name.startswith(apart)}
