"""Run rows, each in a process of its own, and look for what outlived that process too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import msgspec

from faults.leftovers import MARK, marked
from faults.limits import Impossible, jumping_clock, own_mounts, temporary
from faults.table import ROWS

TESTS = Path(__file__).parent.parent


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What one row came to."""

    tried: int = 0
    wrong: list[str] = []
    left: list[str] = []
    #: Seconds over the limit of the hook, at worst.
    over: float = 0.0
    #: MB over the baseline of the host, at worst.
    peak: float = 0.0
    seconds: float = 0.0
    undecided: str = ""

    @property
    def good(self) -> bool:
        """Tell whether everything was as it must be."""
        return not (self.wrong or self.left or self.undecided)


def run_row(name: str) -> Result:
    """Run a row in a process of its own."""
    row, mark = ROWS[name], uuid.uuid4().hex
    argv = [sys.executable, "-W", "error", "-m", "faults.host", name, mark]
    env = {**os.environ, "PYTHONPATH": str(TESTS), MARK: mark}
    started = time.monotonic()
    with temporary() as folder:
        env["TMPDIR"] = folder  # below a mount of its own, or when it is killed, the host cannot clear up
        try:
            if row.jumps:
                env["LD_PRELOAD"] = str(jumping_clock(Path(folder)))
            argv = own_mounts(argv) if row.mounts else argv
            ended = subprocess.run(argv, capture_output=True, env=env, timeout=row.patience, check=False)
        except Impossible as reason:
            return Result(undecided=str(reason))
        except subprocess.TimeoutExpired:
            left = _ended(mark)
            return Result(
                tried=1, wrong=[f"no end after {row.patience:g} s"], left=left, seconds=time.monotonic() - started
            )
    survivors = _ended(mark)
    try:
        found = msgspec.json.decode(ended.stdout, type=Result)
    except msgspec.MsgspecError:
        said = ended.stderr.decode("utf-8", "replace").strip().splitlines() or ["nothing"]
        return Result(tried=1, wrong=[f"the host ended with {ended.returncode}: {said[-1]}"], left=survivors)
    return msgspec.structs.replace(found, left=[*found.left, *survivors])


def _ended(mark: str) -> list[str]:
    """End and name the processes that outlived the host of a row."""
    found = []
    for pid in marked(mark):
        found.append(f"process {pid} outlived the host")
        os.kill(pid, signal.SIGKILL)
    return found
