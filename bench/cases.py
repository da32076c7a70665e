"""Measure `hookwright test`: what a case costs beside the process of its hook.

    python bench/cases.py [--rounds N] [--cases N] [--json]

Each round runs the same number of hooks in three ways, in random order: as bare processes from a C program (see
floor/floor.c), as cases in a JSON file and as cases in a YAML file; the time of `hookwright test` is that of the whole
command, from its start to its end. The median over the rounds is reported, per case. Exits 1 out of its bound.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from floor.build import build

COMMAND = "true"
JOBS = 2
#: Milliseconds that a case may cost beside its process, start of the interpreter and reading of the file included.
AT_MOST = 3.0


def project(folder: Path, count: int) -> dict[str, Path]:
    """Make a home whose settings have one hook, and the same cases in both formats."""
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": COMMAND}]}
    (folder / ".claude").mkdir()
    (folder / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [group]}}))
    cases = [
        {"name": f"case {n}", "event": "PreToolUse", "tool": "Bash", "input": {"command": f"ls {n}"}}
        | {"expect": {"decision": "none", "ran": 1}}
        for n in range(count)
    ]
    (folder / "cases.json").write_text(json.dumps(cases, indent=1))
    lines = [
        f"- name: {case['name']}\n  event: PreToolUse\n  tool: Bash\n  input: {{command: ls {n}}}\n"
        "  expect: {decision: none, ran: 1}\n"
        for n, case in enumerate(cases)
    ]
    (folder / "cases.yaml").write_text("".join(lines))
    return {"json": folder / "cases.json", "yaml": folder / "cases.yaml"}


def bare(floor: subprocess.Popen[str], count: int) -> float:
    """Run the hooks as bare processes; seconds."""
    assert floor.stdin is not None
    assert floor.stdout is not None
    floor.stdin.write(f"{count} {JOBS}\n")
    floor.stdin.flush()
    return int(floor.stdout.readline().split()[0]) / 1e9


def tested(folder: Path, cases: Path, count: int) -> float:
    """Run the cases; seconds from start to end."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "HOOKWRIGHT_MANAGED_SETTINGS": str(folder / "none")}
    argv = [sys.executable, "-m", "hookwright.cli", "test", str(cases), "-j", str(JOBS), "--json"]
    began = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["passed"] == count
    return seconds


def measure(rounds: int, count: int) -> dict[str, float]:
    """Give milliseconds per case for each way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = project(folder, count)
        floor = subprocess.Popen(
            [build(folder), "/bin/sh", "-c", COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        ways = {
            "bare": lambda: bare(floor, count),
            "json": lambda: tested(folder, files["json"], count),
            "yaml": lambda: tested(folder, files["yaml"], count),
        }
        try:
            for way in ways.values():
                way()
            found = [
                {way: ways[way]() / count * 1000 for way in random.sample(list(ways), len(ways))} for _ in range(rounds)
            ]
        finally:
            floor.communicate()
    middle = {way: statistics.median(each[way] for each in found) for way in ways}
    overhead = {f"{way} overhead": statistics.median(e[way] - e["bare"] for e in found) for way in ("json", "yaml")}
    return {**middle, **overhead}


def main() -> int:
    """Print the figures; return 1 when the overhead is out of its bound."""
    parser = argparse.ArgumentParser(description="Measure hookwright test against bare processes.")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    figures = measure(arguments.rounds, arguments.cases)
    kept = figures["json overhead"] <= AT_MOST
    if arguments.json:
        print(json.dumps({"cases": arguments.cases, "ms": figures, "at_most": AT_MOST, "kept": kept}, indent=2))
    else:
        print(f"{arguments.cases} cases, {JOBS} at once, milliseconds per case")
        for name, value in figures.items():
            print(f"  {name:16} {value:6.3f}")
        print(f"overhead per case {figures['json overhead']:.3f} ms <= {AT_MOST} {'ok' if kept else 'OUT OF BOUND'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
