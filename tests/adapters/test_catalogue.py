"""The table of adapters agrees with the locks, the pages, the extras and what can be imported."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from adapters.scenarios import FRAMEWORKS
from docpages import ROOT
from hookwright.adapters.catalogue import ADAPTERS, Adapter
from hookwright.cli import main as hookwright

PACKAGED = [one for one in ADAPTERS if one.package]


def ids(one: Adapter) -> str:
    return one.framework


@pytest.mark.parametrize("adapter", PACKAGED, ids=ids)
def test_the_version_tried_is_that_of_the_lock_its_tests_install(adapter: Adapter) -> None:
    name = adapter.tests.removeprefix("adapter-")
    lock = ROOT / "requirements" / ("dev.lock" if adapter.tests == "test" else f"adapters/{name}.lock")
    assert re.search(rf"^{re.escape(adapter.package)}=={re.escape(adapter.tried)}\b", lock.read_text(), re.MULTILINE)
    tests = ROOT / "tests" / "adapters" / f"test_{name.replace('-', '_')}.py"
    assert adapter.tests == "test" or tests.exists(), "the target runs this file"


@pytest.mark.parametrize("adapter", ADAPTERS, ids=ids)
def test_its_page_and_its_extra_exist_and_its_line_is_in_the_page(adapter: Adapter) -> None:
    page = (ROOT / "docs/adapters" / adapter.page.partition("#")[0]).read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert not adapter.extra or adapter.extra in extras
    words = re.sub(r"[^A-Za-z_]+", " ", adapter.line).split()
    assert all(word in page for word in words if len(word) > 6), "the page shows the line, in its own words"


@pytest.mark.parametrize("adapter", [one for one in ADAPTERS if one.module], ids=ids)
def test_what_to_import_is_there(adapter: Adapter) -> None:
    assert importlib.util.find_spec(adapter.module) is not None
    if adapter.package and adapter.installed is None:
        pytest.skip(f"needs {adapter.package}")
    module = importlib.import_module(adapter.module)
    assert all(hasattr(module, name) for name in adapter.name.split(", "))


def test_every_module_that_is_an_adapter_is_in_the_table() -> None:
    folder = Path(ROOT / "src/hookwright/adapters")
    known = {one.module.rpartition(".")[2] for one in ADAPTERS}
    found = {path.stem for path in folder.iterdir() if not path.stem.endswith(("_values", "__"))}
    assert found - {"tools", "catalogue", "bridge", "gateway"} <= known
    assert set(FRAMEWORKS) <= known


def test_a_version_that_was_not_tried_is_said_to_be() -> None:
    found = version("msgspec")
    major, minor, *_ = found.split(".")
    parts = {"framework": "x", "package": "msgspec", "line": "", "page": ""}
    assert Adapter(**parts, tried=f"{major}.{minor}.99").state == f"{found} installed"
    assert Adapter(**parts, tried=f"{major}.999").state == f"{found} installed, which was not tried"
    assert Adapter(**{**parts, "package": "no-such-package"}).state == "not installed"


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert hookwright(["adapters", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["framework"] for one in found] == [one.framework for one in ADAPTERS]
    assert next(one["installed"] for one in found if one["package"] == "mcp") == version("mcp")
    assert hookwright(["adapters"]) == 0
    shown = capsys.readouterr().out
    assert all(one.line.split("(")[0] in shown for one in ADAPTERS)
    assert f"tried with mcp 2.3.0; {version('mcp')} installed" in shown
