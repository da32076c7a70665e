"""A call as hooks read it; the transcript has it as the model wrote it."""

from __future__ import annotations

import os

from hookwright.agent.tools import TOOLS, absolute
from hookwright.protocol.jsontext import Json

#: Tools that older versions called otherwise.
_RENAMED = {"Task": "Agent"}


def repaired_name(name: str) -> str:
    """Return the name that hooks read for a tool today."""
    return _RENAMED.get(name, name)


def repaired_input(tool: str, arguments: dict[str, Json], cwd: str) -> dict[str, Json]:
    """Return the input that hooks read: the defaults of the tool filled in, `file_path` absolute.

    Law: an input that hooks would read unchanged is returned as the same object.
    """
    known = TOOLS.get(tool)
    path = arguments.get("file_path")
    missing = known is not None and any(name not in arguments for name in known.defaults)
    if not missing and (not isinstance(path, str) or (os.path.isabs(path) and os.path.normpath(path) == path)):
        return arguments
    home = os.path.expanduser("~")
    if known is not None:
        return known.normalise(arguments, cwd, home)
    return {**arguments, "file_path": absolute(str(path), cwd, home)}
