"""What a command handler starts: its scripts, with their interpreters, and the programs that can be read."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from hookwright.config.files import read_bytes
from hookwright.config.scripts import Reach
from hookwright.errors import MissingExtra
from hookwright.lint.programs.blocks import Point, points
from hookwright.lint.programs.ir import (
    Asks,
    Branch,
    Call,
    CodePlace,
    Language,
    Leave,
    Program,
    Stmt,
    Text,
    TooLong,
    text,
)
from hookwright.lint.programs.javascript.reader import read_javascript
from hookwright.lint.programs.python.reader import read_python
from hookwright.lint.programs.shell.children import language_of
from hookwright.lint.programs.shell.reader import read_shell
from hookwright.protocol.handlers import CommandHandler, Handler

#: A longer script is not read; it was not written by hand.
_MAX_READ = 256 * 1024

_INTERPRETERS = re.compile(
    r"(?:ba|da|z|k)?sh|python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|ruby|perl|php|tsx|ts-node|pwsh"
)
_SHELLS = re.compile(r"(?:ba|da|z|k)?sh")
_RUNNERS = {"uv": "run", "poetry": "run", "pipenv": "run", "bun": "run", "deno": "run", "pdm": "run", "rye": "run"}
_WITH_VALUE = frozenset(
    ["-W", "-X", "-r", "--require", "--import", "--loader", "--with", "--python", "-p", "--project"]
)
_CODE_OPTIONS = frozenset(["-c", "-e", "-m", "--eval", "-p", "--print", "-s", "-"])
_CODE = re.compile(r"\.(?:sh|bash|zsh|py|[cm]?[jt]s|tsx|rb|pl|php|ps1)$")
#: Why a script is not read, by its interpreter or the ending of its name.
_LANGUAGES = {
    "pwsh": "PowerShell is not read",
    ".ps1": "PowerShell is not read",
    ".ts": "TypeScript is not read",
    ".tsx": "TypeScript is not read",
    ".mts": "TypeScript is not read",
}
_TOO_LONG = "it is too long or too deeply nested"
_NO_PARSER = "its language needs pip install 'hookwright[lint]'"
_BY_ENDING = {
    ".sh": Language.SHELL,
    ".bash": Language.SHELL,
    ".py": Language.PYTHON,
    ".js": Language.JAVASCRIPT,
    ".mjs": Language.JAVASCRIPT,
    ".cjs": Language.JAVASCRIPT,
}


class HookScript(msgspec.Struct, frozen=True, eq=False):
    """A file run by a command."""

    path: str
    #: The word as it is known after variables, relative or absolute.
    word: str
    #: Empty when the file is started directly.
    interpreter: str
    exists: bool
    call: Call
    #: Its status becomes the status of the hook.
    decides: bool
    #: The command looks whether the file is there before it runs it.
    tested: bool = False
    program: Program | None = None
    #: Why there is no program although the file exists; empty otherwise.
    unread: str = ""
    #: The line after `#!`, without it; None when there is none.
    shebang: str | None = None


class Launch(msgspec.Struct, frozen=True, eq=False):
    """Everything that one command starts."""

    #: The shell text of the command itself; None for the exec form and for PowerShell.
    inline: Program | None = None
    scripts: tuple[HookScript, ...] = ()
    #: Why the text of the command was not read; empty when it was, and for the exec form.
    unread: str = ""

    @property
    def programs(self) -> tuple[Program, ...]:
        """List the programs that could be read."""
        own = (self.inline,) if self.inline is not None else ()
        return (*own, *dict.fromkeys(script.program for script in self.scripts if script.program is not None))

    @property
    def deciding(self) -> tuple[Program, ...]:
        """List the programs whose status is the status of the hook."""
        own = (self.inline,) if self.inline is not None else ()
        return (*own, *(script.program for script in self.scripts if script.decides and script.program is not None))


def launch(handler: Handler, reach: Reach) -> Launch:
    """Read what a handler's command starts."""
    if not isinstance(handler, CommandHandler):
        return Launch()
    known = {"CLAUDE_PROJECT_DIR": reach.project_dir, "HOME": reach.home}
    if reach.plugin_root:
        known["CLAUDE_PLUGIN_ROOT"] = reach.plugin_root
    if handler.args is not None:
        words = tuple(text(_expanded(word, known)) for word in (handler.command, *handler.args))
        call = Call(CodePlace(), words)
        return Launch(None, tuple(_scripts([Point(call)], reach)))
    if handler.shell == "powershell":
        return Launch(unread=_LANGUAGES["pwsh"])
    try:
        inline = read_shell(handler.command, known=known)
    except (TooLong, RecursionError):
        return Launch(unread=_TOO_LONG)
    except MissingExtra:
        return Launch(None, tuple(_scripts(_one_command(handler.command, known), reach)), _NO_PARSER)
    return Launch(inline, tuple(_scripts(list(points(inline.body)), reach)))


def _one_command(command: str, known: Mapping[str, str]) -> list[Point]:
    """Split a command without shell operators into words, where shell text cannot be parsed."""
    if re.search(r"[;&|<>()`\n]", command):
        return []
    for name, value in known.items():
        command = re.sub(rf"\$\{{{name}\}}|\${name}\b", lambda _, value=value: value, command)  # type: ignore[misc]
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    home = known["HOME"]
    return [Point(Call(CodePlace(), tuple(text(home + w[1:] if w.startswith("~/") else w) for w in words)))]


def _expanded(word: str, known: Mapping[str, str]) -> str:
    for name, value in known.items():
        if name != "HOME":
            word = word.replace(f"${{{name}}}", value)
    return word


def _scripts(found: Sequence[Point], reach: Reach) -> Iterator[HookScript]:
    tested = _tested_paths(found)
    for point in found:
        if not isinstance(point.stmt, Call):
            continue
        named = script_word(point.stmt)
        if named is None:
            continue
        interpreter, word = named
        path = os.path.normpath(os.path.join(_base(point, reach), word))
        yield _script(point, interpreter, word, path, path in tested or word in tested)


def _base(point: Point, reach: Reach) -> str:
    """Follow `cd DIR &&` in front of a command."""
    for stmt in reversed(point.before):
        if isinstance(stmt, Call) and stmt.name == "cd" and len(stmt.words) > 1 and stmt.words[1].constant:
            return os.path.join(reach.project_dir, stmt.words[1].constant)
    return reach.project_dir


def _tested_paths(found: Sequence[Point]) -> frozenset[str]:
    paths: set[str] = set()
    for point in found:
        if isinstance(point.stmt, Branch):
            for arm in point.stmt.arms:
                paths.update(p for atom, _ in arm.test.atoms() if atom.kind is Asks.EXISTS for p in atom.patterns)
    return frozenset(paths)


def _script(point: Point, interpreter: str, word: str, path: str, tested: bool) -> HookScript:
    assert isinstance(point.stmt, Call)
    exists = os.path.exists(path)
    first = _first_line(path) if exists else ""
    shebang = first[2:] if first.startswith("#!") else None
    language = _language(interpreter, shebang, path)
    program: Program | str = ""
    if exists:
        program = read_file(path, language) if language is not None else _why_unread(interpreter, shebang, path)
    return HookScript(
        path=path,
        word=word,
        interpreter=interpreter,
        exists=exists,
        call=point.stmt,
        decides=_decides(point),
        tested=tested,
        program=program if isinstance(program, Program) else None,
        unread=program if isinstance(program, str) else "",
        shebang=shebang,
    )


def _decides(point: Point) -> bool:
    """Return whether a call's status is the program's: it is not checked, and nothing follows it."""
    call = point.stmt
    assert isinstance(call, Call)
    return not call.checked and not point.within and not any(map(_matters, point.after))


def _matters(stmt: Stmt) -> bool:
    return not (isinstance(stmt, Leave) and stmt.code is None)


def script_word(call: Call) -> tuple[str, str] | None:
    """Return the script of a call as (interpreter or empty, path as written); None when there is none."""
    if call.shell or not call.program:
        return None
    words = list(call.words)
    while words:
        first = words[0].constant
        if first is None:
            return None
        name = first.rsplit("/", 1)[-1]
        if name in _RUNNERS and len(words) > 1 and words[1].constant == _RUNNERS[name]:
            operand = _operand(words[2:])
            if operand is None:
                return None
            if _INTERPRETERS.fullmatch(operand.rsplit("/", 1)[-1]):
                words = words[[word.constant for word in words].index(operand) :]
                continue
            return (name, operand) if _CODE.search(operand) else None
        if name in ("npx", "bunx") and len(words) > 1:
            words = [word for word in words[1:] if not word.known.startswith("-")] if name == "npx" else words[1:]
            if words and words[0].constant not in ("tsx", "ts-node", "bun", "node"):
                return None
            continue
        if _INTERPRETERS.fullmatch(name):
            operand = _operand(words[1:])
            return (name, operand) if operand is not None else None
        return ("", first) if "/" in first and not first.startswith(("/bin/", "/usr/", "/opt/")) else None
    return None


def _operand(words: Sequence[Text]) -> str | None:
    """Return the first word that is not an option; None when code is given instead of a file."""
    rest = list(words)
    while rest:
        known = rest.pop(0).constant
        if known is None:
            return None
        if known in _CODE_OPTIONS:
            return None
        if known in _WITH_VALUE:
            rest = rest[1:]
        elif not known.startswith("-"):
            return known
    return None


def head(path: str, size: int = 1024) -> bytes:
    """Read the first bytes of a regular file; nothing of anything else, and never wait for a FIFO."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, size) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)


def _first_line(path: str) -> str:
    return head(path, 256).split(b"\n", 1)[0].decode("utf-8", "replace")


def _language(interpreter: str, shebang: str | None, path: str) -> Language | None:
    if interpreter:
        name = "python3" if interpreter in ("uv", "poetry", "pipenv", "pdm", "rye") else interpreter
        return language_of(name) if not path.endswith((".ts", ".tsx")) else None
    if shebang is not None:
        words = [word.rsplit("/", 1)[-1] for word in shebang.split() if not word.startswith("-")]
        name = words[1] if words[:1] == ["env"] and len(words) > 1 else words[0] if words else ""
        return language_of(name.strip()) if not path.endswith((".ts", ".tsx")) else None
    return _BY_ENDING.get(os.path.splitext(path)[1], Language.SHELL)


def _why_unread(interpreter: str, shebang: str | None, path: str) -> str:
    ending = os.path.splitext(path)[1]
    name = interpreter or (shebang or "").split("/")[-1].removeprefix("env ").strip()
    return _LANGUAGES.get(ending) or _LANGUAGES.get(name) or f"programs for {name or 'this interpreter'} are not read"


def read_file(path: str, language: Language) -> Program | str:
    """Read a script; why not, when it is unreadable, too long or binary."""
    try:
        facts = os.stat(path)
        data = read_bytes(path, _MAX_READ)
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    try:
        return _read(path, language, data, facts.st_mtime_ns)
    except MissingExtra:
        return _NO_PARSER


@lru_cache(maxsize=512)
def _read(path: str, language: Language, data: bytes, stamp: int) -> Program | str:  # noqa: ARG001 - part of the key
    if b"\0" in data:
        return "it is not a text file"
    source = data.decode("utf-8", "replace").replace("\r\n", "\n")
    try:
        match language:
            case Language.PYTHON:
                return read_python(source, path)
            case Language.JAVASCRIPT:
                return read_javascript(source, path)
            case Language.SHELL:
                return read_shell(source, path)
    except (TooLong, RecursionError):
        return _TOO_LONG


def is_shell(interpreter: str) -> bool:
    """Return whether an interpreter is a shell."""
    return bool(_SHELLS.fullmatch(interpreter))
