"""The files of a project as hooks see them in a replay: those of today, those of then, or none."""

from __future__ import annotations

import bisect
import enum
import os
import subprocess
from collections.abc import Sequence

from hookwright.errors import ConfigError

_PATIENCE = 120
#: Nothing of the user's or the repository's configuration starts a program.
_PLAIN = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.directory=*")

#: The time of a commit in seconds since 1970, and its hash.
Commit = tuple[float, str]


class State(enum.Enum):
    """What hooks see as the project."""

    #: The files of today; what hooks write is kept apart.
    OVERLAY = "overlay"
    #: The files of the commit before the event.
    COMMIT = "commit"
    #: No files: hooks start in an empty folder, and find their scripts where they are.
    NONE = "none"


def commits_of(project: str) -> tuple[Commit, ...]:
    """Return the commits of the current branch, earliest first; raise ConfigError if there is no repository."""
    done = _git(project, "log", "--format=%ct %H", "HEAD")
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise ConfigError(f"--state commit: git says: {said[-1] if said else 'nothing'}. Use --state overlay.")
    rows = (line.split() for line in done.stdout.splitlines())
    return tuple(sorted((float(time), name) for time, name in rows))


class PastFiles:
    """Puts the files of then into the project of a view.

    Law: an event sees the files of the last commit of the current branch that is not later than it. Files that git does
    not track are those of today. Where no commit is so early, or git cannot check it out, what hooks say is undecided.
    """

    def __init__(self, commits: Sequence[Commit], project: str) -> None:
        self._commits = commits
        self._times = [time for time, _ in commits]
        self._project = project
        self._now = ""

    def forget(self) -> None:
        """Note that the project has the files of today again."""
        self._now = ""

    def put(self, time: float | None) -> str:
        """Check the files of a time out; return the commit, or nothing if they are not known."""
        place = bisect.bisect_right(self._times, time) if time is not None else 0
        if not place:
            return ""
        name = self._commits[place - 1][1]
        if name != self._now:
            self._now = ""
            if _git(self._project, "checkout", "--quiet", "--force", "--detach", name).returncode:
                return ""
            self._now = name
        return name


def _git(folder: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", folder, *_PLAIN, *words]
    try:
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))
