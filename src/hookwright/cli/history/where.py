"""Where a replay runs: processes of this machine, or a cluster."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from hookwright.errors import ConfigError
from hookwright.replay.fleet.dask import dask_cluster
from hookwright.replay.fleet.fleet import Fleet
from hookwright.text import say

#: The value of `--on` for this machine.
HERE = "process"


@contextmanager
def workers(on: str) -> Iterator[Fleet | None]:
    """Connect to what `--on` names; None for processes of this machine."""
    if on == HERE:
        yield None
        return
    if "://" not in on:
        raise ConfigError(f"--on {on}: write `{HERE}`, or the address of a dask scheduler: tcp://HOST:8786")
    if on.startswith("tcp://"):
        warning = "has no TLS: everyone who can reach the scheduler can run programs on its workers"
        say([f"hookwright: warning: {on} {warning}. Use tls:// outside your own machine."], sys.stderr)
    with dask_cluster(on) as fleet:
        yield fleet
