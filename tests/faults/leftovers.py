"""Count what a host could leave behind: processes, descriptors, tasks, threads, files, memory."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import threading
from collections.abc import Iterable
from pathlib import Path

import msgspec

#: Every process of a row carries this variable, with a value of its own.
MARK = "HOOKWRIGHT_FAULT"


class State(msgspec.Struct, frozen=True):
    """What there is at one moment."""

    processes: frozenset[int]
    descriptors: int
    tasks: int
    threads: int
    files: frozenset[str]


def state(mark: str, folders: Iterable[Path]) -> State:
    """Look at this process, at the processes that carry the mark, and at some folders."""
    gc.collect()
    return State(
        processes=frozenset(marked(mark)) - {os.getpid()},
        descriptors=len(os.listdir("/proc/self/fd")),
        tasks=len(asyncio.all_tasks()),
        # The loop's own pool keeps its threads for the next call.
        threads=sum(not thread.name.startswith("asyncio_") for thread in threading.enumerate()),
        files=frozenset(str(path) for folder in folders for path in folder.rglob("*")),
    )


def leftovers(before: State, after: State) -> list[str]:
    """Name what is there now and was not before."""
    found = [f"process {pid} ({describe(pid)})" for pid in sorted(after.processes - before.processes)]
    found += [f"file {path}" for path in sorted(after.files - before.files)]
    for name in ("descriptors", "tasks", "threads"):
        more = getattr(after, name) - getattr(before, name)
        if more > 0:
            found.append(f"{more} {name}")
    return found


def marked(mark: str) -> set[int]:
    """List the processes that carry the mark in their environment and are no zombies, and all zombie children."""
    wanted = f"{MARK}={mark}".encode()
    found = set()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            stat = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
            environment = Path(f"/proc/{name}/environ").read_bytes()
        except OSError:
            continue
        mine_and_dead = stat[0] == b"Z" and int(stat[1]) == os.getpid()
        if mine_and_dead or (stat[0] not in (b"Z", b"X") and wanted in environment.split(b"\0")):
            found.add(int(name))
    return found


def describe(pid: int) -> str:
    """Show what a process runs, who its parent is and which run it belongs to."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:60].strip()
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return "gone"
    run = next((entry.decode() for entry in environment if entry.startswith(b"HOOKWRIGHT_RUN=")), "no run")
    return f"{words}, state {stat[0]}, parent {stat[1]}, group {stat[2]}, {run}"


def resident() -> float:
    """Tell the resident memory of this process in MB."""
    return _status("VmRSS")


def peak() -> float:
    """Tell the most memory this process had since `forget_peak`, in MB."""
    return _status("VmHWM")


def forget_peak() -> None:
    """Begin to measure the peak anew."""
    Path("/proc/self/clear_refs").write_text("5")


def _status(field: str) -> float:
    found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found is not None else 0.0
