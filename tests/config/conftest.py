import os
from pathlib import Path

import pytest

from worlds import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(Path(os.path.realpath(tmp_path)))
