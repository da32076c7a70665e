"""What the text of a hook shows: which fields it names, and what besides the event it depends on."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Sequence

import msgspec

from hookwright.config import Loaded
from hookwright.config.files import read_bytes
from hookwright.config.scripts import Reach, TooManyFiles, what_runs
from hookwright.hookset import Entry
from hookwright.protocol.handlers import CommandHandler, Handler
from hookwright.protocol.wire import encode

#: Longer scripts are read up to here.
_MOST = 1024 * 1024

_CLOCK = re.compile(
    r"(?<![\w-])date(?![\w-]|\s*[=:])|\btime\.(?:time|localtime|strftime|gmtime)|datetime\.(?:now|today|utcnow)|date\.today"
    r"|Date\.now|new Date\(\)|\$EPOCHSECONDS|\bstrftime\b"
)
_NETWORK = re.compile(
    r"\b(?:curl|wget|nc|ssh|scp|rsync)\s|\brequests\.|\burllib\b|\bhttpx\b|\baiohttp\b|\bsocket\.|\bfetch\(|https?\.request"
    r"|\baxios\b|\bgh (?:api|pr|issue)|git (?:fetch|push|pull|ls-remote)"
)
#: Words of scripts that refuse, ask, approve or rewrite.
_DECIDES = re.compile(
    r"exit\W{0,3}(?!0\b|1\b)\S|decision|permission|deny|block|continue|hookSpecificOutput|updatedInput|additionalContext"
    r"|hookwright|sys\.exit|process\.exit|raise SystemExit|return 2\b"
)
#: Fields that differ between two events of equal content.
PASSING = ("session_id", "transcript_path", "tool_use_id", "prompt_id", "agent_id", "agent_transcript_path")
_NAMES_PASSING = re.compile("|".join((*PASSING, "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID")))


class Facts(msgspec.Struct, frozen=True):
    """What the text of one handler shows."""

    #: A digest of the handler, where it is declared for, and the content of every file it runs.
    id: str
    #: Everything the handler runs, as far as it can be found.
    text: str
    clock: bool = False
    network: bool = False
    transcript: bool = False
    #: Whether equal events may be answered differently because of ids and paths of the session.
    passing: bool = False
    #: Whether the text has a word of scripts that decide.
    decides: bool = True
    #: Whether nothing the handler says has an effect on the event: it is in shadow mode, or in the background.
    idle: bool = False

    def names(self, field: str) -> bool:
        """Return whether the text names a field of the event."""
        return re.search(rf"\b{re.escape(field)}\b", self.text) is not None


def facts_of(entry: Entry, loaded: Loaded) -> Facts:
    """Read what a configured handler runs and describe it."""
    handler = entry.handler
    texts, digests = _read(handler, loaded.gate.reach)
    text = "\n".join((*_declared(handler), *texts))
    return Facts(
        id=_digest(entry, digests),
        text=text,
        clock=_CLOCK.search(text) is not None,
        network=_NETWORK.search(text) is not None,
        transcript="transcript_path" in text,
        passing=_NAMES_PASSING.search(text) is not None,
        decides=_DECIDES.search(text) is not None,
        idle=handler.shadow or handler.background,
    )


def _declared(handler: Handler) -> Sequence[str]:
    if isinstance(handler, CommandHandler):
        return handler.command, *(handler.args or ())
    return (handler.label,)


def _read(handler: Handler, reach: Reach) -> tuple[list[str], list[str]]:
    """Return the texts of the files a handler runs, and a digest of each."""
    try:
        files: Iterable[str] = what_runs(handler, reach).files
    except TooManyFiles:
        return [], ["too many files"]
    texts, digests = [], []
    for path in files:
        try:
            data = read_bytes(path)
        except OSError:
            continue
        digests.append(f"{os.path.basename(path)}:{hashlib.sha256(data).hexdigest()}")
        if b"\0" not in data[:8192]:
            texts.append(data[:_MOST].decode("utf-8", "replace"))
    return texts, digests


def _digest(entry: Entry, digests: Iterable[str]) -> str:
    handler = entry.handler
    args = list(handler.args) if isinstance(handler, CommandHandler) and handler.args is not None else None
    facts = [entry.event, entry.matcher.text, handler.condition, handler.kind.value, handler.label, args, *digests]
    facts += ["shadow"] if handler.shadow else []
    return hashlib.sha256(encode(facts)).hexdigest()[:16]
