"""The main program of a resident hook: one line in, one line out (docs/workers.md)."""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn


class Worker:
    """Answers events until stdin ends; `respond` returns the exit status and the stdout for one event."""

    def __init__(self, respond: Callable[[dict[str, Any]], tuple[int, str]], answers: int) -> None:
        self._respond = respond
        self._answers = os.fdopen(answers, "wb", buffering=0)
        self._requests = os.fdopen(os.dup(0), "rb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    def serve(self) -> NoReturn:
        """Write the greeting, then answer every line."""
        self._say({"worker": 1, "files": _own_files()})
        for line in self._requests:
            request = json.loads(line)
            _surround(request)
            status, text = self._respond(request["event"])
            self._say({"id": request["id"], "exit": status, "stdout": text})
        sys.exit(0)

    def _say(self, value: dict[str, Any]) -> None:
        left = memoryview(json.dumps(value).encode() + b"\n")
        while left:
            left = left[self._answers.write(left) :]


def _surround(request: dict[str, Any]) -> None:
    """Apply the directory and the changed variables of an event."""
    if "cwd" in request:
        os.chdir(request["cwd"])
    for name, value in request.get("env", {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _own_files() -> list[str]:
    """Return the files of this program, so that it is restarted when one of them changes."""
    library = os.path.dirname(os.__file__)
    installed = (library, os.path.join("", "site-packages", ""), os.path.join("", "dist-packages", ""))
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name.partition(".")[0] != "hookwright" and not any(part in file for part in installed):
            found.add(os.path.abspath(file))
    return sorted(found)
