"""The folders that hooks may change during a replay: in a view, not in the user's own files."""

from __future__ import annotations

import os
import tempfile

import msgspec

from hookwright.errors import ConfigError


class Bounds(msgspec.Struct, frozen=True):
    """The project, the home directory and the folder of temporary files, as hooks know them."""

    project: str
    home: str
    temp: str = ""

    def resolved(self, shown: str = "") -> Bounds:
        """Return the same folders without symbolic links; raise ConfigError if there is no view of the project.

        The project may be below `shown` instead, as if that were `/`.
        """
        project = os.path.realpath(self.project)
        there = os.path.isdir(project) or (shown and os.path.isdir(os.path.join(shown, project.lstrip("/"))))
        if project == "/" or not there:
            raise ConfigError(
                f"{self.project}: hooks are isolated in a project folder, and this is not one. "
                "Start in the project's folder, or use --isolation none --trust."
            )
        return Bounds(project, os.path.realpath(self.home), os.path.realpath(self.temp or tempfile.gettempdir()))
