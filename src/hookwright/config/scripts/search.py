"""What a search for the files of a command collects: files with their roles, folders of modules, and what it missed."""

from __future__ import annotations

import enum
import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from hookwright.config.files import is_inside

#: More files than a user can review.
MAX_FILES = 512
#: A longer path cannot be opened.
_MAX_PATH = 4096
_MAX_NOTES = 20

#: Marks for what stands at the start of a path, so that no expansion is mistaken for text.
PROJECT, PLUGIN, HOME = "\ue000", "\ue001", "\ue002"
_STAND_INS = (
    (re.compile(r"\$\{(?:env:)?CLAUDE_PROJECT_DIR(?::[-=][^}]{0,200})?\}|\$(?:env:)?CLAUDE_PROJECT_DIR\b"), PROJECT),
    (re.compile(r"\$\( ?git rev-parse --show-toplevel[^)]{0,80}\)"), PROJECT),
    (re.compile(r"` ?git rev-parse --show-toplevel[^`]{0,80}`"), PROJECT),
    (re.compile(r"\$\{(?:env:)?CLAUDE_PLUGIN_ROOT\}|\$(?:env:)?CLAUDE_PLUGIN_ROOT\b"), PLUGIN),
    (re.compile(r"\$\{HOME\}|\$HOME\b|(?<![^\s=:\"'])~(?=/)"), HOME),
    (re.compile(r"\$\{PWD\}|\$PWD\b|\$\( ?pwd ?\)"), "."),
)
MARKS = (PROJECT, PLUGIN, HOME)
_EXPANSIONS = re.compile(r"(?:\$\([^()]*\)|\$\{[^}]*\}|\$\w+|\$[@*#?!-]|`[^`]*`)+/?")
_CODE = re.compile(r"\.(?:sh|bash|zsh|py|pyz|[cm]?[jt]sx?|rb|pl|php|lua|ps1|jq|awk|sed|json|ya?ml|toml|exe|wasm)$")
_DATA = re.compile(r"\.(?:log|txt|jsonl|csv|out|tmp|lock|pid|db|sqlite3?|md)$")
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/", "/etc/", "/dev/", "/proc/", "/sys/")
_GLOB = re.compile(r"[*?\[]")


class Reach(msgspec.Struct, frozen=True):
    """The directories the paths of a command may start from."""

    project_dir: str
    start_dir: str
    home: str
    plugin_root: str = ""
    #: The topmost folder of other people's files: the repository, else the project; empty in the user's own folders.
    root: str = ""

    @property
    def bases(self) -> tuple[str, ...]:
        """The directories a relative path may start from; a hook runs in the session's directory."""
        return tuple(dict.fromkeys((self.project_dir, self.start_dir)))


class ScriptRole(enum.IntEnum):
    """What a command does with a file, as far as its text shows."""

    NAMED = 1
    #: A module that Python finds because the working directory is on its path.
    MODULE = 2
    RUN = 3


class TooManyFiles(Exception):
    """A command that names more files than a user can review."""


class ScriptPlace(msgspec.Struct, frozen=True):
    """Where a text is read: what its relative paths start from, and whether its plain arguments matter."""

    reach: Reach
    bases: tuple[str, ...]
    #: Variables with a literal value.
    variables: tuple[tuple[str, str], ...] = ()
    #: Whether files that are named without being run belong to the result, as on a hook's own command line.
    arguments: bool = False
    #: Whether a shell runs what the commands of this text print.
    fed: bool = False
    depth: int = 0

    def at(self, *folders: str) -> ScriptPlace:
        """Return the place after a change of directory, which may or may not happen."""
        return msgspec.structs.replace(self, bases=tuple(dict.fromkeys((*self.bases, *folders))))


class FoundScript(msgspec.Struct, frozen=True):
    """A file whose own text is searched next."""

    path: str
    #: sh, python, node, make, package or empty for what its name and first line tell.
    language: str
    #: The folders Python imports from.
    roots: tuple[str, ...] = ()


class ScriptSearch:
    """The result so far, and the scripts that are still to be read."""

    def __init__(self) -> None:
        self.files: dict[str, ScriptRole] = {}
        #: Folder → names of modules that are imported from it; None for every name.
        self.modules: dict[str, set[str] | None] = {}
        self.notes: dict[str, None] = {}
        self.scripts: list[FoundScript] = []
        #: Whether Python runs text or a module by name, with the working directory on its path.
        self.inline_python = False
        #: The folders of Python scripts that are run by path.
        self.python_folders: dict[str, None] = {}
        #: What is found in a script has at most the role of the script.
        self.ceiling = ScriptRole.RUN
        self._listings: dict[str, dict[str, list[str]]] = {}

    def add(self, path: str, role: ScriptRole, language: str = "", roots: tuple[str, ...] = ()) -> None:
        """Add a file, existing or not; one that is run is searched itself."""
        role = min(role, self.ceiling)
        self.files[path] = max(role, self.files.get(path, role))
        if len(self.files) > MAX_FILES:
            raise TooManyFiles
        script = FoundScript(path, language, roots)
        if role is not ScriptRole.NAMED and script not in self.scripts:
            self.scripts.append(script)

    def found(self, folder: str, name: str, read: Callable[[str], dict[str, list[str]]]) -> list[str]:
        """Return the files of one module in a folder, which is read once."""
        if folder not in self._listings:
            self._listings[folder] = read(folder)
        return self._listings[folder].get(name, [])

    def note(self, text: str) -> None:
        """Add something that is run and not bound."""
        if len(self.notes) < _MAX_NOTES:
            self.notes[text] = None

    def wants(self, folder: str, names: Iterable[str] | None) -> None:
        """Add modules that are looked for in a folder; None for any."""
        known = self.modules.setdefault(folder, set())
        if names is None:
            self.modules[folder] = None
        elif known is not None:
            known.update(names)


def stand_in(text: str) -> str:
    """Replace the spellings of well-known directories by marks."""
    for pattern, mark in _STAND_INS:
        text = pattern.sub(mark, text)
    return text


def expand(word: str, place: ScriptPlace) -> str:
    """Return a word with marks and known variables replaced."""
    for name, value in place.variables:
        word = word.replace(f"${{{name}}}", value)
        word = re.sub(rf"\${name}\b", lambda _, value=value: value, word)  # type: ignore[misc]
    word = word.replace(PROJECT, place.reach.project_dir).replace(PLUGIN, place.reach.plugin_root)
    return word.replace(HOME, place.reach.home)


def places_of(word: str, place: ScriptPlace) -> tuple[str, list[str]]:
    """Return a word as a path, and the absolute paths it may mean; none for what is computed."""
    word = re.sub(r"^(?:--?[\w-]+|[A-Za-z_]\w*)=", "", word)
    path = expand(word, place)
    if "$" in path or "`" in path:
        path = _EXPANSIONS.sub("", path, count=1)
        if "$" in path or "`" in path:
            return "", []
    if not path or path.startswith("-") or len(path) > _MAX_PATH or "\0" in path:
        return "", []
    found = [path] if os.path.isabs(path) else [os.path.join(base, path) for base in place.bases]
    own = any(mark in word for mark in MARKS)
    return path, [
        spot
        for spot in map(os.path.normpath, found)
        if own or not is_system(spot) or is_inside(spot, place.reach.project_dir)
    ]


def is_system(path: str) -> bool:
    """Return whether a path belongs to the system, whose programs are not bound."""
    return path.startswith(_SYSTEM)


def is_glob(path: str) -> bool:
    """Return whether a path is a pattern."""
    return _GLOB.search(path) is not None


def looks_like_code(path: str) -> bool:
    """Return whether a name is that of something that is run or configures what is run."""
    return _CODE.search(path) is not None


def looks_like_data(path: str) -> bool:
    """Return whether a name is that of something that programs write."""
    return _DATA.search(path) is not None


# ── what words mean ──────────────────────────────────────────────────────────

#: Instead of a language: a program that runs every file of a folder.
ALL = "*"


def mentioned_files(text: str, folders: Sequence[str]) -> Iterator[str]:
    """Return the existing code files that the text of any language names, below the given folders."""
    tokens = dict.fromkeys(re.findall(r"[\w.~+@-]*(?:/[\w.+@-]+)+|[\w+@-]+\.[a-z]{1,4}\b", text)[:5000])
    for token in tokens:
        spellings = (token, token.lstrip("/")) if token.startswith("/") else (token,)
        for path in (os.path.normpath(os.path.join(folder, name)) for name in spellings for folder in folders):
            if not is_system(path) and os.path.isfile(path) and is_code(path):
                yield path


def is_code(path: str) -> bool:
    """Return whether an existing file is run rather than read: by its ending, its mode or its first line."""
    if re.search(r"\.(?:json|ya?ml|toml)$", path) or looks_like_data(path):
        return False
    if looks_like_code(path):
        return True
    try:
        if os.stat(path).st_mode & 0o111:
            return True
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def add_run(word: str, place: ScriptPlace, search: ScriptSearch, language: str = "") -> None:
    """Add what a word in the position of a program or script means, also if it does not exist."""
    path, spots = places_of(word, place)
    if (not spots and ("$" in word or "`" in word)) or re.search(r"\{.*,.*\}", word):
        search.note(f"{word[:80]} is computed at run time")
    if not spots:
        return
    for spot in spots:
        if is_glob(path):
            if not is_glob(os.path.dirname(spot)):
                for found in sorted(glob.glob(spot))[: MAX_FILES + 1]:
                    search.add(found, ScriptRole.RUN, "" if language == ALL else language)
                search.add(os.path.dirname(spot), ScriptRole.NAMED)
        elif os.path.isdir(spot):
            add_folder(spot, language, search)
        elif os.path.lexists(spot) or not re.search(r"[\s;|&]", path):
            kind = "" if language == ALL else language
            search.add(spot, ScriptRole.RUN, kind, (os.path.dirname(os.path.realpath(spot)),))
            if language == "python" and os.path.lexists(spot):
                search.python_folders[os.path.dirname(os.path.realpath(spot))] = None


def add_existing(word: str, place: ScriptPlace, search: ScriptSearch, language: str) -> None:
    """Add an existing file that a word means, as run in a language."""
    for spot in places_of(word, place)[1]:
        if os.path.isfile(spot):
            search.add(spot, ScriptRole.RUN, language, (os.path.dirname(os.path.realpath(spot)),))


def add_code(word: str, place: ScriptPlace, search: ScriptSearch) -> None:
    """Add an existing file that a word means, if it is code."""
    for spot in places_of(word, place)[1]:
        if os.path.isfile(spot) and is_code(spot):
            search.add(spot, ScriptRole.RUN)


def add_folder(folder: str, language: str, search: ScriptSearch) -> None:
    """Add a folder that is run as a program: what its language starts with, or every file in it."""
    if language == "python":
        search.wants(folder, ("__main__",))
        search.add(os.path.join(folder, "__main__.py"), ScriptRole.RUN, "python", (folder,))
    elif language == "node":
        for name in ("package.json", "index.js", "index.json", "index.node"):
            search.add(os.path.join(folder, name), ScriptRole.RUN, "package" if name == "package.json" else "node")
    elif language == ALL:
        for where, folders, names in os.walk(folder):
            folders.sort()
            search.add(where, ScriptRole.NAMED)
            for name in sorted(names):
                search.add(os.path.join(where, name), ScriptRole.RUN)


def add_named(word: str, place: ScriptPlace, search: ScriptSearch) -> None:
    """Add a file that an argument names: an existing one, or a name that is that of code."""
    path, spots = places_of(word, place)
    if looks_like_data(path) or is_glob(path):
        return
    own = any(mark in word for mark in MARKS) and "/" in path
    for spot in spots:
        if os.path.lexists(spot):
            if not os.path.isdir(spot):
                search.add(spot, ScriptRole.RUN if is_inside_bin(spot) else ScriptRole.NAMED)
        elif not re.search(r"[\s;|&]", path) and (looks_like_code(path) or own):
            search.add(spot, ScriptRole.NAMED)


def is_inside_bin(path: str) -> bool:
    """Return whether a file named as an argument is probably run: it may be executed and starts with `#!`."""
    return is_code(path) and not looks_like_code(path)
