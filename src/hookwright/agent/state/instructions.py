"""CLAUDE.md and rules files: those read at the start, those that apply to a file, each of them once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

import msgspec

from hookwright.agent.state.rule_globs import matching, read_globs
from hookwright.config.files import is_inside
from hookwright.config.frontmatter import read_frontmatter
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.jsontext import Json

#: How deep nested `@path` imports are followed.
MAX_DEPTH = 5
#: A longer file is cut.
MAX_CHARS = 200_000
MANAGED_DIR = "/etc/claude-code"
#: Rules folders with more files than this are read in part.
_MAX_RULES = 1000
#: Files there are windows into the system and the agent itself.
_NEVER = ("/proc", "/sys", "/dev")
#: Instructions that come with the project.
_OF_PROJECT = frozenset({"Project", "Local"})

_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:~?/|\.{1,2}/)?[^\s`@]+)")
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """One file the model reads as instructions, and why."""

    path: str
    #: User, Project, Local or Managed.
    memory_type: str
    #: session_start, include, nested_traversal, path_glob_match or compact.
    load_reason: str
    text: str
    globs: tuple[str, ...] = ()
    parent: str | None = None
    trigger: str | None = None

    @property
    def fields(self) -> dict[str, Json]:
        """The fields of the InstructionsLoaded event."""
        found: dict[str, Json] = {
            "file_path": self.path,
            "memory_type": self.memory_type,
            "load_reason": self.load_reason,
        }
        if self.globs:
            found["globs"] = list(self.globs)
        if self.trigger is not None:
            found["trigger_file_path"] = self.trigger
        if self.parent is not None:
            found["parent_file_path"] = self.parent
        return found


class _Rule(msgspec.Struct, frozen=True):
    """A rules file for some paths only."""

    path: str
    base: str
    memory_type: str
    globs: tuple[str, ...]
    text: str


class Sight(msgspec.Struct, frozen=True):
    """What instruction files may be read from.

    Law: what comes with the project, and what it imports, is read only if it really is in the project, links
    resolved. Nothing is read that a rule denies to `Read`, and nothing in /proc, /sys and /dev.
    """

    project: str
    #: Whether a rule denies reading a path.
    denies: Callable[[str], bool] | None = None

    def refusal(self, path: str, memory_type: str) -> str:
        """Return why a file is not read; empty if it may be."""
        real = os.path.realpath(path)
        if any(is_inside(spelling, folder) for folder in _NEVER for spelling in (path, real)):
            return "it is not an ordinary file"
        if memory_type in _OF_PROJECT and not is_inside(real, self.project):
            return "it is outside the project. Import it in ~/.claude/CLAUDE.md, or copy it into the project"
        if self.denies is not None and (self.denies(path) or self.denies(real)):
            return "a rule denies reading it"
        return ""


class Instructions:
    """Finds the instruction files of one session and returns each of them once."""

    def __init__(self, start_dir: str, root: str, config_dir: str, home: str, sight: Sight | None = None) -> None:
        self._start = start_dir
        self._root = root
        self._config = config_dir
        self._home = home
        self._sight = sight if sight is not None else Sight(root)
        self._refused: dict[str, str] = {}
        self._seen: set[str] = set()
        self._rules: list[_Rule] = []

    def take_notices(self) -> list[Diagnostic]:
        """Return which files were refused since the last call, and why."""
        found, self._refused = self._refused, {}
        return [
            Diagnostic("setting-ignored", f"{path} is not read as instructions: {why}.", None, Severity.WARNING)
            for path, why in found.items()
        ]

    def at_start(self, reason: str = "session_start") -> list[Instruction]:
        """Read what applies everywhere: managed, user, then the project from its root down to the start directory."""
        self._seen.clear()
        self._rules.clear()
        found = [*self._file(os.path.join(MANAGED_DIR, "CLAUDE.md"), "Managed", reason)]
        found += self._file(os.path.join(self._config, "CLAUDE.md"), "User", reason)
        found += self._rule_files(os.path.join(self._config, "rules"), self._start, "User", reason)
        for folder in _between(self._root, self._start):
            found += self._folder(folder, reason)
        return found

    def for_file(self, path: str) -> list[Instruction]:
        """Read what applies to a file: instructions in the folders above it, and rules whose globs match it."""
        path = os.path.normpath(path)
        found: list[Instruction] = []
        if _inside(path, self._start):
            for folder in _between(self._start, os.path.dirname(path))[1:]:
                found += self._folder(folder, "nested_traversal", path)
        waiting = [rule for rule in self._rules if rule.path not in self._seen]
        fits = matching(((rule.globs, rule.base) for rule in waiting), path)
        for rule, fit in zip(waiting, fits, strict=True):
            if fit:
                self._seen.add(rule.path)
                found.append(
                    Instruction(
                        path=rule.path,
                        memory_type=rule.memory_type,
                        load_reason="path_glob_match",
                        text=rule.text,
                        globs=rule.globs,
                        trigger=path,
                    )
                )
        return found

    def _folder(self, folder: str, reason: str, trigger: str | None = None) -> list[Instruction]:
        dot = os.path.join(folder, ".claude")
        found: list[Instruction] = []
        for name, memory_type in (
            (os.path.join(folder, "CLAUDE.md"), "Project"),
            (os.path.join(dot, "CLAUDE.md"), "Project"),
            (os.path.join(folder, "CLAUDE.local.md"), "Local"),
        ):
            found += self._file(name, memory_type, reason, trigger)
        if os.path.realpath(dot) != os.path.realpath(self._config):
            found += self._rule_files(os.path.join(dot, "rules"), folder, "Project", reason, trigger)
        return found

    def _file(self, path: str, memory_type: str, reason: str, trigger: str | None = None) -> list[Instruction]:
        text = self._read(path, memory_type)
        if text is None:
            return []
        self._seen.add(path)
        one = Instruction(path=path, memory_type=memory_type, load_reason=reason, text=text, trigger=trigger)
        return [one, *self._imports(one, 1)]

    def _read(self, path: str, memory_type: str) -> str | None:
        if path in self._seen or not os.path.isfile(path):
            return None
        why = self._sight.refusal(path, memory_type)
        if why:
            self._refused[path] = why
            return None
        return _read(path)

    def _imports(self, parent: Instruction, depth: int) -> list[Instruction]:
        found: list[Instruction] = []
        for path in _imported(parent, self._home) if depth <= MAX_DEPTH else ():
            text = self._read(path, parent.memory_type)
            if text is None:
                continue
            self._seen.add(path)
            one = Instruction(
                path=path, memory_type=parent.memory_type, load_reason="include", text=text, parent=parent.path
            )
            found += [one, *self._imports(one, depth + 1)]
        return found

    def _rule_files(
        self, folder: str, base: str, memory_type: str, reason: str, trigger: str | None = None
    ) -> list[Instruction]:
        found: list[Instruction] = []
        why = self._sight.refusal(folder, memory_type) if os.path.isdir(folder) else ""
        if why:
            self._refused[folder] = why
            return []
        for path in _markdown(folder):
            if self._sight.refusal(path, memory_type):
                continue
            head = read_frontmatter(path)
            globs = read_globs(head.data)
            if globs:
                if all(rule.path != path for rule in self._rules):
                    self._rules.append(_Rule(path, base, memory_type, globs, head.body))
            else:
                found += self._file(path, memory_type, reason, trigger)
        return found


def _between(top: str, bottom: str) -> list[str]:
    """Return the folders from one down to the other, both included; only the lower one if it is not inside."""
    folders = [bottom]
    if not _inside(bottom, top):
        return folders
    while folders[-1] != top:
        folders.append(os.path.dirname(folders[-1]))
    return folders[::-1]


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _read(path: str) -> str | None:
    """Read a text file; return None if it is missing or not text."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, encoding="utf-8") as file:
            return file.read(MAX_CHARS)
    except (OSError, UnicodeDecodeError):
        return None


def _imported(parent: Instruction, home: str) -> Iterator[str]:
    """Yield the files that a text imports by `@path` outside code; paths are relative to the importing file."""
    plain = _CODE.sub(" ", parent.text)
    for found in _IMPORT.finditer(plain):
        name = found[1].rstrip(".,;:!?)")
        if name.startswith("~/"):
            name = home + name[1:]
        yield os.path.normpath(os.path.join(os.path.dirname(parent.path), name))


def _markdown(folder: str) -> list[str]:
    found = []
    for where, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.join(where, name) for name in sorted(names) if name.endswith(".md")]
        if len(found) >= _MAX_RULES:
            break
    return found[:_MAX_RULES]


def as_text(found: list[Instruction]) -> str:
    """Return the instructions as the model reads them, each under its path."""
    return "\n\n".join(f"Contents of {one.path}:\n\n{one.text.strip()}" for one in found)
