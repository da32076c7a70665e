"""The documentation is true: pages are up to date, links lead somewhere, and what they show is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from docpages import HAND_WRITTEN, ROOT, World, blocks, run_block


def runnable(path: Path) -> bool:
    return any(
        block.file or block.language == "console" or "run" in block.options for block in blocks(path.read_text())
    )


RUNNABLE = [path for path in HAND_WRITTEN if runnable(path)]


@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_shows_is_what_happens(path: Path, tmp_path: Path) -> None:
    number = 0
    world = World(tmp_path / "0")
    for block in blocks(path.read_text()):
        if block.language == "new":
            number += 1
            world = World(tmp_path / str(number))
        else:
            run_block(block, world)
