"""The pytest plugin, in a separate pytest, as a user runs it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookwright.cases.fixture import CaseSetup, HookBench
from hookwright.config import Places
from hookwright.errors import InvalidEvent
from support import hooks_for, settings

GUARD = {"type": "command", "command": "grep -q push && { echo use a branch >&2; exit 2; }; exit 0"}
TESTS = """\
from hookwright.cases.fixture import CaseSetup

def test_refused(hookwright_hooks):
    outcome = hookwright_hooks.fire("PreToolUse", "Bash", {"command": "git push -f"})
    assert outcome.blocked
    assert outcome.reason.endswith("use a branch")

def test_fine(hookwright_hooks):
    assert not hookwright_hooks.fire("PreToolUse", "Bash", {"command": "ls"}).blocked
    assert hookwright_hooks.fire("PreToolUse", "Write").runs == ()

def test_fails(hookwright_hooks):
    assert hookwright_hooks.fire("PreToolUse", "Bash", {"command": "ls"}).blocked
"""


def env(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "HOOKWRIGHT_MANAGED_SETTINGS": str(folder / "none")}


def user_pytest(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *args]
    return subprocess.run(argv, cwd=folder, env=env(folder), capture_output=True, text=True, check=False)


def test_the_fixture_fires_at_the_hooks_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    settings(project, hooks_for("PreToolUse", GUARD, matcher="Bash"))
    (tmp_path / "test_hooks.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nhookwright_project = project\nfilterwarnings = error\n")
    done = user_pytest(tmp_path, "-q")
    assert "2 passed" in done.stdout
    assert "1 failed" in done.stdout
    assert "hookwright_hooks" in user_pytest(tmp_path, "--fixtures").stdout


def test_loading_the_plugin_imports_none_of_the_engine(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "def pytest_sessionfinish():\n"
        "    print('loaded:', sorted(m for m in sys.modules if m.split('.')[0] in ('hookwright', 'msgspec')))\n"
    )
    done = user_pytest(tmp_path, "-q", "-s")
    assert (
        "loaded: ['hookwright', 'hookwright._version', 'hookwright.cases', 'hookwright.cases.pytest_plugin']"
        in done.stdout
    )


@pytest.fixture
def bench(tmp_path: Path) -> HookBench:
    project = tmp_path / "project"
    settings(project, hooks_for("PreToolUse", GUARD, {"type": "command", "command": 'cat note.txt; test -z "$WORD"'}))
    return HookBench(places=Places(project=str(project), env=env(tmp_path), home=str(tmp_path)))


def test_surroundings_are_given_in_the_words_of_cases(bench: HookBench, tmp_path: Path) -> None:
    more = hooks_for("PreToolUse", {"type": "command", "command": "echo more >&2; exit 2"})
    given = CaseSetup(settings=more, files={"note.txt": "x"}, env={"WORD": "y"}, inject=["crash:grep"])
    outcome = bench.fire("PreToolUse", "Teleport", {"to": "Mars"}, given=given)
    labels = [(run.label, run.verdict.ending.value) for run in outcome.runs]
    bench.close()
    assert labels == [("error", "non-blocking error"), ("error", "non-blocking error"), ("error", "blocking")]
    assert not (tmp_path / "project" / "note.txt").exists()


def test_events_have_their_own_fields(bench: HookBench) -> None:
    assert bench.fire("Stop", stop_hook_active=True).event == "Stop"
    with pytest.raises(InvalidEvent, match="Did you mean `PreToolUse`"):
        bench.fire("PreTool")
    bench.close()


def test_an_async_test_fires_too(bench: HookBench) -> None:
    async def main() -> bool:
        outcome = await bench.afire("PreToolUse", "Bash", {"command": "git push"})
        await bench.aclose()
        return outcome.blocked

    assert asyncio.run(main())
