"""Find the files that a hook names by a relative path and that its working directory does not have."""

from __future__ import annotations

import functools
import os
import re

from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.job import Job
from hookwright.protocol.replies import Exited, Reply

_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_BARE = re.compile(r"[^\s;|&()<>`'\"]+")
#: Not a relative path, or one that only a shell can tell.
_NOT_PLAIN = re.compile(r"[-/~=]|.*[$*?\[{\\\0]", re.DOTALL)
_SCRIPT = re.compile(r".*\.(?:sh|bash|zsh|py|pyw|js|mjs|cjs|ts|mts|rb|pl|php|lua|ps1)", re.DOTALL)
_LONGEST = 65_536


@functools.lru_cache(maxsize=256)
def _names(command: str, args: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the words of a command that may be relative paths."""
    text = command[:_LONGEST]
    quoted = [one or two for one, two in _QUOTED.findall(text)] if args is None else list(args)
    words = dict.fromkeys([*_BARE.findall(text), *quoted] if args is None else [command, *quoted])
    return tuple(word for word in words if word and not _NOT_PLAIN.match(word))


def with_lost_file(reply: Reply, job: Job, project: str) -> Reply:
    """Add to a reply which file of the project its hook names, but could not find in the working directory.

    Law: a relative path in a command starts at the working directory, as in Claude Code. A `cd` of the session
    therefore moves it, and the hook must not look as if it had checked the event.
    """
    handler, cwd = job.handler, job.event.cwd
    if not isinstance(reply, Exited) or not isinstance(handler, CommandHandler):
        return reply
    for base in filter(None, dict.fromkeys((handler.source.project, project))):
        for name in _names(handler.command, handler.args):
            place = os.path.join(base, name)
            missing = os.path.isfile(place) and not os.path.lexists(os.path.join(cwd, name))
            if missing and (reply.status != 0 or _is_script(place)):
                return reply.with_lost(name, base, cwd)
    return reply


def _is_script(path: str) -> bool:
    return _SCRIPT.fullmatch(path) is not None or os.access(path, os.X_OK)
