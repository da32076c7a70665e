"""Completion of a prompt: `/command` at its start, `@file` anywhere."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookwright.projects.folders import NOT_SEARCHED
from hookwright.projects.git import git_command

#: Commands of the screen and of the agent, with their descriptions.
COMMANDS: dict[str, str] = {
    "help": "show keys and commands",
    "hooks": "browse, test and trust hooks",
    "clear": "clear the conversation and start over",
    "compact": "summarize the conversation; add text to say what to keep",
    "resume": "resume an earlier conversation",
    "model": "show or switch the model",
    "permissions": "show rules and mode; `/permissions acceptEdits` switches the mode",
    "add-dir": "also work in another directory",
    "theme": "switch between dark and light",
    "exit": "exit",
}

_MOST = 100
_MOST_FILES = 50_000

_FILE = re.compile(r"(?:^|\s)@([^\s@]*)\Z")
_COMMAND = re.compile(r"/([\w:.-]*)\Z")


class Suggestion(msgspec.Struct, frozen=True):
    """One line of the menu, and the text that replaces what is before the cursor."""

    label: str
    detail: str
    text: str


def suggestions(before: str, skills: Mapping[str, str], files: Sequence[str]) -> list[Suggestion]:
    """Return the completions of the text before the cursor."""
    command = _COMMAND.match(before)
    if command is not None:
        known = {**skills, **COMMANDS}
        return [
            Suggestion(f"/{name}", known[name], f"/{name} ")
            for name in ranked(command[1], sorted(known, key=lambda name: (name not in COMMANDS, name)))
        ]
    mention = _FILE.search(before)
    if mention is None:
        return []
    head = before[: mention.start(1)]
    return [Suggestion(f"@{path}", "", f"{head}{path} ") for path in ranked(mention[1], files)]


def ranked(word: str, names: Iterable[str]) -> list[str]:
    """Return the names that match a word, the best match first."""
    if not word:
        return list(names)[:_MOST]
    scored = [(score, place, name) for place, name in enumerate(names) if (score := _score(word, name)) is not None]
    return [name for _, _, name in sorted(scored)[:_MOST]]


def _score(word: str, name: str) -> tuple[int, int] | None:
    """Rank a match: the start of the name, the start of its last part, anywhere, scattered; shorter names first."""
    small, text = word.lower(), name.lower()
    if text.startswith(small):
        return (0, len(name))
    if os.path.basename(text).startswith(small):
        return (1, len(name))
    if small in text:
        return (2, len(name))
    place = -1
    for letter in small:
        place = text.find(letter, place + 1)
        if place < 0:
            return None
    return (3, len(name))


def project_files(cwd: str) -> list[str]:
    """Return the files of a project: those git tracks or would add, else all of them."""
    argv = git_command(cwd, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    try:
        done = subprocess.run(argv, capture_output=True, timeout=10, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return _walked(cwd)
    if done.returncode != 0:
        return _walked(cwd)
    names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return sorted({name for name in names if name and _printable(name)})[:_MOST_FILES]


def _walked(cwd: str) -> list[str]:
    found: list[str] = []
    for folder, folders, names in os.walk(cwd):
        folders[:] = sorted(name for name in folders if name not in NOT_SEARCHED)
        found += [os.path.relpath(os.path.join(folder, name), cwd) for name in sorted(names) if _printable(name)]
        if len(found) >= _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _printable(name: str) -> bool:
    """Return whether a name can be mentioned: without spaces and control characters."""
    return name.isprintable() and " " not in name
