"""Count the instructions of pure Python paths with callgrind: the same on a busy and on an idle machine.

python bench/counts.py            print instructions for each path
python bench/counts.py NAME N …   the program that is counted: set a scenario up and do it N times
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys

#: Name in the baseline → scenario.
COUNTED: dict[str, tuple[str, ...]] = {
    "instructions: no match": ("no-match",),
    "instructions: callback": ("callback",),
    "instructions: callback among 10,000": ("callback-among", "10000"),
    "instructions: interpret, aggregate": ("interpretation",),
    "instructions: callback with journal": ("journal",),
}
_FEW, _MANY = 100, 600


def available() -> bool:
    """Tell whether this machine has callgrind."""
    return shutil.which("valgrind") is not None


def all_counts() -> dict[str, float]:
    """Count every path."""
    return {name: count(*words) for name, words in COUNTED.items()}


def count(*words: str) -> float:
    """Tell the instructions of one run: the difference between many runs and few."""
    return round((_total(_MANY, words) - _total(_FEW, words)) / (_MANY - _FEW))


def _total(number: int, words: tuple[str, ...]) -> int:
    scenario, *arguments = words
    command = [
        *("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"),
        *(sys.executable, __file__, scenario, str(number), *arguments),
    ]
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    out = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", out.stderr)
    if found is None:
        raise SystemExit(f"bench: callgrind did not count: {out.stderr[-500:]}")
    return int(found[1].replace(",", ""))


async def _repeat(name: str, number: int, arguments: list[str]) -> None:
    from scenarios import SCENARIOS

    async with SCENARIOS[name](*arguments) as once:
        for _ in range(number):
            await once()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(_repeat(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
    else:
        for label, value in all_counts().items():
            print(f"{label:40} {value:12,.0f}")
