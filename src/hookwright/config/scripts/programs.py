"""What one command runs: its program, the script an interpreter reads, the files a task runner is configured by."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence

from hookwright.config.scripts.javascript import search_javascript
from hookwright.config.scripts.pythoncode import search_python, wants_module
from hookwright.config.scripts.search import (
    MARKS,
    MAX_FILES,
    Place,
    Role,
    Search,
    expand,
    is_glob,
    is_system,
    looks_like_code,
    looks_like_data,
    places_of,
)

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=")
_OPTION = re.compile(r"-.*|[\d.]+[smhd]?", re.DOTALL)
_SHELL = re.compile(r"(?:ba|z|da|k|a)?sh|source|\.")
_PYTHON = re.compile(r"python[\d.]*|pypy[\d.]*")
_NODE = re.compile(r"node|nodejs|deno|bun|tsx|ts-node")
_OTHER = re.compile(r"ruby|perl|php|lua[\d.]*|pwsh|powershell|Rscript|osascript|run|include|-include|sinclude")
#: Options without a value: what follows them is the script or another option.
_PLAIN = {
    "sh": re.compile(r"[-+](?![oO])[abefhiklmnprtuvxBCDEHPTs]+|--(?:posix|login|norc|noprofile|restricted|verbose)"),
    "python": re.compile(r"-[bBdEhiIOPqRsSuvVx?]+"),
}
_INLINE = {
    "sh": re.compile(r"-[a-zA-Z]*c"),
    "python": re.compile(r"-[bBdEhiIOPqRsSuvVx]*c"),
    "node": re.compile(r"-e|-p|-pe|--eval|--print|eval"),
    "": re.compile(r"-e|-E|-r|-c|-Command"),
}
_DIRECTORY_OPTIONS = re.compile(r"(?:-C|--chdir|--directory|--prefix|--cwd|--dir|-d)(?:=(.*))?", re.DOTALL)
_WRITERS = frozenset({"tee", "touch", "rm", "mkdir", "echo", "printf", "cat"})
_LOOPS = frozenset({"for", "select"})
_KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "case", "in", "coproc"})
_WRAPPERS = frozenset(
    "exec command builtin env sudo doas time timeout nice ionice nohup stdbuf setsid xargs watch unbuffer".split()  # noqa: SIM905
)
_WRAPPER_VALUES = frozenset({"-C", "-u", "-n", "-k", "-s", "-I", "-L", "-P", "-d", "-a", "-i", "-o", "-e", "--chdir"})
#: The files that task runners and tools take commands, plug-ins or settings with code from.
_NPM = ("package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", "bunfig.toml")
RUNNERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun", "npx", "pnpx", "bunx", "corepack"), _NPM),
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"),
    "rake": ("rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"),
    "bundle": ("Gemfile", ".bundle/config"),
    "composer": ("composer.json",),
    "cargo": ("Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"),
    "gradle": ("build.gradle", "build.gradle.kts", "settings.gradle"),
    "mvn": ("pom.xml", ".mvn/extensions.xml"),
    "nox": ("noxfile.py",),
    "tox": ("tox.ini", "setup.cfg", "pyproject.toml"),
    "pytest": ("conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg"),
    "invoke": ("tasks.py",),
    "doit": ("dodo.py",),
    "pre-commit": (".pre-commit-config.yaml",),
    "lefthook": ("lefthook.yml", ".lefthook.yml"),
    "eslint": ("eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", ".eslintrc.js", ".eslintrc.cjs"),
    "prettier": (".prettierrc.js", ".prettierrc.cjs", ".prettierrc.mjs", "prettier.config.js", "prettier.config.mjs"),
}
#: Runners that stop at the first of their files; the others read all of them.
_FIRST = frozenset({"make", "gmake", "just", "task", "rake"})
_EXEC_NODE = frozenset({"npx", "pnpx", "bunx", "pnpm", "yarn", "npm"})
#: In the place of a language: a program that runs every file of a folder.
ALL = "*"
_PREPROCESSORS = frozenset({"poetry", "uv", "pipenv", "hatch", "pdm", "direnv"})


def language_of(program: str) -> str | None:
    """Return the language of an interpreter: sh, python, node, empty for another one; None for other programs."""
    for pattern, language in ((_SHELL, "sh"), (_PYTHON, "python"), (_NODE, "node"), (_OTHER, "")):
        if pattern.fullmatch(program):
            return language
    return None


def search_words(words: Sequence[str], place: Place, search: Search) -> None:
    """Add what one command runs.

    Law: the program itself, if it is a path; of an interpreter the script, inline code and every file among its
    options; of a task runner its files; of a wrapper the command in it, which may start at any interpreter among the
    words. On a hook's own command line also the files that the arguments name.
    """
    first, place = _command_position(words, place, search)
    if first >= len(words):
        return
    rest = list(words[first:])
    _search_command(rest, place, search)
    if os.path.basename(rest[0]) in _WRITERS:
        return
    for index, word in enumerate(rest[1:], 1):
        name = os.path.basename(word)
        if (language_of(name) is not None or name in RUNNERS) and name not in (".", "run", "include"):
            _search_command(rest[index:], place, search)


def _command_position(words: Sequence[str], place: Place, search: Search) -> tuple[int, Place]:
    """Return the word that is run: after keywords, assignments, and wrappers with their options."""
    wrapped, before = False, ""
    for index, word in enumerate(words):
        if match := ASSIGNMENT.match(word):
            if place.arguments:
                _add_named(word, place, search)
            if match[1] == "PYTHONPATH":
                place = place.at(*python_path(word.split("=", 1)[1], place, search))
        elif word in _WRAPPERS:
            wrapped = True
        elif wrapped and (found := _DIRECTORY_OPTIONS.fullmatch(before)) and found[1] is None:
            place = place.at(*places_of(word, place)[1])
        elif wrapped and (found := _DIRECTORY_OPTIONS.fullmatch(word)) and found[1]:
            place = place.at(*places_of(found[1], place)[1])
        elif word not in _KEYWORDS and not (wrapped and (_OPTION.fullmatch(word) or before in _WRAPPER_VALUES)):
            return index, place
        before = word
    return len(words), place


def python_path(value: str, place: Place, search: Search) -> list[str]:
    """Return the folders of a PYTHONPATH; Python itself may import any name from there when it starts."""
    found = [folder for part in value.split(":") for folder in (places_of(part, place)[1] if part else place.bases)]
    for folder in found:
        search.wants(folder, None)
    return found


def _search_command(words: list[str], place: Place, search: Search) -> None:
    word, arguments = words[0], words[1:]
    program = os.path.basename(expand(word, place))
    if "/" in word or any(mark in word for mark in MARKS):
        _add_run(word, place, search)
    place = place.at(*_directories(arguments, place))
    language = language_of(program)
    if language is not None:
        _interpreter(language, arguments, place, search)
    elif program in _LOOPS or program == "run-parts" or (program == "find" and "-exec" in " ".join(arguments)):
        for argument in arguments:
            if "/" in argument or program == "run-parts" or os.path.isdir(_first(argument, place)):
                _add_run(argument, place, search, ALL)
    elif program not in _WRITERS and place.arguments:
        for argument in arguments:
            _add_named(argument, place, search)
    if program in RUNNERS:
        _runner(program, arguments, place, search)
    if program in _PREPROCESSORS:
        for base in place.bases:
            _existing(os.path.join(base, "pyproject.toml"), search)


def _first(word: str, place: Place) -> str:
    return next((spot for spot in places_of(word, place)[1] if os.path.exists(spot)), "")


def _directories(arguments: Sequence[str], place: Place) -> Iterator[str]:
    """Return the directories that options such as `make -C` and `npm --prefix` change to."""
    before = ""
    for word in arguments:
        option = _DIRECTORY_OPTIONS.fullmatch(word)
        if option is not None and option[1]:
            yield from places_of(option[1], place)[1]
        elif word.startswith("-C") and len(word) > 2:
            yield from places_of(word[2:], place)[1]
        elif (found := _DIRECTORY_OPTIONS.fullmatch(before)) and found[1] is None:
            yield from (spot for spot in places_of(word, place)[1] if os.path.isdir(spot))
        before = word


def _interpreter(language: str, arguments: Sequence[str], place: Place, search: Search) -> None:
    """Add the script of an interpreter: the first word that is neither an option nor the value of one."""
    inline, plain = _INLINE[language], _PLAIN.get(language)
    before, doubtful, found = "", False, False
    deaf = False
    for word in arguments:
        deaf |= not found and _IGNORES_ENVIRONMENT.fullmatch(word) is not None
        if before and inline.fullmatch(before):
            _inline(language, word, place, search, Role.RUN if deaf else Role.MODULE)
            found = True
        elif language == "python" and before.endswith("m") and re.fullmatch(r"-[bBdEhiIOPqRsSuvVx]*m", before):
            search.inline_python = True
            wants_module(word, place.bases, search)
            found = True
        elif word.startswith(("-", "+")) and not found and word not in ("-", "--"):
            doubtful = plain is None or plain.fullmatch(word) is None
            if "=" in word:
                _add_run(word, place, search)
                doubtful = False
            elif language == "python" and re.fullmatch(r"-[cm].+", word):
                _glued(word, place, search)
                found = True
            before = word
            continue
        elif not found:
            if doubtful:
                _add_existing(word, place, search, language)
            elif word not in ("-", "--", "{}"):
                _add_run(word, place, search, language)
                found = True
        elif place.arguments:
            _add_named(word, place, search)
        before, doubtful = word, False
    if language == "python" and not found:
        search.inline_python = True


def _glued(word: str, place: Place, search: Search) -> None:
    if word[1] == "m":
        search.inline_python = True
        wants_module(word[2:], place.bases, search)
    else:
        _inline("python", word[2:], place, search)


#: Options of Python with which PYTHONSAFEPATH has no effect and modules come from the working directory.
_IGNORES_ENVIRONMENT = re.compile(r"-(?=[a-zA-Z]*E)[^IPcm]*c?")


def _inline(language: str, code: str, place: Place, search: Search, role: Role = Role.MODULE) -> None:
    """Add what code on the command line runs; a shell's own text is read by the caller as inner text."""
    if language == "python":
        search.inline_python = True
        search_python(code, "", place.bases, role, search)
        _mentioned(code, place, search)
    elif language == "node":
        for base in place.bases:
            search_javascript(code, base, search, place.reach.project_dir)
        _mentioned(code, place, search)
    elif language == "":
        _mentioned(code, place, search)


def _mentioned(code: str, place: Place, search: Search) -> None:
    for path in mentioned_files(code, place.bases):
        search.add(path, Role.RUN)


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


def _runner(program: str, arguments: Sequence[str], place: Place, search: Search) -> None:
    """Add the files of a task runner, also those that do not exist and would be read before or beside the others."""
    language = (
        "make" if program in ("make", "gmake") else "package" if program in _EXEC_NODE or program == "bun" else ""
    )
    for base in place.bases:
        for name in RUNNERS[program]:
            path = os.path.join(base, name)
            search.add(path, Role.RUN, language if name != ".npmrc" else "")
            if program in _FIRST and os.path.lexists(path):
                break
        if program in _EXEC_NODE:
            for word in arguments:
                if re.fullmatch(r"[\w.@-]+", word):
                    _existing(os.path.join(base, "node_modules", ".bin", word.split("@")[0] or word), search)
    before = ""
    for word in arguments:
        if before in ("-f", "--file", "--makefile", "--justfile", "-I", "--config", "-c"):
            _add_run(word, place, search, language)
        before = word


def _existing(path: str, search: Search) -> None:
    if os.path.lexists(path):
        search.add(path, Role.RUN)


# ── words ───────────────────────────────────────────────────────────────────


def _add_run(word: str, place: Place, search: Search, language: str = "") -> None:
    """Add what a word in the position of a program or script means, also if it does not exist."""
    path, spots = places_of(word, place)
    if not spots:
        if "$" in word or "`" in word:
            search.note(f"{word[:80]} is computed at run time")
        return
    for spot in spots:
        if is_glob(path):
            if not is_glob(os.path.dirname(spot)):
                for found in sorted(glob.glob(spot))[: MAX_FILES + 1]:
                    search.add(found, Role.RUN, "" if language == ALL else language)
                search.add(os.path.dirname(spot), Role.NAMED)
        elif os.path.isdir(spot):
            _add_folder(spot, language, search)
        elif os.path.lexists(spot) or not re.search(r"[\s;|&]", path):
            kind = "" if language == ALL else language
            search.add(spot, Role.RUN, kind, (os.path.dirname(os.path.realpath(spot)),))
            if language == "python" and os.path.lexists(spot):
                search.python_folders[os.path.dirname(os.path.realpath(spot))] = None


def _add_existing(word: str, place: Place, search: Search, language: str) -> None:
    for spot in places_of(word, place)[1]:
        if os.path.isfile(spot):
            search.add(spot, Role.RUN, language, (os.path.dirname(os.path.realpath(spot)),))


def _add_folder(folder: str, language: str, search: Search) -> None:
    """Add a folder that is run as a program: what its language starts with, or every file in it."""
    if language == "python":
        search.wants(folder, ("__main__",))
        search.add(os.path.join(folder, "__main__.py"), Role.RUN, "python", (folder,))
    elif language == "node":
        for name in ("package.json", "index.js", "index.json", "index.node"):
            search.add(os.path.join(folder, name), Role.RUN, "package" if name == "package.json" else "node")
    elif language == ALL:
        for where, folders, names in os.walk(folder):
            folders.sort()
            search.add(where, Role.NAMED)
            for name in sorted(names):
                search.add(os.path.join(where, name), Role.RUN)


def _add_named(word: str, place: Place, search: Search) -> None:
    """Add a file that an argument names: an existing one, or a name that is that of code."""
    path, spots = places_of(word, place)
    if looks_like_data(path) or is_glob(path):
        return
    own = any(mark in word for mark in MARKS) and "/" in path
    for spot in spots:
        if os.path.lexists(spot):
            if not os.path.isdir(spot):
                search.add(spot, Role.RUN if is_inside_bin(spot) else Role.NAMED)
        elif not re.search(r"[\s;|&]", path) and (looks_like_code(path) or own):
            search.add(spot, Role.NAMED)


def is_inside_bin(path: str) -> bool:
    """Return whether a file named as an argument is probably run: it may be executed and starts with `#!`."""
    return is_code(path) and not looks_like_code(path)


def feeds_a_shell(words: Sequence[str]) -> bool:
    """Return whether a command runs what it reads: an interpreter without a script, `eval`, `xargs`."""
    for index, word in enumerate(words):
        name = os.path.basename(word)
        if name in ("eval", "xargs", "parallel"):
            return True
        if language_of(name) in ("sh", "python", "node"):
            rest = words[index + 1 :]
            operands = [each for each in rest if not each.startswith(("-", "+")) or each in ("-c", "-e", "-m", "-p")]
            if not operands or rest[:1] in (["-"], ["-s"], ["/dev/stdin"]) or operands[0].startswith(("<(", "/dev/")):
                return True
    return False
