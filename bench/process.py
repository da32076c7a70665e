"""Measure the process layer against a C program that does the same and no more.

    python bench/process.py [--rounds N] [--json]

Every contender is a process of its own that answers "COUNT INFLIGHT" with its times (see floor/floor.c). Each round
asks all of them in random order and divides by the floor of the same round; the median over the rounds is reported,
so that a busy machine moves both sides. A round waits up to a second for an idle machine; on one that stays busy the
single command looks up to 4 % worse than it is. Exits 1 when a figure is out of its bound.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from floor.build import build

from hookwright.processes import process

COMMAND = ("/bin/sh", "-c", "true")
PAYLOAD = b"x" * 1024
BALLAST_MB = 1024


@dataclass(frozen=True)
class Figure:
    """One measured ratio and what it must keep."""

    name: str
    ratio: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def kept(self) -> bool:
        return (self.at_most is None or self.ratio <= self.at_most) and (
            self.at_least is None or self.ratio >= self.at_least
        )


class Contender:
    """A program that runs the command on request."""

    def __init__(self, *argv: str | Path) -> None:
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, count: int, inflight: int) -> tuple[float, list[float]]:
        """Give the time of all runs together and of each, in microseconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{count} {inflight}\n")
        self._process.stdin.flush()
        total, *each = (int(number) / 1000 for number in self._process.stdout.readline().split())
        return total, each

    def close(self) -> None:
        self._process.communicate()


def serve(ballast_mb: int) -> None:
    """Answer requests as the floor does, with this package."""
    ballast = bytearray(ballast_mb << 20)
    ballast[::4096] = b"x" * len(ballast[::4096])  # touch every page
    command = process.Command(argv=COMMAND, cwd=os.getcwd(), env=dict(os.environ), stdin=PAYLOAD)
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            count, inflight = map(int, line.split())
            total, each = runner.run(_batch(command, count, inflight))
            print(total, *each, flush=True)


async def _batch(command: process.Command, count: int, inflight: int) -> tuple[int, list[int]]:
    each: list[int] = []
    turns = iter(range(count))

    async def worker() -> None:
        for _ in turns:
            began = time.perf_counter_ns()
            ended = await process.run(command, 60)
            each.append(time.perf_counter_ns() - began)
            assert isinstance(ended, process.Exit), ended
            assert ended.status == process.ExitCode(0), ended

    began = time.perf_counter_ns()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(inflight):
            tasks.create_task(worker())
    return time.perf_counter_ns() - began, each


def measure(rounds: int) -> list[Figure]:
    """Run all contenders against each other."""
    with tempfile.TemporaryDirectory() as directory:
        floor = Contender(build(Path(directory)), *COMMAND)
        ours = Contender(sys.executable, __file__, "--serve", "0")
        large = Contender(sys.executable, __file__, "--serve", str(BALLAST_MB))
        contenders = {"floor": floor, "ours": ours, "large": large}
        try:
            for contender in contenders.values():
                contender.ask(50, 1)
            one = _rounds(contenders, rounds, 40, 1)
            eight = _rounds({"floor": floor, "ours": ours}, rounds, 160, 8)
            many = _rounds({"floor": floor, "ours": ours}, rounds, 256, 64)
        finally:
            for contender in contenders.values():
                contender.close()
    return [
        Figure("one command, latency over the floor", _ratio(one, "ours", "floor"), at_most=1.12),
        Figure("8 at once, throughput of the floor", _ratio(eight, "floor", "ours"), at_least=0.80),
        Figure("64 at once, throughput of the floor", _ratio(many, "floor", "ours"), at_least=0.75),
        Figure(f"parent of {BALLAST_MB} MB over a small one", _ratio(one, "large", "ours"), at_most=1.10),
    ]


def _rounds(contenders: dict[str, Contender], rounds: int, count: int, inflight: int) -> list[dict[str, float]]:
    results = []
    for _ in range(rounds):
        _wait_for_idle()
        names = random.sample(list(contenders), len(contenders))
        asked = {name: contenders[name].ask(count, inflight) for name in names}
        results.append(
            {name: statistics.median(each) if inflight == 1 else t / count for name, (t, each) in asked.items()}
        )
    return results


def _wait_for_idle(seconds: float = 1.0) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and _busy_share(0.1) > 0.2:
        pass


def _busy_share(seconds: float) -> float:
    """Measure how much of the machine others use; nothing where the system does not say."""
    before = _cpu_times()
    time.sleep(seconds)
    spent = [after - earlier for earlier, after in zip(before, _cpu_times(), strict=True)]
    return 1 - (spent[3] + spent[4]) / sum(spent) if sum(spent) else 0.0


def _cpu_times() -> list[int]:
    try:
        return [int(number) for number in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except OSError:
        return [0] * 8


def _ratio(results: list[dict[str, float]], over: str, under: str) -> float:
    return statistics.median(result[over] / result[under] for result in results)


def main() -> int:
    """Print the figures; return 1 when one is out of its bound."""
    parser = argparse.ArgumentParser(description="Measure the process layer against the C floor.")
    parser.add_argument("--rounds", type=int, default=20, help="interleaved rounds for each figure (default 20)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--serve", type=int, metavar="MB", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve is not None:
        serve(arguments.serve)
        return 0
    figures = measure(arguments.rounds)
    if arguments.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
    else:
        for figure in figures:
            bound = f"<= {figure.at_most:.2f}" if figure.at_most is not None else f">= {figure.at_least:.2f}"
            print(f"{figure.name:40} {figure.ratio:6.3f}  {bound}  {'ok' if figure.kept else 'OUT OF BOUND'}")
    return 0 if all(figure.kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
