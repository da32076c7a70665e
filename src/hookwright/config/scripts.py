"""Which files a command runs, as far as its text shows: the scripts that trust is bound to.

Found: files named on the command line (command words, arguments, `cd` targets, globs), and one level deeper the files
next to them that they source, run, import or require. Not found: programs on PATH, names computed at run time, files
another file reads as data. A name that does not exist yet is also found, so that its appearance is noticed.
"""

from __future__ import annotations

import ast
import glob
import os
import re
import warnings
from collections.abc import Iterable, Iterator

import msgspec

from hookwright.config.files import is_inside, read_bytes
from hookwright.protocol.handlers import CommandHandler, Handler

#: More files than a user can review.
MAX_FILES = 256
#: A longer script is bound as a whole, but not searched for what it runs.
_MAX_SEARCHED = 256 * 1024

_PROJECT, _PLUGIN, _HOME = "\ue000", "\ue001", "\ue002"
_STAND_INS = (
    (re.compile(r"\$\{(?:env:)?CLAUDE_PROJECT_DIR(?::[-=][^}]{0,200})?\}|\$(?:env:)?CLAUDE_PROJECT_DIR\b"), _PROJECT),
    (re.compile(r"\$\( ?git rev-parse --show-toplevel[^)]{0,80}\)"), _PROJECT),
    (re.compile(r"` ?git rev-parse --show-toplevel[^`]{0,80}`"), _PROJECT),
    (re.compile(r"\$\{(?:env:)?CLAUDE_PLUGIN_ROOT\}|\$(?:env:)?CLAUDE_PLUGIN_ROOT\b"), _PLUGIN),
    (re.compile(r"\$\{HOME\}|\$HOME\b|(?<![^\s=:\"'])~(?=/)"), _HOME),
    (re.compile(r"\$\{PWD\}|\$PWD\b|\$\( ?pwd ?\)"), "."),
)
_TOKEN = re.compile(
    r"""(?P<word>(?:"(?:[^"\\]|\\.)*"|'[^']*'|\$\([^()]{0,999}\)|\$\{[^}]{0,99}\}|`[^`]*`|\\.|[^\s;&|()<>"'`\\])+)
      |(?P<redirect>\d*(?:>>|>\||&>>|&>|>&|>))|(?P<split>[;&|()<\n]|"|'|`|\\)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"(?:^|(?<=[\s;]))#[^\n]*")
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPTION = re.compile(r"-.*|[\d.]+[smhd]?", re.DOTALL)
_EXPANSIONS = re.compile(r"(?:\$\([^()]*\)|\$\{[^}]*\}|\$\w+|`[^`]*`)+/?")
_INTERPRETER = re.compile(
    r"(?:ba|z|da|k)?sh|python[\d.]*|node|deno|bun|tsx|ts-node|ruby|perl|php|lua|pwsh|powershell|source|\.|run"
)
_CODE = re.compile(r"\.(?:sh|bash|zsh|py|pyz|[cm]?[jt]sx?|rb|pl|php|lua|ps1|jq|awk|sed|json|ya?ml|toml|exe|wasm)$")
_DATA = re.compile(r"\.(?:log|txt|jsonl|csv|out|tmp|lock|pid|db|sqlite3?|md)$")
_WRITERS = frozenset({"tee", "touch", "rm", "mkdir", "echo", "printf", "cat"})
_LOOPS = frozenset({"for", "run-parts"})
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{"})
_WRAPPERS = frozenset({"exec", "command", "env", "sudo", "time", "timeout", "nice", "nohup", "stdbuf", "xargs"})
_RUNNERS = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json",)),
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
}
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib", "/opt/", "/nix/", "/etc/", "/dev/", "/proc/", "/sys/")
_JS_PATH = re.compile(r"""(?:require\s{0,9}\(|from|import\s{0,9}\(?)\s{0,9}['"](\.{1,2}/[^'"\n]+)['"]""")
_JS_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts")


class Reach(msgspec.Struct, frozen=True):
    """The directories the paths of a command may start from."""

    project_dir: str
    start_dir: str
    home: str
    plugin_root: str = ""

    @property
    def bases(self) -> tuple[str, ...]:
        """The directories a relative path may start from; a hook runs in the session's directory."""
        return tuple(dict.fromkeys((self.project_dir, self.start_dir)))


class TooManyFiles(Exception):
    """A command that names more files than a user can review."""


def named_files(handler: Handler, reach: Reach) -> tuple[str, ...]:
    """Return the absolute paths a handler's outcome depends on, existing or not, in a stable order."""
    if not isinstance(handler, CommandHandler):
        return ()
    found = dict.fromkeys(_of_command(handler, reach))
    for path in tuple(found):
        found.update(dict.fromkeys(_of_script(path, reach)))
        if len(found) > MAX_FILES:
            raise TooManyFiles
    return tuple(found)


def _of_command(handler: CommandHandler, reach: Reach) -> Iterator[str]:
    if handler.args is not None:
        words = [_stand_in(word) for word in (handler.command, *handler.args)]
        yield from _of_words(words, reach, reach.bases)
        return
    bases = list(reach.bases)
    for words in _simple_commands(_stand_in(handler.command)):
        if words[0] == "cd" and len(words) > 1:
            bases += [os.path.normpath(os.path.join(base, _expand(words[1], reach))) for base in reach.bases]
        yield from _of_words(words, reach, tuple(bases))


def _stand_in(text: str) -> str:
    for pattern, mark in _STAND_INS:
        text = pattern.sub(mark, text)
    return text


def _expand(word: str, reach: Reach) -> str:
    word = word.replace(_PROJECT, reach.project_dir).replace(_PLUGIN, reach.plugin_root)
    return word.replace(_HOME, reach.home)


def _simple_commands(text: str, depth: int = 0) -> Iterator[list[str]]:
    """Split shell text into lists of words, without redirect targets; commands in quotes and $() follow."""
    words: list[str] = []
    skip = False
    inner: list[str] = []
    for match in _TOKEN.finditer(_COMMENT.sub("", text)):
        if match["redirect"]:
            skip = True
        elif match["split"]:
            skip = False
            if words:
                yield words
            words = []
        elif skip:
            skip = False
        else:
            raw = match["word"]
            inner += [first or second for first, second in _INNER.findall(raw)]
            word = re.sub(r"[\"']", "", raw)
            if re.search(r"\s", word) and not _INNER.search(raw):
                inner.append(word)
            words.append(word)
    if words:
        yield words
    if depth < 3:
        for part in inner:
            yield from _simple_commands(part, depth + 1)


def _command_position(words: list[str]) -> int:
    """Return the word that is run: after keywords, assignments, and wrappers with their options."""
    wrapped = False
    for index, word in enumerate(words):
        if word in _WRAPPERS:
            wrapped = True
        elif word not in _KEYWORDS and not _ASSIGNMENT.match(word) and not (wrapped and _OPTION.fullmatch(word)):
            return index
    return 0


def _of_words(words: list[str], reach: Reach, bases: tuple[str, ...]) -> Iterator[str]:
    """Return the files that one command names."""
    first = _command_position(words)
    program = os.path.basename(words[first])
    for word in words[:first]:
        if _ASSIGNMENT.match(word):
            yield from _of_word(word, reach, bases, run=False)
    if any(mark in words[first] for mark in ("/", _PROJECT, _PLUGIN, _HOME)):
        yield from _of_word(words[first], reach, bases, run=True)
    if program not in _WRITERS:
        yield from _of_arguments(program, words[first + 1 :], reach, bases)
    for base in bases:
        yield from (path for name in _RUNNERS.get(program, ()) if os.path.exists(path := os.path.join(base, name)))


def _of_arguments(program: str, words: list[str], reach: Reach, bases: tuple[str, ...]) -> Iterator[str]:
    # An interpreter runs its first argument that is not an option; a loop may run any of its items.
    runs = _INTERPRETER.fullmatch(program) is not None
    before = ""
    for word in words:
        if before == "-m" and program.startswith("python"):
            yield from (path for base in bases for path in _modules(base, word))
        else:
            yield from _of_word(word, reach, bases, run=runs or (program in _LOOPS and "/" in word))
        runs = runs and word.startswith("-")
        before = word


def _of_word(word: str, reach: Reach, bases: tuple[str, ...], *, run: bool) -> Iterator[str]:
    """Return the files one word may mean; files that are run are included even if they do not exist."""
    word = re.sub(r"^(?:--?[\w-]+|[A-Za-z_]\w*)=", "", word)
    if not word or word.startswith("-") or len(word) > 1024 or "\0" in word:
        return
    anchored = any(mark in word for mark in (_PROJECT, _PLUGIN, _HOME))
    path = _expand(word, reach)
    if "$" in path or "`" in path:
        path = _EXPANSIONS.sub("", path, count=1)
        if not path or "$" in path or "`" in path:
            return
    if not run and _DATA.search(path):
        return
    places = [path] if os.path.isabs(path) else [os.path.join(base, path) for base in bases]
    for place in map(os.path.normpath, places):
        if place.startswith(_SYSTEM) and not anchored and not is_inside(place, reach.project_dir):
            continue
        if re.search(r"[*?\[]", path):
            if run and not re.search(r"[*?\[]", os.path.dirname(place)):
                yield from sorted(glob.glob(place))[: MAX_FILES + 1]
                yield os.path.dirname(place)
        elif os.path.lexists(place):
            if not os.path.isdir(place):
                yield place
        elif not re.search(r"[\s;|&]", path) and (run or _CODE.search(path) or (anchored and "/" in path)):
            yield place


def _of_script(path: str, reach: Reach) -> Iterator[str]:
    """Return the files next to a script that it sources, runs, imports or requires."""
    try:
        text = read_bytes(path, _MAX_SEARCHED).decode("utf-8", errors="replace")
    except OSError:
        return
    # Python searches next to the real file, a shell script next to the name it was called by.
    directories = dict.fromkeys((os.path.dirname(path), os.path.dirname(os.path.realpath(path))))
    shebang = text.split("\n", 1)[0] if text.startswith("#!") else ""
    for directory in directories:
        if path.endswith(".py") or "python" in shebang:
            yield from _python_imports(text, directory)
        elif re.search(r"\.[cm]?[jt]sx?$", path) or re.search(r"node|deno|bun", shebang):
            for name in _JS_PATH.findall(text):
                yield from _first_existing(os.path.normpath(os.path.join(directory, name)), _JS_ENDINGS)
        elif re.search(r"\.(?:ba|z)?sh$", path) or "sh" in shebang:
            yield from _shell_calls(text, directory, reach)


def _shell_calls(text: str, directory: str, reach: Reach) -> Iterator[str]:
    bases = tuple(dict.fromkeys((directory, *reach.bases)))
    for words in _simple_commands(_stand_in(text)):
        first = _command_position(words)
        rest = [word for word in words[first + 1 :] if not word.startswith("-")]
        if _INTERPRETER.fullmatch(os.path.basename(words[first])) and rest:
            yield from _of_word(rest[0], reach, bases, run=True)
        elif "/" in words[first]:
            yield from _of_word(words[first], reach, bases, run=True)


def _python_imports(text: str, directory: str) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about an escape in a script is not ours to report
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(directory, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = directory
            for _ in range(1, node.level):
                base = os.path.dirname(base)
            if node.module:
                yield from _modules(base, node.module)
            package = os.path.join(base, *(node.module or "").split("."))
            for alias in node.names:
                yield from _first_existing(os.path.join(package, alias.name), (".py", "/__init__.py"))


def _modules(base: str, name: str) -> Iterator[str]:
    """Return the files a module name may mean, absent ones included, because one may appear later."""
    parts = name.split(".")
    top = os.path.join(base, parts[0])
    yield from (f"{top}.py", f"{top}/__init__.py")
    for length in range(2, len(parts) + 1):
        yield from _first_existing(os.path.join(base, *parts[:length]), (".py", "/__init__.py"))
    yield from _first_existing(os.path.join(base, *parts), ("/__main__.py",))


def _first_existing(stem: str, endings: Iterable[str]) -> Iterator[str]:
    for ending in endings:
        if os.path.isfile(stem + ending):
            yield stem + ending
            return
