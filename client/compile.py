"""Compile the client: the hook of its wheel's build, and a program of its own.

python compile.py FILE
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("src") / "client.c"
FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def build(program: Path) -> Path:
    """Compile the client, statically where the system can; raise SystemExit without a compiler."""
    compiler = shlex.split(os.environ.get("CC", "")) or [shutil.which("cc") or ""]
    if not compiler[0]:
        raise SystemExit("hookwright-client: no C compiler; install one as `cc` or name it in CC")
    program.parent.mkdir(parents=True, exist_ok=True)
    command = [*compiler, *FLAGS, "-o", str(program), str(SOURCE)]
    static = subprocess.run([*command, "-static"], capture_output=True, check=False)
    if static.returncode:
        subprocess.run(command, check=True)
    return program


def _hook() -> Any:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class CompileHook(BuildHookInterface):  # type: ignore[type-arg]
        """Put the compiled program among the scripts of the wheel."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's signature
            """Compile before the wheel is written."""
            program = build(Path(self.directory) / "bin" / "hookwright-client")
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform}"
            build_data["shared_scripts"] = {str(program): "hookwright-client"}

    return CompileHook


def get_build_hook() -> Any:
    """Return the class that hatchling calls."""
    return _hook()


if __name__ == "__main__":
    build(Path(sys.argv[1]))
