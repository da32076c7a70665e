"""Commands that other commands start: `sh -c '…'`, `env x`, `find -exec x`, `eval`, `trap`, and what may hide one.

Law: a guard's rule for a program applies wherever Bash or a well-known runner starts that program from words of the
text. Where the words depend on the run, or come from a file, an input or a variable, the guard is undecided.
Allow rules and the tables of harmless commands never look through a runner.
"""

import posixpath
import re
from collections.abc import Callable, Sequence

import msgspec

from hookwright.matching.shell.commands import (
    MARKS,
    SPLITS,
    UNKNOWN,
    WRAPPERS,
    Analysis,
    SubCommand,
    Word,
    spelled,
    without_wrappers,
    wrapper,
)

_SHELLS = frozenset(["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "zsh"])
_RUNNERS = {
    "doas": wrapper(r"-[nL]|--|-[uC].+", "-u -C"),
    "env": wrapper(
        r"-|--|-[i0v]+|--(ignore-environment|null|debug)|-[uC].+|--(unset|chdir)=.*", "-u --unset -C --chdir"
    ),
    "exec": wrapper(r"--|-[cl]+|-[cl]*a.+", "-a -ca -la -cla"),
    "ionice": wrapper(r"-t|-[cn].+", "-c -n"),
    "noglob": wrapper(r"(?!)"),
    "setsid": wrapper(r"-[cfw]+|--(ctty|fork|wait)"),
    "sudo": wrapper(
        r"--|-[AbEHKknPSv]+|-[ugpCrtTUDR].+|--(preserve-env|user|group)=.*|--(preserve-env|non-interactive|set-home)",
        "-u -g -p -C -r -t -T -U -D -R --user --group",
    ),
    "xargs": wrapper(
        r"-[0rtpxo]+|-[nPILsdEa].+|-[iel].*|--(null|no-run-if-empty|verbose|interactive|exit|open-tty)"
        r"|--(max-args|max-procs|replace|delimiter|arg-file|max-lines|max-chars|eof)=.*|--replace|--eof|--max-lines",
        "-n -P -I -L -s -d -E -a --max-args --max-procs --delimiter --arg-file --max-chars",
    ),
}
#: Programs that start a command somewhere in their words; which words are options is not looked at.
_LOOSE = frozenset(
    """
    asdf bundle bunx busybox bwrap chroot chrt devbox direnv docker eatmydata fakeroot faketime firejail flock
    gdb hatch kubectl ltrace mise nix-shell npx nsenter numactl parallel perf pipenv pipx pnpm podman poetry
    prlimit proxychains rlwrap runuser script setpriv ssh strace su systemd-run taskset torsocks tox toybox
    unbuffer unshare uv uvx valgrind watch xvfb-run yarn
    """.split()  # noqa: SIM905 (a table)
)
#: Those of them that take a word as a shell's text.
_TAKES_TEXT = frozenset(["flock", "nix-shell", "parallel", "runuser", "script", "ssh", "su", "watch"])
_FIND_RUNS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_MOST_WORDS = 40
_MOST_RUNNERS = 6

#: Variables whose text Bash runs, or that change how it reads commands.
_RUN_VARIABLES = re.compile(r"(PS[0124]|PROMPT_COMMAND|BASH_\w*|BASHOPTS|SHELLOPTS|ENV)(?!\w)")
_OPTION_WITH_C = re.compile(r"-\w*C")
_INTEGER_OR_REFERENCE = re.compile(r"[-+]\w*[in]")
_NAMES_VARIABLES = frozenset(["getopts", "mapfile", "read", "readarray", "unset", "wait"])
_DECLARES = frozenset(["declare", "export", "local", "readonly", "typeset"])
_NUMERIC_TEST = re.compile(r"(?<!\S)-(eq|ne|lt|le|gt|ge|v|R)(?!\S)")
#: Builtins that run text or rename commands with these words.
_CHANGES_COMMANDS = {
    "alias": re.compile(r".*=.*", re.DOTALL),
    "bind": re.compile(r".+", re.DOTALL),
    "compgen": re.compile(r".+", re.DOTALL),
    "complete": re.compile(r".+", re.DOTALL),
    "enable": re.compile(r".+", re.DOTALL),
    "fc": re.compile(r".*", re.DOTALL),
    "hash": re.compile(r"-\w*p.*", re.DOTALL),
    "jobs": re.compile(r"-\w*x.*", re.DOTALL),
    "let": re.compile(r".+", re.DOTALL),
    "mapfile": re.compile(r"-\w*C.*|.*\[.*", re.DOTALL),
    "readarray": re.compile(r"-\w*C.*|.*\[.*", re.DOTALL),
    "printf": re.compile(r"-v.*", re.DOTALL),
}


class Started(msgspec.Struct, frozen=True):
    """What a command starts, what it may start, and why there may be more."""

    commands: tuple[SubCommand, ...] = ()
    possible: tuple[SubCommand, ...] = ()
    hidden: str | None = None


_NOTHING = Started()
_INPUT = Started(hidden="a shell reads its commands from a file or an input that the text does not show")
_OPTIONS = Started(hidden="which of its words a runner starts is not known")
_TEXT = Started(hidden="a text that is known only when the command runs is run as a command")


def started(command: SubCommand, analyse: Callable[[str], Analysis]) -> Started:
    """Return what one sub-command starts; `analyse` reads a text that is run as a command."""
    if _sets_run_variable(command):
        return Started(hidden="a variable is set whose text Bash runs")
    words = command.core
    name = command.program
    shapes = [word.shape for word in words[1:]]
    if MARKS.search(name) and not (command.name or "").endswith("="):
        return Started(hidden="which program runs is only known when the command runs")
    if name in _SHELLS:
        return _shell(words, analyse)
    if name == "find":
        return _find(words, analyse)
    if name in _RUNNERS:
        return _runner(name, words, analyse)
    if name in WRAPPERS:
        return _NOTHING if shapes[:1] in ([], ["-v"], ["-V"]) else _loosely(words)
    if name in _LOOSE:
        return _loosely(words) if name not in _TAKES_TEXT else _with_texts(words, analyse)
    return _builtin(name, command, shapes, analyse)


def _text(text: str, analyse: Callable[[str], Analysis]) -> Started:
    """Read a text that is run as a command."""
    if MARKS.search(text):
        return _TEXT
    found = analyse(text)
    return Started((*found.commands, *found.started), found.may_start, found.problem or found.hidden)


def _of(words: tuple[Word, ...], analyse: Callable[[str], Analysis]) -> Started:
    """Return a command made of words, and what it starts in its turn."""
    if not words:
        return _NOTHING
    made = SubCommand(spelled(words), spelled(words), words, without_wrappers(words))
    inner = started(made, analyse)
    return Started((made, *inner.commands), inner.possible, inner.hidden)


def _shell(words: tuple[Word, ...], analyse: Callable[[str], Analysis]) -> Started:
    at, takes_text = 1, False
    if any(word.shape in ("-", "+") for word in words):  # shells differ on what these end
        return _INPUT
    while at < len(words) and re.match(r"[-+].", words[at].shape):
        option = words[at].shape
        at += 1
        if option in ("--version", "--help"):
            return _NOTHING
        if option == "--":
            break
        if option.startswith("--"):
            if option.endswith("file"):
                return _INPUT
            continue
        takes_text = takes_text or "c" in option
        at += option.count("o") + option.count("O")
        if "s" in option and not takes_text:
            return _INPUT
    if not all(word.known for word in words[: at + 1]):
        return _INPUT
    if at >= len(words):
        return _INPUT
    operand = words[at].shape
    if takes_text:
        return _text(operand, analyse)
    return _INPUT if re.match(r"/(dev|proc)/", operand) else _NOTHING


def _find(words: tuple[Word, ...], analyse: Callable[[str], Analysis]) -> Started:
    if not all(word.known for word in words) or _nests(words):
        return _OPTIONS
    found = _NOTHING
    for at, word in enumerate(words):
        if word.shape in _FIND_RUNS:
            run = words[at + 1 :]
            end = next((place for place, word in enumerate(run) if word.shape in (";", "+")), len(run))
            found = _joined(found, _of(_replaced(run[:end], "{}"), analyse))
    return found


def _nests(words: tuple[Word, ...]) -> bool:
    """Return whether there are too many runners inside runners."""
    return sum(word.shape in _FIND_RUNS or posixpath.basename(word.shape) in _RUNNERS for word in words) > _MOST_RUNNERS


def _runner(name: str, words: tuple[Word, ...], analyse: Callable[[str], Analysis]) -> Started:
    inside = _RUNNERS[name].inside(words)
    if _nests(words):
        return _OPTIONS
    if inside is None:
        return _joined(_OPTIONS, _loosely(words))
    if name in ("env", "sudo"):
        while inside and "=" in inside[0].shape:
            if not inside[0].shape.partition("=")[0].isidentifier() or _RUN_VARIABLES.match(inside[0].shape):
                return _OPTIONS
            inside = inside[1:]
    if name == "xargs":
        return _xargs(words, inside, analyse)
    return _of(inside, analyse)


def _xargs(words: tuple[Word, ...], inside: tuple[Word, ...], analyse: Callable[[str], Analysis]) -> Started:
    """Return the command with and without the words that xargs adds."""
    options = [word.shape for word in words[1 : len(words) - len(inside)]]
    places = [re.sub(r"-[iI]|--replace=?", "", option) for option in options if re.match(r"-[iI]|--replace", option)]
    if "-I" in options[:-1]:
        places = [options[options.index("-I") + 1]]
    if places:
        return _of(_replaced(inside, places[0] or "{}"), analyse)
    if not inside:
        return _NOTHING
    longer = _of((*inside, Word("", SPLITS)), analyse)
    return Started(_of(inside, analyse).commands, (*longer.commands, *longer.possible), longer.hidden)


def _replaced(words: Sequence[Word], place: str) -> tuple[Word, ...]:
    return tuple(Word(word.raw, word.shape.replace(place, UNKNOWN), word.globs) for word in words)


def _loosely(words: tuple[Word, ...]) -> Started:
    """Return every command that the words of a runner may be."""
    later = range(1, min(len(words), _MOST_WORDS))
    starts = [words[at:] for at in later if words[at].known and not words[at].shape.startswith("-")]
    made = tuple(SubCommand(spelled(run), spelled(run), run, without_wrappers(run)) for run in starts)
    return Started(possible=made, hidden=_OPTIONS.hidden if len(words) > _MOST_WORDS else None)


def _with_texts(words: tuple[Word, ...], analyse: Callable[[str], Analysis]) -> Started:
    """Return what the words, each or together, may start as the text of a shell."""
    if any(MARKS.search(word.shape) for word in words):
        return _joined(_TEXT, _loosely(words))
    found = _loosely(words)
    texts = [word.shape for word in words[1:] if re.search(r"[\s;|&$`<>(]", word.shape)]
    for text in texts:
        read = _text(text, analyse)
        found = _joined(found, Started(possible=(*read.commands, *read.possible), hidden=read.hidden))
    return found


def _joined(one: Started, other: Started) -> Started:
    return Started((*one.commands, *other.commands), (*one.possible, *other.possible), one.hidden or other.hidden)


def _builtin(name: str, command: SubCommand, shapes: list[str], analyse: Callable[[str], Analysis]) -> Started:
    changes = _CHANGES_COMMANDS.get(name)
    if name == "eval":
        text = " ".join(shapes[1:] if shapes[:1] == ["--"] else shapes)
        return _text(text, analyse) if all(word.known for word in command.core) else _TEXT
    if name == "trap":
        return _trap(shapes, analyse)
    if name in ("source", "."):
        return _INPUT
    if changes is not None and any(changes.fullmatch(shape) or MARKS.match(shape) for shape in shapes):
        return Started(hidden=f"{name} runs a text or gives a command another name")
    if name in _NAMES_VARIABLES and any("[" in shape or MARKS.search(shape) for shape in shapes):
        return Started(hidden=f"{name} evaluates the name of a variable")
    if name in _DECLARES and any(map(_evaluates, shapes)):
        return Started(hidden=f"{name} evaluates a value, or sets a variable whose text Bash runs")
    if name in ("test", "[", "[[") and _tests_names(name, command, shapes):
        return Started(hidden="a test evaluates the name of a variable")
    return _NOTHING


def _sets_run_variable(command: SubCommand) -> bool:
    alone = (command.name or "").endswith("=")
    names = [word.raw for word in command.words] if alone else [found.name for found in command.assignments]
    return any(map(_RUN_VARIABLES.match, names))


def _evaluates(shape: str) -> bool:
    name = shape.partition("=")[0]
    unknown = MARKS.search(name) or "[" in name
    return bool(unknown or _INTEGER_OR_REFERENCE.match(shape) or _RUN_VARIABLES.match(shape))


def _tests_names(name: str, command: SubCommand, shapes: list[str]) -> bool:
    """Return whether a test may evaluate the subscript of a name: `-v 'a[$(x)]'`, or numbers in `[[ ]]`."""
    if name == "[[":
        return _NUMERIC_TEST.search(command.source) is not None
    operands = shapes[:-1] if name == "[" else shapes
    operands = operands[1:] if operands[:1] == ["!"] else operands
    if "-v" in operands or "-R" in operands or any(SPLITS in shape for shape in operands):
        return True
    if not any(UNKNOWN in shape for shape in operands) or len(operands) == 1:
        return False
    operator = operands[-2]
    return len(operands) > 3 or MARKS.search(operator) is not None


def _trap(shapes: list[str], analyse: Callable[[str], Analysis]) -> Started:
    operands = shapes[1:] if shapes[:1] == ["--"] else shapes
    if not operands or operands[0] in ("-", "", "-l", "-p"):
        return _NOTHING
    return _text(operands[0], analyse)
