"""Ask contenders in turn and compare what they took inside one round.

A contender is a process of its own that reads "COUNT INFLIGHT" and answers with one line of nanoseconds: the whole,
then every single run. The C floor speaks the same; ours also take a third number, a pause in ms after each run. Each
round asks all of them in random order, so that a busy machine moves both sides of a ratio, and waits a few seconds
for the machine to be idle.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

HERE = Path(__file__).parent


class Spread(msgspec.Struct, frozen=True):
    """The middle of several measurements and how far they lie apart."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Take the median and the tenth and ninetieth percentile."""
        ordered = sorted(values)
        tenth = (len(ordered) - 1) / 10
        return cls(statistics.median(ordered), ordered[round(tenth)], ordered[round(len(ordered) - 1 - tenth)])


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table: a figure, what it is compared with, and what it must keep."""

    key: str
    group: str
    what: str
    unit: str
    ours: Spread
    #: The other side of the ratio, measured in the same rounds.
    other: Spread | None = None
    against: str = ""
    ratio: Spread | None = None
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def judged(self) -> float:
        """The figure that the bound is for: the ratio where there is one."""
        return self.ratio.median if self.ratio is not None else self.ours.median

    @property
    def kept(self) -> bool | None:
        """Tell whether the bound is kept; None where there is none."""
        if self.at_most is not None:
            return self.judged <= self.at_most
        return self.judged >= self.at_least if self.at_least is not None else None


class Contender:
    """A process that measures on request."""

    def __init__(self, *argv: str | Path, env: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [str(word) for word in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )

    def ask(self, count: int, inflight: int = 1, pause_ms: int = 0) -> tuple[float, list[float]]:
        """Give the microseconds of all runs together and of each."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{count} {inflight} {pause_ms}\n" if pause_ms else f"{count} {inflight}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"bench: {self._process.args} ended with status {self._process.wait()}")
        total, *each = (int(number) / 1000 for number in line.split())
        return total, each

    def close(self) -> None:
        """Let it end by itself."""
        self._process.communicate()


def scenario(name: str, *arguments: str) -> Contender:
    """Start one of our own contenders."""
    return Contender(sys.executable, HERE / "contender.py", name, *arguments)


def median_of_each(answer: tuple[float, list[float]]) -> float:
    """The typical single run: what one hook feels like."""
    return statistics.median(answer[1])


def mean_of_all(answer: tuple[float, list[float]]) -> float:
    """All runs by their number: throughput, and things too short for a clock."""
    return answer[0] / len(answer[1])


def rounds(
    contenders: Mapping[str, Contender],
    number: int,
    ask: Callable[[Contender], tuple[float, list[float]]],
    figure: Callable[[tuple[float, list[float]]], float],
) -> dict[str, list[float]]:
    """Interleave the contenders; give the figure of each of them in every round."""
    for contender in contenders.values():
        ask(contender)
    results: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(number):
        wait_for_quiet()
        for name in random.sample(list(contenders), len(contenders)):
            results[name].append(figure(ask(contenders[name])))
    return results


def ratios(over: Sequence[float], under: Sequence[float]) -> Spread:
    """Divide round by round."""
    return Spread.of([one / other for one, other in zip(over, under, strict=True)])


def wait_for_quiet(patience: float = 3.0) -> None:
    """Wait until the processors are mostly idle, or until patience ends."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        before = _busy()
        time.sleep(0.05)
        after = _busy()
        total = after[1] - before[1]
        if total == 0 or (after[0] - before[0]) / total < 0.25:
            return


def _busy() -> tuple[int, int]:
    try:
        fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    except OSError:
        return 0, 0
    idle = fields[3] + fields[4]
    return sum(fields) - idle, sum(fields)
