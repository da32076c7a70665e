"""The short form of `python bench/load.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LOAD = Path(__file__).parent.parent / "bench" / "load.py"


def test_many_sessions_at_once_make_no_error_and_leave_nothing() -> None:
    argv = [sys.executable, str(LOAD), "--seconds", "3", "--sessions", "24", "--json"]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    found = json.loads(ended.stdout)
    assert (found["wrong"], found["examples"], ended.returncode) == (0, [], 0), found
    assert found["events"] >= 24
    assert found["journal_records"] == found["events"] * 9
