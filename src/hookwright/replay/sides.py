"""The two configurations of a replay: what to try, and what to compare it with."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.errors import ConfigError, TrustError
from hookwright.text import short_path

#: The environment that hooks inherit in a replay; `--env` adds names.
ALLOWED = ("PATH", "LANG", "TZ")
_PATIENCE = 120


class ReplaySide(msgspec.Struct, frozen=True):
    """One configuration: its name on the command line, and where its hooks are loaded from."""

    name: str
    #: None for no hooks at all.
    places: Places | None


@contextmanager
def side(name: str, current: Places) -> Iterator[ReplaySide]:
    """Find the configuration a name means; what it needs on disk exists inside the context.

    Law: `current` is the configuration of the project as it is; `none` has no hooks; `git:REV` is the configuration and
    the files of that revision; `+FILE` is the current one with a settings file added; any other name is a settings file
    or a JSON object and nothing else. Managed hooks are part of every configuration but `none`.
    """
    if name == "none":
        yield ReplaySide(name, None)
    elif name == "current":
        yield ReplaySide(name, current)
    elif name.startswith("git:"):
        with _checkout(name, current) as folder:
            yield ReplaySide(name, msgspec.structs.replace(current, project=folder))
    elif name.startswith("+"):
        yield ReplaySide(name, msgspec.structs.replace(current, settings=(*current.settings, name[1:])))
    else:
        only = msgspec.structs.replace(current, sources=(), settings=(name,), plugin_dirs=())
        yield ReplaySide("JSON" if name.lstrip().startswith("{") else short_path(name, os.getcwd()), only)


@contextmanager
def _checkout(name: str, current: Places) -> Iterator[str]:
    """Check a revision out into a temporary clone; raise TrustError unless the user trusts what it brings."""
    if current.trust is not TrustPolicy.EVERYTHING:
        raise TrustError(f"{name}: the hooks of a revision are not those you trusted. Review them, then add --trust.")
    project = os.path.realpath(os.path.join(current.surroundings.cwd, current.project))
    top = _git(name, "-C", project, "rev-parse", "--show-toplevel")
    inside = os.path.relpath(project, os.path.realpath(top))
    revision = _git(name, "-C", project, "rev-parse", "--verify", "--end-of-options", f"{name[4:]}^{{commit}}")
    with tempfile.TemporaryDirectory(prefix="hookwright-replay-", ignore_cleanup_errors=True) as folder:
        clone = os.path.join(os.path.realpath(folder), "project")
        _git(name, "clone", "--quiet", "--shared", "--no-checkout", "--", top, clone)
        _git(name, "-C", clone, "checkout", "--quiet", "--detach", revision)
        there = os.path.normpath(os.path.join(clone, inside))
        if not os.path.isdir(there):
            raise ConfigError(f"{name}: {inside} does not exist in that revision")
        yield there


def _git(name: str, *words: str) -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(["git", *words], env=env, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"{name}: git cannot be run: {error}") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise ConfigError(f"{name}: git says: {lines[-1] if lines else 'nothing'}")
    return done.stdout.strip()
