"""Choose a level of isolation: the one asked for, or the best that works here."""

from __future__ import annotations

import os
import secrets
import sys

import msgspec

from hookwright.errors import ConfigError, HookwrightError
from hookwright.replay.isolation import landlock
from hookwright.replay.isolation.alone import run_isolated
from hookwright.replay.isolation.bounds import Bounds
from hookwright.replay.isolation.levels import LEVELS, NONE, IsolationLevel, Name
from hookwright.replay.isolation.views import View

#: What can be asked for.
CHOICES = ("auto", *(level.name.value for level in LEVELS))
_WAY_OUT = "To run hooks with all your rights: --isolation none --trust."


def choose(wanted: str, bounds: Bounds, *, trusted: bool) -> IsolationLevel:
    """Return a level that works for these folders; raise ConfigError, with the way out, if there is none.

    Law: `auto` is the first level that works and isolates; a level asked for by name is never replaced by another;
    `none` is never chosen, only asked for, and only with trust.
    """
    if wanted == NONE.name.value:
        if not trusted:
            raise ConfigError(
                "--isolation none runs hooks with all your rights on every event of the past: files, network and "
                "processes. Add --trust if you want that."
            )
        return NONE
    tried = [level for level in LEVELS if level.isolated and wanted in ("auto", level.name.value)]
    if not tried:
        raise ConfigError(f"--isolation {wanted}: not a level. Use one of {', '.join(CHOICES)}.")
    reasons = []
    for level in tried:
        reason = why_not(level, bounds)
        if reason is None:
            return _as_here(level)
        reasons.append(f"{level.name.value}: {reason}")
    raise ConfigError(f"hooks cannot be isolated here ({'; '.join(reasons)}). {_WAY_OUT}")


def _as_here(level: IsolationLevel) -> IsolationLevel:
    """Return a level with the gaps it has on this kernel."""
    if level.name is Name.LANDLOCK and landlock.abi() < landlock.SIGNALS:
        return msgspec.structs.replace(level, gaps=("signals to your other processes (before Linux 6.12)", *level.gaps))
    return level


def why_not(level: IsolationLevel, bounds: Bounds) -> str | None:
    """Return why a level does not work here, or None if it does: enter it, write, look and renew."""
    if not level.isolated:
        return None
    if sys.platform != "linux":
        return "it needs Linux"
    bounds = bounds.resolved()
    try:
        return run_isolated(_tried, level, bounds)
    except (OSError, HookwrightError) as problem:
        return str(problem)


def _tried(view: View) -> str | None:
    trial = os.path.join(view.env["TMPDIR"], f"trial-{secrets.token_hex(8)}")
    with open(trial, "w", encoding="utf-8"):
        pass
    seen = [os.path.basename(one.path) for one in view.written() or ()]
    view.renew()
    if os.path.basename(trial) not in seen or os.path.exists(trial):
        return "what is written in a view is not kept apart"
    return None
