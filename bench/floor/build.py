"""Compile the C floor with the system's compiler, at the time of the measurement."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("floor.c")


def build(directory: Path) -> Path:
    """Compile `floor.c` into a directory and return the program; raise SystemExit without a compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        raise SystemExit("bench: no C compiler; install one as `cc` or name it in CC")
    program = directory / "floor"
    subprocess.run([compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE], check=True)
    return program
