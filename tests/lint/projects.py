"""Write samples to disk and check them, as a user would."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from hookwright.config.locations import Surroundings
from hookwright.dialects.table import dialect
from hookwright.lint import CheckOptions, CheckScope, Finding, RuleSelection, Sample, gather, lint, read_target
from hookwright.lint.agents import check_own, gather_own
from hookwright.lint.report import chosen
from hookwright.lint.running import run_hooks

#: Programs that hooks name; tests must not depend on what a machine has installed.
PROGRAMS = [
    "bash",
    "black",
    "claude",
    "curl",
    "docker",
    "eslint",
    "git",
    "go",
    "gofmt",
    "jq",
    "make",
    "mypy",
    "node",
    "notify-send",
    "npm",
    "npx",
    "osascript",
    "pnpm",
    "prettier",
    "pytest",
    "python",
    "python3",
    "ruff",
    "rustfmt",
    "say",
    "sh",
    "shellcheck",
    "shfmt",
    "tsc",
    "uv",
    "uvx",
]

DEFAULT = RuleSelection()
STRICT = RuleSelection(strict=True)


def write(sample: Sample, root: Path) -> Path:
    """Lay a sample out as files; what begins with `#!` may be run."""
    for name, text in sample.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        if text.startswith("#!") and name not in sample.plain:
            path.chmod(0o755)
    return root


@cache
def programs() -> str:
    """Make a folder of programs that are there and never run, for the PATH; real ones come first."""
    folder = tempfile.mkdtemp(prefix="hookwright-programs-")
    atexit.register(shutil.rmtree, folder)
    for name in PROGRAMS:
        path = Path(folder, name)
        path.write_text("#!/bin/sh\nexit 0\n")
        path.chmod(0o755)
    return f"{os.environ['PATH']}{os.pathsep}{folder}"


def check(
    root: Path,
    home: Path,
    target: str = "",
    *,
    paths: tuple[str, ...] = (".",),
    selection: RuleSelection = DEFAULT,
    agent: str = "",
) -> list[Finding]:
    """Check a project on disk."""
    home.mkdir(exist_ok=True)
    env = {"PATH": programs(), "HOME": str(home), "HOOKWRIGHT_MANAGED_SETTINGS": str(home / "none")}
    around = Surroundings.here(env, str(home), str(root))
    if agent:
        return chosen(check_own(gather_own(dialect(agent), paths, around)), selection)
    subject = gather(CheckScope(paths=paths), CheckOptions(env=env, target=read_target(target)), around)
    return lint(subject, selection)


def line_of(sample: Sample) -> tuple[str, int]:
    """Return the place a sample names: the file, and the first line of its text."""
    for name, text in sample.files.items():
        if sample.at in text:
            return name, text[: text.index(sample.at)].count("\n") + 1
    raise AssertionError(f"{sample.at!r} is in no file of the sample")


def check_running(root: Path, home: Path) -> list[Finding]:
    """Check a project on disk and fire samples at its hooks, as `--run --trust` does."""
    home.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "HOOKWRIGHT_MANAGED_SETTINGS": str(home / "none")}
    subject = gather(CheckScope(paths=(".",)), CheckOptions(env=env), Surroundings.here(env, str(home), str(root)))
    ran = asyncio.run(run_hooks(subject, lambda _: True, lambda _: None))
    return lint(subject, None, ran)
