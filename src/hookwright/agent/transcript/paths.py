"""Where transcripts are: one folder per project; in it one file per session, and a folder for its other files.

<config>/projects/<slug>/<session>.jsonl
<config>/projects/<slug>/<session>/subagents/agent-<id>.jsonl   and agent-<id>.meta.json
<config>/projects/<slug>/<session>/tool-results/…
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping

from hookwright.errors import HookwrightError

#: A longer slug is cut here and gets a hash; readers compare only this much, since programs hash differently.
SLUG_LIMIT = 200
#: Names the folder instead of the slug of the working directory.
SLUG_VARIABLE = "CLAUDE_CODE_PROJECT_DIR_NAME"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_NOT_SLUG = re.compile(r"[^A-Za-z0-9]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class InvalidSession(HookwrightError):
    """A session id that does not exist or is not valid."""


def checked_id(name: str) -> str:
    """Return a session or agent id unchanged; raise InvalidSession for one that could lead out of its folder."""
    if not _ID.fullmatch(name):
        raise InvalidSession(f"{name!r} is not a session id: ids consist of letters, digits, - and _.")
    return name


def slug(cwd: str) -> str:
    """Return the name of a directory's project folder."""
    plain = _NOT_SLUG.sub("-", cwd)
    if len(plain) <= SLUG_LIMIT:
        return plain
    return f"{plain[:SLUG_LIMIT]}-{_hash(cwd)}"


def _hash(text: str) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:6], "big")
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def project_folder(config_dir: str, cwd: str, env: Mapping[str, str]) -> str:
    """Return the folder for new sessions of a directory."""
    named = env.get(SLUG_VARIABLE, "")
    return os.path.join(config_dir, "projects", _NOT_SLUG.sub("-", named) if named else slug(cwd))


def project_folders(config_dir: str, cwd: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return every folder that may contain sessions of a directory, first the one for new sessions."""
    own = project_folder(config_dir, cwd, env)
    stem = os.path.basename(own)[: SLUG_LIMIT + 1]
    if len(stem) <= SLUG_LIMIT:
        return (own,)
    base = os.path.dirname(own)
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return (own,)
    others = (os.path.join(base, name) for name in names if name.startswith(stem))
    return tuple(dict.fromkeys((own, *others)))


def session_path(folder: str, session_id: str) -> str:
    """Return the path of a session's transcript."""
    return os.path.join(folder, f"{checked_id(session_id)}.jsonl")


def session_folder(transcript: str) -> str:
    """Return the folder for a session's other files."""
    return transcript.removesuffix(".jsonl")


def subagent_path(transcript: str, agent_id: str) -> str:
    """Return the path of a subagent's transcript."""
    return os.path.join(session_folder(transcript), "subagents", f"agent-{checked_id(agent_id)}.jsonl")
