"""What a dask cluster costs over a pool of processes, for reading a history in tasks of 64 MB or more.

    make bench-fleet            (256 MB, three rounds)

Both read the same sessions with two workers that are already running. Each round asks one after the other; what is
compared is processor time of all processes, and wall time, the least of all rounds.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from distributed import Client, LocalCluster
from history import write_history

from hookwright.replay.fleet.dask import DaskFleet
from hookwright.replay.fleet.fleet import FleetReaders
from hookwright.replay.fleet.reading import LEAST, cut_evenly, read_by
from hookwright.replay.past import Coverage
from hookwright.replay.pool import PoolWorkers, Workers
from hookwright.replay.transcripts.files import SourceFile, find

#: The most that dask may take, as a multiple of the pool.
AT_MOST = 1.15
JOBS = 2


def _processor() -> float:
    """Return the processor time of this process and of everything below it."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def _measured(work: Callable[[], object]) -> tuple[float, float]:
    before, began = _processor(), time.perf_counter()
    work()
    return _processor() - before, time.perf_counter() - began


def _rounds(sources: list[SourceFile], contenders: dict[str, Workers], number: int) -> dict[str, tuple[float, float]]:
    for workers in contenders.values():
        read_by(workers, sources[:JOBS], least=1)  # start what has to be started
    best: dict[str, tuple[float, float]] = {}
    for _ in range(number):
        for name, workers in contenders.items():
            found = _measured(lambda workers=workers: read_by(workers, sources))  # type: ignore[misc]
            known = best.get(name, found)
            best[name] = min(known[0], found[0]), min(known[1], found[1])
    return best


def main() -> int:
    """Measure, print a table, and return 1 if dask takes more processor time than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("megabytes", type=float, nargs="?", default=256)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        size = write_history(Path(folder), int(given.megabytes * 1e6))
        sources = find([folder], Coverage())
        tasks = len(cut_evenly(sources, LEAST))
        print(f"{size / 1e6:.0f} MB in {tasks} tasks, {JOBS} workers, load {os.getloadavg()[0]:.1f}")
        pool = PoolWorkers(None, JOBS)
        with (
            LocalCluster(n_workers=JOBS, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
            Client(cluster) as client,
        ):
            best = _rounds(sources, {"processes": pool, "dask": FleetReaders(DaskFleet(client))}, given.rounds)
        pool.close()
    for name, (processor, wall) in best.items():
        rate = size / 1e6 / processor
        print(
            f"{name:10} {processor:6.2f} s of processor time ({rate:,.0f} MB per second)   {wall:6.2f} s of wall time"
        )
    ratio, slower = (best["dask"][number] / best["processes"][number] for number in (0, 1))
    print(f"dask takes {ratio:.2f} × the processor time and {slower:.2f} × the wall time; at most {AT_MOST} ×")
    return int(ratio > AT_MOST)


if __name__ == "__main__":
    sys.exit(main())
