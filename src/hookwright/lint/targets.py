"""Versions of Claude Code, and other agents, to check for."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from hookwright.dialects.model import Dialect
from hookwright.dialects.table import AGENTS, dialect
from hookwright.errors import ConfigError

Version = tuple[int, int, int]

#: The first version that knows a key of a handler.
KEY_SINCE: Mapping[str, Version] = {
    "if": (2, 1, 85),
    "args": (2, 1, 139),
    "continueOnBlock": (2, 1, 139),
    "onFailure": (2, 1, 295),
}
#: The first version that knows a type of handler.
TYPE_SINCE: Mapping[str, Version] = {"http": (2, 1, 63), "mcp_tool": (2, 1, 118)}
#: From here on an unknown event no longer makes the whole file be skipped.
EVENTS_TOLERATED: Version = (2, 1, 101)
COMMA_LISTS: Version = (2, 1, 191)


WINDOWS = "windows"


class Target(msgspec.Struct, frozen=True):
    """What a file is meant for."""

    version: Version | None = None
    #: Other agents that a hook is meant for as well.
    agents: tuple[Dialect, ...] = ()
    windows: bool = False


def read_target(words: str) -> Target:
    """Read `2.1.200`, `codex`, `windows`, or several of them with commas."""
    version: Version | None = None
    agents: list[Dialect] = []
    windows = False
    for word in filter(None, (part.strip().lower() for part in words.split(","))):
        if re.fullmatch(r"\d+\.\d+(\.\d+)?", word):
            major, minor, *patch = map(int, word.split("."))
            version = (major, minor, patch[0] if patch else 0)
        elif word == WINDOWS:
            windows = True
        elif word in AGENTS:
            agents.append(dialect(word))
        else:
            known = ", ".join((*AGENTS, WINDOWS))
            raise ConfigError(f"--target {word}: write a version such as 2.1.200, or one of {known}.")
    return Target(version, tuple(agents), windows)


def with_agents(target: Target, words: str) -> Target:
    """Add the agents of `--for`; raise ConfigError for a word that is not one."""
    named = tuple(dialect(word) for word in filter(None, (part.strip().lower() for part in words.split(","))))
    return msgspec.structs.replace(target, agents=(*target.agents, *named))


def dotted(version: Version) -> str:
    """Write a version."""
    return ".".join(map(str, version))
