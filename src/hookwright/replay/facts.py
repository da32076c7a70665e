"""What the text of a hook shows: which fields it names, and what besides the event it depends on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from hookwright.config import Loaded
from hookwright.config.files import read_bytes
from hookwright.config.scripts import Reach, TooManyFiles, what_runs
from hookwright.config.scripts.shelltext import MAX_DEPTH, simple_commands
from hookwright.hookset import Entry
from hookwright.protocol.handlers import CommandHandler, Handler
from hookwright.protocol.wire import encode

#: Longer scripts are read up to here.
_MOST = 1024 * 1024

#: Programs by which a shell script reads the clock or uses the network. A guard that only looks for their names in a
#: command starts none of them.
_CLOCKS = frozenset({"date"})
_NETWORKS = frozenset({"curl", "wget", "nc", "ncat", "ssh", "scp", "sftp", "rsync", "gh", "telnet", "ping"})
_GIT_NETWORKS = frozenset({"push", "pull", "fetch", "clone", "ls-remote"})
#: Words before the program of a shell command.
_BEFORE = frozenset(
    {"if", "then", "elif", "else", "do", "while", "until", "!", "{", "(", "time", "exec", "env", "sudo"}
)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_SHELL_LINE = re.compile(r"#!.{0,100}\b(?:ba|da|z|k)?sh\b")
#: The same in the code of other languages.
_CLOCK = re.compile(
    r"\btime\.(?:time|localtime|strftime|gmtime)\(|datetime\.(?:now|today|utcnow)\(|\bdate\.today\("
    r"|Date\.now\(|new Date\(\)"
)
_NETWORK = re.compile(
    r"^\s*(?:import|from)\s+(?:requests|urllib\.request|http\.client|httpx|aiohttp|socket)\b|\burllib\.request\b"
    r"|\bfetch\(|require\(['\"](?:node:)?https?['\"]\)|from ['\"](?:node:)?https?['\"]",
    re.MULTILINE,
)
#: Words of scripts that refuse, ask, approve or rewrite.
_DECIDES = re.compile(
    r"exit\W{0,3}(?!0\b|1\b)\S|decision|permission|deny|block|continue|hookSpecificOutput|updatedInput|additionalContext"
    r"|hookwright|sys\.exit|process\.exit|raise SystemExit|return 2\b"
)
#: Fields that differ between two events of equal content.
PASSING = ("session_id", "transcript_path", "tool_use_id", "prompt_id", "agent_id", "agent_transcript_path")
_NAMES_PASSING = re.compile("|".join((*PASSING, "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID")))


class PastFacts(msgspec.Struct, frozen=True):
    """What the text of one handler shows."""

    #: A digest of the handler, where it is declared for, and the content of every file it runs.
    id: str
    #: Everything the handler runs, as far as it can be found.
    text: str
    #: The files it runs.
    files: tuple[str, ...] = ()
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


def facts_of(entry: Entry, loaded: Loaded) -> PastFacts:
    """Read what a configured handler runs and describe it."""
    handler = entry.handler
    files, digests = _read(handler, loaded.gate.reach)
    text = "\n".join((*_declared(handler), *files.values()))
    clock, network = _uses(handler, files)
    return PastFacts(
        id=_digest(entry, digests),
        text=text,
        files=tuple(files),
        clock=clock,
        network=network,
        transcript="transcript_path" in text,
        passing=_NAMES_PASSING.search(text) is not None,
        decides=_DECIDES.search(text) is not None,
        idle=handler.shadow or handler.background,
    )


def _uses(handler: Handler, files: Mapping[str, str]) -> tuple[bool, bool]:
    """Return whether a handler reads the clock, and whether it uses the network, as far as its code shows."""
    shell = [text for path, text in files.items() if _is_shell(path, text)]
    code = [text for path, text in files.items() if not _is_shell(path, text)]
    if isinstance(handler, CommandHandler):
        shell.append(" ".join((handler.command, *(handler.args or ()))))
    programs = [words for text in shell for words in _programs(text)]
    clock = any(words[0] in _CLOCKS for words in programs) or any(_CLOCK.search(text) for text in code)
    network = any(map(_reaches_out, programs)) or any(_NETWORK.search(text) for text in code)
    return clock, network


def _is_shell(path: str, text: str) -> bool:
    return path.endswith((".sh", ".bash")) or _SHELL_LINE.match(text) is not None


def _reaches_out(words: Sequence[str]) -> bool:
    if words[0] == "git":
        return any(word in _GIT_NETWORKS for word in words[1:4])
    return words[0] in _NETWORKS


def _programs(text: str, depth: int = 0) -> Iterator[Sequence[str]]:
    """Yield the commands of a shell script with their words; a quoted text is a word, `$( )` is a script."""
    for command in simple_commands(text):
        words = list(command.words)
        while words and (words[0] in _BEFORE or _ASSIGNED.match(words[0])):
            words.pop(0)
        if words:
            yield [words[0].rpartition("/")[2], *words[1:]]
        for inner in command.inner if depth < MAX_DEPTH else ():
            if f"$({inner}" in text or f"`{inner}" in text or f"<({inner}" in text:
                yield from _programs(inner, depth + 1)


def _declared(handler: Handler) -> Sequence[str]:
    if isinstance(handler, CommandHandler):
        return handler.command, *(handler.args or ())
    return (handler.label,)


def _read(handler: Handler, reach: Reach) -> tuple[dict[str, str], list[str]]:
    """Return the texts of the files a handler runs by their paths, and a digest of each."""
    try:
        files: Iterable[str] = what_runs(handler, reach).files
    except TooManyFiles:
        return {}, ["too many files"]
    texts: dict[str, str] = {}
    digests = []
    for path in files:
        try:
            data = read_bytes(path)
        except OSError:
            continue
        digests.append(f"{path.rpartition('/')[2]}:{hashlib.sha256(data).hexdigest()}")
        if b"\0" not in data[:8192]:
            texts[path] = data[:_MOST].decode("utf-8", "replace")
    return texts, digests


def _digest(entry: Entry, digests: Iterable[str]) -> str:
    handler = entry.handler
    args = list(handler.args) if isinstance(handler, CommandHandler) and handler.args is not None else None
    facts = [entry.event, entry.matcher.text, handler.condition, handler.kind.value, handler.label, args, *digests]
    facts += ["shadow"] if handler.shadow else []
    return hashlib.sha256(encode(facts)).hexdigest()[:16]
