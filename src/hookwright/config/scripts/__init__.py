"""Which files a command runs, as far as its text shows: the files that trust is bound to.

Found: files on the command line (programs, scripts, inline code, arguments, globs, folders that are run, the files of
task runners), and from there everything that those source, run, import or require, as deep as it goes. A name that
does not exist yet is also found where it would come first, so that its appearance is noticed. What is run and cannot
be found this way is a note, which the review shows as "not bound". Programs on PATH and installed packages are not
searched.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence

import msgspec

from hookwright.config.files import read_bytes
from hookwright.config.scripts.javascript import search_javascript, search_package
from hookwright.config.scripts.programs import (
    ASSIGNMENT,
    feeds_a_shell,
    python_path,
    search_words,
)
from hookwright.config.scripts.pythoncode import module_names, search_python
from hookwright.config.scripts.search import (
    MAX_FILES,
    FoundScript,
    Reach,
    ScriptPlace,
    ScriptRole,
    ScriptSearch,
    TooManyFiles,
    expand,
    is_code,
    is_glob,
    mentioned_files,
    places_of,
    stand_in,
)
from hookwright.config.scripts.shelltext import MAX_DEPTH, simple_commands
from hookwright.protocol.handlers import CommandHandler, Handler

__all__ = ["MAX_FILES", "Reach", "Runs", "ScriptRole", "TooManyFiles", "module_names", "named_files", "what_runs"]

#: A longer script is bound as a whole, but not searched for what it runs.
_MAX_SEARCHED = 4 * 1024 * 1024


class Runs(msgspec.Struct, frozen=True):
    """What a command runs."""

    #: Absolute path → role, existing or not, in a stable order.
    files: dict[str, ScriptRole]
    #: Folder → the names of modules that Python looks for in it; None for every name.
    modules: dict[str, frozenset[str] | None]
    #: What is run and not bound.
    notes: tuple[str, ...]
    #: Whether Python runs text or a module by name, so that it imports from the working directory.
    inline_python: bool
    #: The folders of the Python scripts that are run by path.
    python_folders: tuple[str, ...]


def named_files(handler: Handler, reach: Reach) -> tuple[str, ...]:
    """Return the absolute paths a handler's outcome depends on, existing or not, in a stable order."""
    return tuple(what_runs(handler, reach).files)


def what_runs(handler: Handler, reach: Reach, inside: str = "") -> Runs:
    """Return what a handler runs; with `inside`, files outside that folder are not searched themselves."""
    search = ScriptSearch()
    if isinstance(handler, CommandHandler):
        _command(handler, reach, search)
        done = 0
        while done < len(search.scripts):
            script = search.scripts[done]
            done += 1
            search.ceiling = search.files[script.path]
            if not inside or script.path.startswith(inside.rstrip("/") + "/"):
                _script(script, reach, search)
            elif script.language in ("", "sh"):
                _own_script(script, reach, search)
    modules = {folder: names if names is None else frozenset(names) for folder, names in search.modules.items()}
    return Runs(search.files, modules, tuple(search.notes), search.inline_python, tuple(search.python_folders))


def _command(handler: CommandHandler, reach: Reach, search: ScriptSearch) -> None:
    place = ScriptPlace(reach, reach.bases, arguments=True)
    if handler.args is None:
        _shell(stand_in(handler.command), place, search)
        return
    words = [stand_in(word) for word in (handler.command, *handler.args)]
    search_words(words, place, search)
    for word in words:
        if re.search(r"\s", word):
            _shell(word, msgspec.structs.replace(place, depth=1), search)


def _shell(text: str, place: ScriptPlace, search: ScriptSearch) -> None:
    """Add what shell text runs: each command with the directories and variables set before it."""
    if place.depth > MAX_DEPTH:
        search.note("text in more than 16 levels of quotes or $( )")
        return
    commands = list(simple_commands(text))
    if any(feeds_a_shell(one.words) for one in commands):
        if any("xargs" in one.words or "parallel" in one.words for one in commands):
            search.note("files whose names a command is given at run time, by xargs")
        place = msgspec.structs.replace(place, fed=True)
    for one in commands:
        words = one.words
        if words and words[0] in ("cd", "pushd") and len(words) > 1:
            place = place.at(*places_of(words[1], place)[1])
        variables = dict(place.variables)
        for word in words:
            if match := ASSIGNMENT.match(word):
                value = expand(word[match.end() :], place)
                if "$" not in value and "`" not in value and len(variables) < 64:
                    variables[match[1]] = value
                if match[1] == "PYTHONPATH":
                    place = place.at(*python_path(value, place, search))
        place = msgspec.structs.replace(place, variables=tuple(variables.items()))
        if words:
            search_words(words, place, search)
        if place.fed:
            _fed((*words[1:], *one.reads), place, search)
        for inner in one.inner:
            _shell(inner, msgspec.structs.replace(place, depth=place.depth + 1), search)


def _fed(words: Sequence[str], place: ScriptPlace, search: ScriptSearch) -> None:
    """Add files whose content a shell may run, because a command next to it reads them."""
    for word in words:
        path, spots = places_of(word, place)
        for spot in spots:
            if is_glob(path) and not is_glob(os.path.dirname(spot)):
                search.add(os.path.dirname(spot), ScriptRole.NAMED)
                for found in sorted(glob.glob(spot))[: MAX_FILES + 1]:
                    search.add(found, ScriptRole.RUN, "sh")
            elif os.path.isfile(spot):
                search.add(spot, ScriptRole.RUN, "sh")


def _own_script(script: FoundScript, reach: Reach, search: ScriptSearch) -> None:
    """Look only for how a script outside the project starts Python, which imports from the working directory."""
    try:
        text = read_bytes(script.path, _MAX_SEARCHED).decode("utf-8", errors="replace")
    except OSError:
        return
    if _language(script, text) == "sh":
        own = ScriptSearch()
        _shell(stand_in(text), ScriptPlace(reach, (os.path.dirname(script.path),)), own)
        search.inline_python |= own.inline_python
        search.python_folders.update(own.python_folders)


def _script(script: FoundScript, reach: Reach, search: ScriptSearch) -> None:
    """Add what a script runs: what it sources, starts, imports or requires."""
    path = script.path
    try:
        if os.path.getsize(path) > _MAX_SEARCHED:
            search.note(f"what {os.path.basename(path)} runs, because it has more than 4 MB")
            return
        data = read_bytes(path, _MAX_SEARCHED)
    except OSError:
        return
    text = data.decode("utf-8", errors="replace")
    # Python searches next to the real file, a shell script next to the name it was called by.
    folders = tuple(dict.fromkeys((os.path.dirname(path), os.path.dirname(os.path.realpath(path)))))
    bases = tuple(dict.fromkeys((*folders, *reach.bases)))
    match _language(script, text):
        case "python":
            search_python(text, path, script.roots or folders[-1:], ScriptRole.RUN, search)
        case "node":
            for folder in folders:
                search_javascript(text, folder, search, reach.project_dir)
        case "sh" | "make":
            _shell(stand_in(text), ScriptPlace(reach, bases), search)
            return
        case "package":
            for line in search_package(text, path, search):
                _shell(stand_in(line), ScriptPlace(reach, folders), search)
            return
        case "data":
            return
    for found in mentioned_files(text, bases):
        if found != path:
            search.add(found, ScriptRole.RUN)


def _language(script: FoundScript, text: str) -> str:
    """Return the language of a script: how it is run decides, then its first line, then its name."""
    path = script.path
    shebang = text.split("\n", 1)[0] if text.startswith("#!") else ""
    if "\0" in text[:4096]:
        return "data"
    if script.language:
        return script.language
    for pattern, language in ((r"python", "python"), (r"node|deno|bun", "node"), (r"sh\b", "sh")):
        if re.search(pattern, shebang):
            return language
    for pattern, language in (
        (r"\.pyw?$", "python"),
        (r"\.[cm]?[jt]sx?$", "node"),
        (r"\.(?:ba|z|k|da)?sh$", "sh"),
        (r"\.mk$|[Mm]akefile$", "make"),
        (r"package\.json$", "package"),
        (r"\.(?:json|ya?ml|toml|md|txt|log|csv|so|pyc|exe|wasm)$", "data"),
    ):
        if re.search(pattern, path):
            return language
    return "other" if shebang or not is_code(path) else "sh"
