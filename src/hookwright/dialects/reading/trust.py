"""What an agent itself has noted about trust in hooks and folders, where it keeps that in a file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import msgspec

from hookwright.config.locations import Surroundings
from hookwright.dialects.model import Dialect, FileScope
from hookwright.dialects.reading.model import ForeignHook, Problem, Trouble
from hookwright.dialects.reading.tree import Content, Unread, read_content
from hookwright.protocol.jsontext import Json

#: The folder below the home directory with `trustedFolders.json`.
_FOLDERS = {"gemini": ".gemini", "qwen": ".qwen"}


class TrustNotes(msgspec.Struct, frozen=True):
    """What the files of one agent say about trust."""

    dialect: Dialect
    #: Codex: place of a handler → whether a hash is noted.
    handlers: Mapping[str, bool]
    #: Folder → the agent's word for it.
    folders: Mapping[str, str]
    #: The file of the notes, if it is there and cannot be read.
    problems: tuple[Problem, ...] = ()

    def of(self, hook: ForeignHook, project: str) -> str:
        """Return what is known about a hook; empty if the agent keeps no note of it.

        Law: a note is reported as the agent's own; whether its hash still fits is not computed here, and says so.
        """
        if self.dialect.name == "codex":
            return self._codex(hook, project)
        if self.dialect.name in _FOLDERS:
            return self._folder(project)
        return ""

    def _codex(self, hook: ForeignHook, project: str) -> str:
        known = self.handlers.get(_codex_key(hook))
        noted = {
            True: "approved in Codex (hash not compared)",
            False: "switched off in Codex",
            None: "not approved in Codex: skipped without a word",
        }
        word = self.folders.get(project)
        if hook.declared.scope is FileScope.PROJECT and word != "trusted":
            return f"the project is {word or 'not trusted'} in Codex: its file is not read"
        return noted[known]

    def _folder(self, project: str) -> str:
        own = self.folders.get(project)
        above = [word for folder, word in self.folders.items() if _trusts(folder, word, project)]
        if own == "DO_NOT_TRUST":
            return f"the folder is not trusted in {self.dialect.title}: no hook runs, if folder trust is on"
        if above:
            return f"the folder is trusted in {self.dialect.title}"
        return f"the folder is not noted in {self.dialect.title}: no hook runs, if folder trust is on"


def _trusts(folder: str, word: str, project: str) -> bool:
    root = os.path.dirname(folder) if word == "TRUST_PARENT" else folder
    return word in ("TRUST_FOLDER", "TRUST_PARENT") and (project == root or project.startswith(root.rstrip("/") + "/"))


def _codex_key(hook: ForeignHook) -> str:
    event = re.sub(r"(?<!^)(?=[A-Z])", "_", hook.event).lower()
    numbers = [str(step) for step in hook.at if isinstance(step, int)]
    return ":".join((hook.path, event, *numbers))


def read_trust(dialect: Dialect, around: Surroundings) -> TrustNotes:
    """Read an agent's notes; an absent file notes nothing, and one that cannot be read is a problem."""
    if dialect.name == "codex":
        home = around.env.get("CODEX_HOME") or os.path.join(around.home, ".codex")
        # It is one of Codex's own files: what is wrong with it is reported with those.
        value, _ = _value(os.path.join(home, "config.toml"))
        handlers = {
            key: entry.get("enabled") is not False and bool(entry.get("trusted_hash"))
            for key, entry in _table(_table(value.get("hooks")).get("state")).items()
            if isinstance(entry, dict)
        }
        folders = {
            key: str(entry.get("trust_level"))
            for key, entry in _table(value.get("projects")).items()
            if isinstance(entry, dict)
        }
        return TrustNotes(dialect, handlers, folders)
    if dialect.name not in _FOLDERS:
        return TrustNotes(dialect, {}, {})
    notes, problems = _value(os.path.join(around.home, _FOLDERS[dialect.name], "trustedFolders.json"))
    return TrustNotes(dialect, {}, {key: word for key, word in notes.items() if isinstance(word, str)}, problems)


def _table(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _value(path: str) -> tuple[dict[str, Json], tuple[Problem, ...]]:
    content = read_content(path, comments=True)
    if isinstance(content, Unread):
        return {}, (Problem(Trouble.UNREADABLE, path, content.why, content.line, content.column),)
    return (_table(content.value) if isinstance(content, Content) else {}), ()
