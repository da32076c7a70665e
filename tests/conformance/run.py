"""Run the conformance kit on this checkout and compare with what is known.

    python tests/conformance/run.py engine|session [-j N] [--match PATTERN …]

A case that fails and is not known fails the run; so does a known case that passes, since the list must stay true.
The command is started through `forked.py`, which saves importing the model's SDK each time; `--cold` does not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

KIT = Path(__file__).parent / "kit"
HOOKWRIGHT = Path(sys.executable).parent / "hookwright"

#: Cases whose expectation cannot be met by any agent, with the reason.
KNOWN: dict[str, str] = {
    "session/ss-envfile-broken": "expects ran.txt, which no command of the case writes",
}


def main() -> int:
    """Run one kind of case, twice where a case failed: the machine may have been too slow for its clock."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("engine", "session"))
    parser.add_argument("-j", dest="jobs", default="2")
    parser.add_argument("--match", action="append", default=[])
    parser.add_argument("--cold", action="store_true", help="start the real command each time")
    options = parser.parse_args()
    with contextlib.nullcontext(str(HOOKWRIGHT)) if options.cold else _forking() as hookwright:
        report = _run(options.kind, hookwright, options.jobs, options.match)
        again = [name for name, case in report.items() if not case["passed"] and f"{options.kind}/{name}" not in KNOWN]
        if again:
            print(f"again: {' '.join(again)}", flush=True)
            report |= _run(options.kind, hookwright, "1", again)
    return _compare(options.kind, report)


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


def _run(kind: str, hookwright: str, jobs: str, patterns: list[str]) -> dict[str, dict[str, object]]:
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
    ]
    for pattern in patterns:
        args += ["--match", pattern]
    done = subprocess.run(args, stdout=subprocess.PIPE, text=True, check=False)
    cases: dict[str, dict[str, object]] = json.loads(done.stdout)["cases"]
    return cases


def _compare(kind: str, report: dict[str, dict[str, object]]) -> int:
    wrong = 0
    for name, case in sorted(report.items()):
        known = KNOWN.get(f"{kind}/{name}")
        if case["passed"] and known:
            print(f"PASSES NOW {name}: take it off the list ({known})")
            wrong += 1
        elif not case["passed"] and not known:
            differences = case["differences"]
            assert isinstance(differences, list)
            print(f"FAIL {name}: {differences[0]}")
            wrong += 1
        elif not case["passed"]:
            print(f"known {name}: {known}")
    passed = sum(bool(case["passed"]) for case in report.values())
    print(f"{passed} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
