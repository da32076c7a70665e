"""What isolation costs: milliseconds per worker and per fresh view, and the time of a hook inside against outside.

    .venv/bin/python bench/isolation.py [ROUNDS]

The figures are the best of all rounds, which other work on the machine disturbs least; the ratio compares the processor
time of hooks that ran in turn inside and outside. Targets: a worker within 5 ms, a hook within 1.05 times its time
outside.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from hookwright.replay.isolation.alone import in_fork, run_isolated
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.choose import why_not
from hookwright.replay.isolation.levels import LEVELS, IsolationLevel
from hookwright.replay.isolation.views import View, enter

FILES = 2000
HOOKS = {
    "sh": ["/bin/sh", "-c", "grep -q root /etc/passwd"],
    "python3": [sys.executable, "-I", "-c", "import json; json.loads('{}')"],
}
RUNS = 30


def main(rounds: int) -> None:
    """Print a line per level."""
    with tempfile.TemporaryDirectory() as base:
        bounds = _project(base)
        print(f"{'level':10} {'worker ms':>10} {'view ms':>9} " + " ".join(f"{name + ' ×':>10}" for name in HOOKS))
        for level in LEVELS:
            if not level.isolated:
                continue
            reason = why_not(level, bounds)
            if reason is not None:
                print(f"{level.name.value:10} not here: {reason}")
                continue
            worker = min(_worker_ms(level, bounds) for _ in range(rounds))
            view = run_isolated(lambda view: min(_view_ms(view) for _ in range(rounds)), level, bounds)
            ratios = [_ratio(argv, level, bounds, rounds) for argv in HOOKS.values()]
            print(f"{level.name.value:10} {worker:10.1f} {view:9.1f} " + " ".join(f"{ratio:10.2f}" for ratio in ratios))


def _project(base: str) -> Bounds:
    bounds = Bounds(*(os.path.join(base, name) for name in ("project", "home", "temp")))
    for folder in (bounds.project, bounds.home, bounds.temp):
        os.mkdir(folder)
    for number in range(FILES):
        folder = os.path.join(bounds.project, f"{number % 50}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{number}.txt"), "w", encoding="utf-8") as file:
            file.write("x" * 1000)
    return bounds


def _worker_ms(level: IsolationLevel, bounds: Bounds) -> float:
    """Return how long it takes to enter a view; the clock is the same inside."""

    def timed() -> float:
        began = time.perf_counter()
        enter(level, bounds)
        return (time.perf_counter() - began) * 1000

    return in_fork(timed)


def _view_ms(view: View) -> float:
    with open(os.path.join(view.project, "new"), "w", encoding="utf-8") as file:
        file.write("x")
    return _timed_ms(view.renew)


def _ratio(argv: list[str], level: IsolationLevel, bounds: Bounds, rounds: int) -> float:
    outside, inside = [], []
    for _ in range(max(rounds // 3, 1)):
        outside.append(in_fork(lambda: _hook_ms(argv)))
        inside.append(run_isolated(lambda _: _hook_ms(argv), level, bounds))
    return min(inside) / min(outside)


def _hook_ms(argv: list[str]) -> float:
    """Return the processor time of a hook, the best of many: it waits for no other work on the machine."""
    return min(_used_ms(argv) for _ in range(RUNS))


def _used_ms(argv: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def _timed_ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
