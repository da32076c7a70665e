"""The files a case writes into its scratch copy and reads back from it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hookwright.errors import InvalidCase


def put_files(folder: str, files: Mapping[str, str]) -> None:
    """Write the files of a case; one that starts with `#!` becomes executable."""
    for name, text in files.items():
        path = inside(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if text.startswith("#!"):
            os.chmod(path, 0o755)


def inside(folder: str, name: str) -> str:
    """Return the path of a case's file; raise InvalidCase when it leads out of the folder."""
    path = os.path.normpath(os.path.join(folder, name))
    if not path.startswith(folder.rstrip("/") + "/"):
        raise InvalidCase(f"`{name}` leads out of the scratch copy; write a path inside the project")
    if os.path.realpath(os.path.dirname(path)) != os.path.normpath(
        os.path.join(os.path.realpath(folder), os.path.dirname(os.path.relpath(path, folder)))
    ):
        raise InvalidCase(f"`{name}` leads out of the scratch copy through a link; write a path without links")
    return path
