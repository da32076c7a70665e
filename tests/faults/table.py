"""All rows by name: what runs, whether it belongs to the short form, and what the process of the row needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from faults import agents, environments, hosts, network
from faults.hooks import run_hook, run_warm
from faults.hostile import FAULTS
from faults.world import World


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One fault."""

    run: Callable[[World], Awaitable[None]]
    #: Part of the short form.
    quick: bool = True
    #: The process has mounts of its own.
    mounts: bool = False
    #: The wall clock of the process jumps.
    jumps: bool = False
    #: Seconds after which the row has failed.
    patience: float = 120.0


def _hooks() -> dict[str, Row]:
    return {name: Row(run=partial(run_hook, fault=fault), quick=fault.quick) for name, fault in FAULTS.items()}


#: Hostile Python hooks that are tried in a warm interpreter, too.
_WARM = (
    "invalid UTF-8 inside a denial",
    "100,000 nested brackets and exit 2",
    "a 10 MB number in a denial",
    "ignores every signal it can",
    "makes a daemon with a session of its own and hangs",
    "forks until it is ended",
    "dies by SIGKILL",
    "dies by SIGSEGV",
)


def _warm() -> dict[str, Row]:
    return {f"warm: {name}": Row(run=partial(run_warm, fault=FAULTS[name]), quick=False) for name in _WARM}


def _network() -> dict[str, Row]:
    asked = ((network.run_http, network.HTTP), (network.run_mcp, network.MCP), (network.run_model, network.MODEL))
    rows = {
        one.name: Row(run=partial(run, answer=one), quick=one.quick and run is network.run_http)
        for run, answers in asked
        for one in answers
    }
    broken = {name: Row(run=partial(network.run_broken_mcp, name=name), quick=False) for name in network.BROKEN}
    return {**rows, **broken}


ROWS: dict[str, Row] = {
    **_hooks(),
    **_warm(),
    "the hook deletes its working directory": Row(run=environments.own_directory),
    "the hook changes its settings file": Row(run=environments.settings_change),
    "the event is nested 5,000 levels deep": Row(run=environments.nesting),
    "no mask hides what is written": Row(run=environments.private_files),
    "the disk is full": Row(run=environments.disk_full, mounts=True),
    "no descriptor is left": Row(run=environments.descriptors),
    "no process is left": Row(run=environments.processes),
    "a fork storm": Row(run=environments.storm, quick=False),
    "no memory is left": Row(run=environments.memory, quick=False),
    "the clock jumps": Row(run=environments.clock, jumps=True, quick=False),
    "home and state are missing, read-only or files": Row(run=environments.no_home, mounts=True),
    **_network(),
    "agent: its model stalls in the middle of an answer": Row(
        run=partial(agents.model_breaks, mode="stream_stalls"), quick=False
    ),
    "agent: its model breaks off": Row(run=partial(agents.model_breaks, mode="stream_breaks"), quick=False),
    "agent: its model resets": Row(run=partial(agents.model_breaks, mode="stream_resets"), quick=False),
    "agent: it is ended while its model stalls or floods": Row(run=agents.terminated, quick=False),
    "agent: four in one project and one home": Row(run=agents.side_by_side, quick=False),
    "agent: it is killed at 100 moments": Row(run=partial(agents.killed, times=100), quick=False, patience=900),
    "two hosts in the same folders": Row(run=hosts.side_by_side, quick=False),
    "the host gives up at every wait": Row(run=hosts.cancelled_everywhere, quick=False, patience=300),
    "the host is killed at 5 moments": Row(run=partial(hosts.killed, times=5)),
    "the host is killed at 100 moments": Row(run=partial(hosts.killed, times=100), quick=False, patience=600),
}
