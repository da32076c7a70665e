"""Whether a hook can work on this machine: what `doctor`, `list` and `explain` say about a handler that would run."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import socket
import time
from collections.abc import Iterator
from string import Template
from urllib.parse import urlsplit

from hookwright.config import Loaded
from hookwright.executors.command import base_environment
from hookwright.models import has_key
from hookwright.observers.journal import handler_record
from hookwright.observers.journal.reader import Filter, records
from hookwright.observers.journal.records import Record
from hookwright.protocol.handlers import (
    AgentHandler,
    CommandHandler,
    Handler,
    HttpHandler,
    McpToolHandler,
    PromptHandler,
)

#: Seconds for the connection to a hook's URL.
_PATIENCE = 1.0
#: A hook that failed in at least this many runs, and in all of them, is reported.
_RUNS = 2
_DAY = 86400.0

#: Words of the shell itself, which it never searches on PATH.
_BUILTINS = frozenset(
    {"cd", "test", "[", "[[", "echo", "printf", "read", "exit", "true", "false", "export", "set", "unset", "exec"}
    | {"if", "for", "while", "case", "eval", ".", "source", "trap", "ulimit", "umask", "command", ":", "{", "(", "!"}
)


def importable(module: str) -> bool:
    """Return whether a module is installed."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def obstacle(handler: Handler, loaded: Loaded) -> str | None:
    """Return what keeps a handler from working here, found without running or connecting to anything; None if nothing.

    Law: a prompt or agent hook needs a key and a client, an http hook h11, a tool hook the extra and a server of that
    name, and a command the program it starts with and the common ones that its script calls.
    """
    match handler:
        case PromptHandler() | AgentHandler():
            return _model_obstacle(loaded)
        case HttpHandler():
            return None if importable("h11") else "the extra is missing: pip install 'hookwright[http]'"
        case McpToolHandler(server=server):
            if not importable("mcp"):
                return "the extra is missing: pip install 'hookwright[mcp]'"
            known = f"no server `{server}` in .mcp.json; only a run with --mcp-config can have it"
            return None if server in _servers(loaded.project_dir) else known
        case CommandHandler():
            missing = missing_program(handler, loaded)
            if missing is not None:
                return f"`{missing}` is not on PATH"
            used = next(missing_in_script(handler, loaded), None)
            return None if used is None else f"it uses `{used}`, which is not on PATH"
        case _:
            return None


def _model_obstacle(loaded: Loaded) -> str | None:
    if not has_key(loaded.host.env):
        return "no API key: set ANTHROPIC_API_KEY (or OPENAI_API_KEY)"
    if not (importable("anthropic") or importable("openai")):
        return "no model client: pip install 'hookwright[anthropic]'"
    return None


def _servers(project: str) -> set[str]:
    try:
        with open(os.path.join(project, ".mcp.json"), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return set()
    servers = found.get("mcpServers") if isinstance(found, dict) else None
    return set(servers) if isinstance(servers, dict) else set()


def missing_program(handler: CommandHandler, loaded: Loaded) -> str | None:
    """Return the program a command starts with if that is a plain word and not on the PATH that hooks get."""
    word: str | None = handler.command
    if handler.args is None:
        try:
            word = next(iter(shlex.split(handler.command)), None)
        except ValueError:
            return None
    if not word or word in _BUILTINS or any(letter in word for letter in "/$`=;&|(){}<>*~"):
        return None
    return word if shutil.which(word, path=base_environment(loaded.host).get("PATH", "")) is None else None


#: Programs that shell hooks often call and that a machine may lack.
_COMMON = ("jq", "git", "curl", "node")
#: A script is read this far.
_HEAD = 100_000


def missing_in_script(handler: CommandHandler, loaded: Loaded) -> Iterator[str]:
    """Yield the common programs that a shell command or its shell script calls, untested, and that are not on PATH."""
    text = handler.command if handler.args is None else ""
    text = "\n".join([text, *_shell_scripts(handler, loaded)])
    path = base_environment(loaded.host).get("PATH", "")
    for name in _COMMON:
        called = re.search(rf"(?:^|[|;&(`{{]|\b(?:if|then|do|else|while|until|!))[ \t]*{name}[ \t]", text, re.MULTILINE)
        tested = re.search(rf"if (?:! )?command -v {name}\b|command -v {name}\b[^|\n]*&&", text)
        if called and not tested and shutil.which(name, path=path) is None:
            yield name


def _shell_scripts(handler: CommandHandler, loaded: Loaded) -> Iterator[str]:
    """Yield the text of every shell script that a command names."""
    known = {"CLAUDE_PROJECT_DIR": loaded.project_dir, "HOME": loaded.surroundings.home}
    if handler.source.root is not None:
        known["CLAUDE_PLUGIN_ROOT"] = handler.source.root
    try:
        words = [handler.command, *handler.args] if handler.args is not None else shlex.split(handler.command)
    except ValueError:
        return
    for word in words:
        if word.startswith("~/"):
            word = "$HOME" + word[1:]
        path = os.path.join(loaded.project_dir, Template(word).safe_substitute(known))
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read(_HEAD)
        except (OSError, ValueError):
            continue
        if re.match(r"#!.*\b(?:ba|da|z|k)?sh\b", text):
            yield text


def unreachable(handler: HttpHandler) -> str | None:
    """Connect to the address of an http hook and send nothing; return why nothing answers, None if something does."""
    address = urlsplit(handler.url)
    try:
        port = address.port or (443 if address.scheme == "https" else 80)
        with socket.create_connection((address.hostname or "", port), _PATIENCE):
            return None
    except (OSError, ValueError) as error:
        return f"nothing answers at {address.hostname}:{address.port or address.scheme}: {error}"


def always_failed(loaded: Loaded) -> Iterator[tuple[Handler, int, str]]:
    """Yield each hook that failed in all of its runs of the last 30 days, with their number and the last error."""
    runs: dict[tuple[str, str], list[Record]] = {}
    wanted = Filter(since=time.time() - 30 * _DAY, kinds=frozenset({"run", "late"}))
    for record in records(loaded.surroundings.state_dir, wanted):
        if record.get("ending") is not None:
            runs.setdefault((str(record.get("source")), str(record.get("handler"))), []).append(record)
    for entry in loaded.hooks:
        known = handler_record(entry.handler)
        found = runs.pop((str(known["source"]), str(known["handler"])), [])
        if len(found) >= _RUNS and all(record["ending"] in ("non-blocking error", "cancelled") for record in found):
            yield entry.handler, len(found), str(found[-1].get("reason") or found[-1].get("error") or "")
