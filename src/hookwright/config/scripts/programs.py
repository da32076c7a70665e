"""What one command runs: its program, the script an interpreter reads, the files a task runner is configured by."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from hookwright.config.scripts.javascript import search_javascript
from hookwright.config.scripts.pythoncode import search_python, wants_module
from hookwright.config.scripts.search import (
    ALL,
    MARKS,
    ScriptPlace,
    ScriptRole,
    ScriptSearch,
    add_code,
    add_existing,
    add_folder,
    add_named,
    add_run,
    expand,
    is_system,
    mentioned_files,
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
_WORDS = re.compile(r"[^\s$()`<>|;&'\"]+")
_LONGEST_VALUE = 4096
#: A folder with more files that is put on PATH is not bound.
_MOST_PROGRAMS = 100
_DECLARATIONS = frozenset({"export", "declare", "typeset", "readonly", "local"})
#: Programs that start Python with a script among their arguments.
_START_PYTHON = frozenset({"uv", "pdm", "hatch", "poetry", "pipenv", "rye", "coverage", "ipython", "kernprof"})
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
_PREPROCESSORS = frozenset({"poetry", "uv", "pipenv", "hatch", "pdm", "direnv"})

#: Build tools, test runners, checkers with plug-ins, containers: what they run depends on files they find themselves.
_LOADERS = frozenset(
    """
    ant bazel bazelisk behave buck buck2 bun bundle cargo cmake composer ctest cypress deno docker docker-compose dotnet
    fab flake8 flutter go gradle gradlew gulp grunt hatch husky invoke java javac jest karma lein lint-staged meson mix
    mocha mvn mvnw mypy nerdctl ninja nix nix-shell node-gyp nodemon nox nx nyc parcel pip pip3 pipx playwright pnpm
    podman poe poetry pre-commit pylint pyright pytest rake rebar3 rollup rspec ruff-lsp sbt scons sphinx-build stack
    stylelint swift terraform tofu tox tsc turbo twine uv vite vitest webpack xcodebuild yarn zig
    """.split()  # noqa: SIM905 (a table)
)
#: Modules of Python that do the same when they are run by name.
_LOADING_MODULES = frozenset(
    "build coverage doctest flake8 invoke mypy nose nox pip pylint pytest setuptools sphinx tox unittest".split()  # noqa: SIM905
)
_OTHER_LANGUAGES = re.compile(
    r"ruby|perl|php|lua[\d.]*|pwsh|powershell|Rscript|osascript|julia|groovy|elixir|tclsh|expect"
)


def language_of(program: str) -> str | None:
    """Return the language of an interpreter: sh, python, node, empty for another one; None for other programs."""
    for pattern, language in ((_SHELL, "sh"), (_PYTHON, "python"), (_NODE, "node"), (_OTHER, "")):
        if pattern.fullmatch(program):
            return language
    return None


def search_words(words: Sequence[str], place: ScriptPlace, search: ScriptSearch) -> None:
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


def _command_position(words: Sequence[str], place: ScriptPlace, search: ScriptSearch) -> tuple[int, ScriptPlace]:
    """Return the word that is run: after keywords, assignments, and wrappers with their options."""
    wrapped, before = False, ""
    for index, word in enumerate(words):
        if match := ASSIGNMENT.match(word):
            if place.arguments:
                add_named(word, place, search)
            _assigned(match[1], word[match.end() :], place, search)
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


def _assigned(name: str, value: str, place: ScriptPlace, search: ScriptSearch) -> None:
    """Add what a variable makes programs load: files in its value, and the programs of a folder put on PATH."""
    for part in re.split(r"[\s=:,]+", value[:_LONGEST_VALUE]):
        if name == "PATH":
            for folder in places_of(part, place)[1]:
                _on_path(folder, part, search)
        elif part:
            add_code(part, place, search)


def _on_path(folder: str, written: str, search: ScriptSearch) -> None:
    if os.path.isdir(folder) and not is_system(folder):
        if len(os.listdir(folder)) <= _MOST_PROGRAMS:
            add_folder(folder, ALL, search)
        else:
            search.note(f"programs in {written}, which is put on PATH")


def python_path(value: str, place: ScriptPlace, search: ScriptSearch) -> list[str]:
    """Return the folders of a PYTHONPATH; Python itself may import any name from there when it starts."""
    found = [folder for part in value.split(":") for folder in (places_of(part, place)[1] if part else place.bases)]
    for folder in found:
        search.wants(folder, None)
    return found


def _search_command(words: list[str], place: ScriptPlace, search: ScriptSearch) -> None:
    word, arguments = words[0], words[1:]
    program = os.path.basename(expand(word, place))
    if "/" in word or any(mark in word for mark in MARKS):
        add_run(word, place, search)
    place = place.at(*_directories(arguments, place))
    _note_loader(program, search)
    _values(program, arguments, place, search)
    language = language_of(program)
    if language is not None:
        _interpreter(language, arguments, place, search)
    elif program in _LOOPS or program == "run-parts" or (program == "find" and "-exec" in " ".join(arguments)):
        for argument in arguments:
            if "/" in argument or program == "run-parts" or os.path.isdir(_first(argument, place)):
                add_run(argument, place, search, ALL)
    elif program not in _WRITERS and place.arguments:
        for argument in arguments:
            add_named(argument, place, search)
    if program in RUNNERS:
        _runner(program, arguments, place, search)
    if program in _PREPROCESSORS:
        for base in place.bases:
            _existing(os.path.join(base, "pyproject.toml"), search)


def _values(program: str, arguments: Sequence[str], place: ScriptPlace, search: ScriptSearch) -> None:
    """Add what arguments of any program may make it run: values after a second `=`, variables, scripts of Python."""
    for word in arguments:
        match = ASSIGNMENT.match(word)
        if match is not None and program in _DECLARATIONS:
            _assigned(match[1], word[match.end() :], place, search)
        elif "=" in word and program not in _WRITERS:
            value = word.rpartition("=")[2]
            add_code(value, place, search)
            if "hookspath=" in word.lower():
                add_run(value, place, search, ALL)
        elif program in _START_PYTHON and word.endswith(".py"):
            add_run(word, place, search, "python")


def _first(word: str, place: ScriptPlace) -> str:
    return next((spot for spot in places_of(word, place)[1] if os.path.exists(spot)), "")


def _directories(arguments: Sequence[str], place: ScriptPlace) -> Iterator[str]:
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


def _interpreter(language: str, arguments: Sequence[str], place: ScriptPlace, search: ScriptSearch) -> None:
    """Add the script of an interpreter: the first word that is neither an option nor the value of one."""
    inline, plain = _INLINE[language], _PLAIN.get(language)
    before, doubtful, found = "", False, False
    deaf = False
    for word in arguments:
        deaf |= not found and _IGNORES_ENVIRONMENT.fullmatch(word) is not None
        if before and inline.fullmatch(before):
            _inline(language, word, place, search, ScriptRole.RUN if deaf else ScriptRole.MODULE)
            found = True
        elif language == "python" and before.endswith("m") and re.fullmatch(r"-[bBdEhiIOPqRsSuvVx]*m", before):
            search.inline_python = True
            wants_module(word, place.bases, search)
            _note_module(word, search)
            found = True
        elif word.startswith(("-", "+")) and not found and word not in ("-", "--"):
            doubtful = plain is None or plain.fullmatch(word) is None
            if "=" in word:
                add_run(word, place, search)
                doubtful = False
            elif language == "python" and re.fullmatch(r"-[cm].+", word):
                _glued(word, place, search)
                found = True
            before = word
            continue
        elif not found:
            if doubtful:
                add_existing(word, place, search, language)
            elif word not in ("-", "--", "{}"):
                add_run(word, place, search, language)
                found = True
        elif place.arguments:
            add_named(word, place, search)
        before, doubtful = word, False
    if language == "python" and not found:
        search.inline_python = True


def _glued(word: str, place: ScriptPlace, search: ScriptSearch) -> None:
    if word[1] == "m":
        search.inline_python = True
        wants_module(word[2:], place.bases, search)
        _note_module(word[2:], search)
    else:
        _inline("python", word[2:], place, search)


#: Options of Python with which PYTHONSAFEPATH has no effect and modules come from the working directory.
_IGNORES_ENVIRONMENT = re.compile(r"-(?=[a-zA-Z]*E)[^IPcm]*c?")


def _inline(
    language: str, code: str, place: ScriptPlace, search: ScriptSearch, role: ScriptRole = ScriptRole.MODULE
) -> None:
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
    else:
        _shell_code(code, place, search)


def _shell_code(code: str, place: ScriptPlace, search: ScriptSearch) -> None:
    """Add what the text after `sh -c` runs if it is one word, or if a command in it prints the text."""
    if "$(" in code or "`" in code:
        for word in _WORDS.findall(code[:_LONGEST_VALUE]):
            add_existing(word, place, search, "sh")
    elif not re.search(r"[\s;|&]", code):
        add_run(code, place, search)


def _mentioned(code: str, place: ScriptPlace, search: ScriptSearch) -> None:
    for path in mentioned_files(code, place.bases):
        search.add(path, ScriptRole.RUN)


def _runner(program: str, arguments: Sequence[str], place: ScriptPlace, search: ScriptSearch) -> None:
    """Add the files of a task runner, also those that do not exist and would be read before or beside the others."""
    language = (
        "make" if program in ("make", "gmake") else "package" if program in _EXEC_NODE or program == "bun" else ""
    )
    for base in place.bases:
        for name in RUNNERS[program]:
            path = os.path.join(base, name)
            search.add(path, ScriptRole.RUN, language if name != ".npmrc" else "")
            if program in _FIRST and os.path.lexists(path):
                break
        if program in _EXEC_NODE:
            for word in arguments:
                if re.fullmatch(r"[\w.@-]+", word):
                    _existing(os.path.join(base, "node_modules", ".bin", word.split("@")[0] or word), search)
    before = ""
    for word in arguments:
        if before in ("-f", "--file", "--makefile", "--justfile", "-I", "--config", "-c"):
            add_run(word, place, search, language)
        before = word


def _existing(path: str, search: ScriptSearch) -> None:
    if os.path.lexists(path):
        search.add(path, ScriptRole.RUN)


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


def _note_loader(program: str, search: ScriptSearch) -> None:
    """Note that a program loads what trust is not bound to."""
    if program in _LOADERS:
        search.note(f"what {program} loads from the project")
    elif _OTHER_LANGUAGES.fullmatch(program):
        search.note(f"what code for {program} loads; only shell, Python and JavaScript are searched")


def _note_module(name: str, search: ScriptSearch) -> None:
    """Note that a module of Python that is run by name loads what trust is not bound to."""
    if name.split(".")[0] in _LOADING_MODULES:
        search.note(f"what python -m {name} loads from the project")
