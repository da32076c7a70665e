"""Run the conformance kit on this checkout; a case that fails, fails the run.

    python tests/conformance/run.py engine|session [-j N] [--match PATTERN …] [--slow]

The command is started through `forked.py`, which saves importing the model's SDK each time; `--cold` does not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

KIT = Path(__file__).parent / "kit"
HOOKWRIGHT = Path(sys.executable).parent / "hookwright"


def main() -> int:
    """Run one kind of case, twice where a case failed: the machine may have been too slow for its clock."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("engine", "session"))
    parser.add_argument("-j", dest="jobs", default="2")
    parser.add_argument("--match", action="append", default=[])
    parser.add_argument("--slow", action="store_true", help="also run the cases that wait for a long time")
    parser.add_argument("--cold", action="store_true", help="start the real command each time")
    options = parser.parse_args()
    with contextlib.nullcontext(str(HOOKWRIGHT)) if options.cold else _forking() as hookwright:
        slow = ["--slow"] if options.slow else []
        report = _run(options.kind, hookwright, options.jobs, [*slow, *_patterns(options.match)])
        again = [name for name, case in report.items() if not case["passed"]]
        if again:
            print(f"again: {' '.join(again)}", flush=True)
            report |= _run(options.kind, hookwright, "1", [*slow, *_patterns(again)])
    return _report(options.kind, report)


def _patterns(names: list[str]) -> list[str]:
    return [word for name in names for word in ("--match", name)]


@contextlib.contextmanager
def _forking() -> Iterator[str]:
    """Start the forking server and name the command that calls it."""
    forked = str(Path(__file__).parent / "forked.py")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/socket"
        server = subprocess.Popen([sys.executable, forked, "serve", path], stdout=subprocess.PIPE)
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield shlex.join([sys.executable, "-S", forked, "call", path])
        finally:
            server.kill()
            server.communicate()


def _run(kind: str, hookwright: str, jobs: str, more: list[str]) -> dict[str, dict[str, object]]:
    flag, command = ("--fire", "fire") if kind == "engine" else ("--agent", "run")
    args = [
        sys.executable,
        str(KIT / "conform.py"),
        kind,
        flag,
        f"{hookwright} {command}",
        str(KIT / kind),
        "-j",
        jobs,
        "--json",
        *more,
    ]
    done = subprocess.run(args, stdout=subprocess.PIPE, text=True, check=False)
    cases: dict[str, dict[str, object]] = json.loads(done.stdout)["cases"]
    return cases


def _needs_git(kind: str, name: str) -> bool:
    """Return whether a case makes a repository before it starts."""
    path = KIT / kind / f"{name}.json"
    return path.exists() and bool(json.loads(path.read_text()).get("git"))


def _report(kind: str, report: dict[str, dict[str, object]]) -> int:
    skipped = [] if shutil.which("git") else [name for name in sorted(report) if _needs_git(kind, name)]
    for name in skipped:
        print(f"NOT TESTED HERE: {name} needs git, which is not installed")
        del report[name]
    failed = {name: case["differences"] for name, case in sorted(report.items()) if not case["passed"]}
    for name, differences in failed.items():
        assert isinstance(differences, list)
        print(f"FAIL {name}: {differences[0]}")
    print(f"{len(report) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
