"""The public API under `mypy --strict` and pyright: what the pages show passes, and a host's mistakes are found."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from docpages import HAND_WRITTEN, ROOT, blocks

HERE = Path(__file__).parent
#: One process checks for all tests here.
pytestmark = pytest.mark.xdist_group("typing")

#: Pages of adapters show programs of frameworks that are not typed, or not installed here.
FRAMEWORKS = (
    "agent-framework.md",
    "google-adk.md",
    "langchain.md",
    "openai-agents.md",
    "strands.md",
    "pydantic-ai.md",
    "claude-agent-sdk.md",
    "mcp.md",
    "fleet.md",
)
PAGES = tuple(str(path.relative_to(ROOT)) for path in HAND_WRITTEN if path.name not in FRAMEWORKS)
PROGRAMS = (ROOT / "examples/embed/host.py", ROOT / "examples/embed/plain.py", HERE / "api.py", HERE / "mistakes.py")
WRONG = {
    ("mistakes.py", number)
    for number, line in enumerate((HERE / "mistakes.py").read_text().splitlines(), 1)
    if "# error: " in line
}


class Found(NamedTuple):
    """What a checker found: where, and the message."""

    errors: dict[tuple[str, int], str]

    def outside_mistakes(self) -> dict[tuple[str, int], str]:
        return {place: text for place, text in self.errors.items() if place[0] != "mistakes.py"}

    def mistakes(self) -> set[tuple[str, int]]:
        return {place for place in self.errors if place[0] == "mistakes.py"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write every Python program that the pages show into a file, named for page and line; a host has no more."""
    made = tmp_path_factory.mktemp("host")
    for name in PAGES:
        for block in blocks((ROOT / name).read_text()):
            if block.language == "python" and "run" in block.options:
                (made / f"{Path(name).stem}_{block.line}.py").write_text(block.text)
    for program in PROGRAMS:
        shutil.copy(program, made)
    assert len(list(made.glob("*.py"))) >= 9
    return made


@pytest.fixture(scope="module")
def by_mypy(folder: Path) -> Found:
    options = ["--strict", "--config-file", "", "--cache-dir", str(ROOT / ".mypy_cache" / "host")]
    argv = [sys.executable, "-m", "mypy", *options, *(path.name for path in sorted(folder.glob("*.py")))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=folder)
    assert (done.returncode, done.stderr) == (1, ""), done.stdout + done.stderr
    found = re.findall(r"^([\w.]+):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    return Found({(name, int(line)): text for name, line, text in found})


@pytest.fixture(scope="module")
def by_pyright(folder: Path) -> Found:
    """Run pyright in strict mode; its Node comes with the package, so nothing is downloaded."""
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict", "pythonVersion": "3.11"}))
    argv = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(list(folder.glob("*.py")))
    return Found(
        {
            (Path(one["file"]).name, one["range"]["start"]["line"] + 1): one["message"]
            for one in report["generalDiagnostics"]
            if one["severity"] == "error"
        }
    )


def test_programs_of_the_pages_and_the_public_types_pass_mypy(by_mypy: Found) -> None:
    assert by_mypy.outside_mistakes() == {}


def test_programs_of_the_pages_and_the_public_types_pass_pyright(by_pyright: Found) -> None:
    assert by_pyright.outside_mistakes() == {}


def test_both_find_the_mistakes_of_a_host(by_mypy: Found, by_pyright: Found) -> None:
    assert by_mypy.mistakes() == WRONG
    assert by_pyright.mistakes() == WRONG
