"""The process of one row: run it, and print what was found as one line of JSON.

python -m faults.host NAME MARK
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from faults.limits import Impossible, temporary
from faults.table import ROWS
from faults.world import World


def main(name: str, mark: str) -> None:
    """Run the row of this name."""
    started = time.monotonic()
    with temporary() as folder:
        world = World(Path(folder), mark)
        try:
            asyncio.run(ROWS[name].run(world))  # type: ignore[arg-type]
        except Impossible as reason:
            world.undecided = str(reason)
    found = {
        "tried": world.tried,
        "wrong": world.wrong,
        "left": world.left,
        "over": world.over,
        "peak": world.peak,
        "seconds": time.monotonic() - started,
        "undecided": world.undecided,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
