"""Bash: a text without special characters is split at its spaces; any other is parsed and scanned.

Law: a command is known only if every byte of it is accounted for. Whatever else it is (too long, too deep, not
parsed, read differently by two readers), the analysis has a `problem` and the caller is in doubt. `analyse_bash`
never raises and never hangs, whatever the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from hookwright.matching.shell.commands import Analysis, Assignment, SubCommand, Word, without_wrappers
from hookwright.matching.shell.started import Started, started
from hookwright.matching.shell.tree import ASSIGNMENT, is_misread, read_tree

if TYPE_CHECKING:
    from tree_sitter import Language

LENGTH_LIMIT = 10_000
"""Longer commands are not analysed."""

OPERATOR_LIMIT = 1_000
"""Commands with more pipes and parentheses are not analysed: the parser's time grows with their square."""

DEPTH_LIMIT = 8
"""How many texts inside texts (`sh -c "sh -c '…'"`) are read."""

_SIMPLE = re.compile(r"[A-Za-z0-9_./:=@%+,\- ]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_PARSED_APART = frozenset(["coproc", "declare", "export", "local", "readonly", "typeset", "unset", "unsetenv"])


@lru_cache(maxsize=1024)
def analyse_bash(command: str) -> Analysis:
    """Find the sub-commands of a Bash command, and the commands that these start."""
    try:
        return _analyse(command, DEPTH_LIMIT)
    except Exception as error:  # other people's code parses other people's text: what fails is in doubt
        return Analysis((), problem=f"the command cannot be read ({type(error).__name__})")


def _analyse(command: str, depth: int) -> Analysis:
    if not depth:
        return Analysis((), problem="the command has too many texts inside texts")
    read = _read(command)
    found = _started(read, depth)
    if found is None:
        return read
    return msgspec.structs.replace(read, started=found.commands, may_start=found.possible, hidden=found.hidden)


def _started(read: Analysis, depth: int) -> Started | None:
    every = [started(command, lambda text: _analyse(text, depth - 1)) for command in read.commands]
    telling = [found for found in every if found.commands or found.possible or found.hidden]
    if not telling:
        return None
    return Started(
        tuple(command for found in telling for command in found.commands),
        tuple(command for found in telling for command in found.possible),
        next((found.hidden for found in telling if found.hidden), None),
    )


def _read(command: str) -> Analysis:
    """Read one text."""
    if len(command) > LENGTH_LIMIT:
        return Analysis((), problem=f"the command is longer than {LENGTH_LIMIT:,} characters")
    control = _CONTROL.search(command)
    if control is not None:  # parts of words to Bash, and space to the parser
        name = {"\0": "a NUL character", "\r": "a carriage return"}.get(control[0], "a control character")
        return Analysis((), problem=f"the command contains {name}")
    if command.count("|") + command.count("(") > OPERATOR_LIMIT:
        return Analysis((), problem=f"the command has more than {OPERATOR_LIMIT:,} pipes and parentheses")
    simple = _simple(command)
    if simple is not None:
        return simple
    try:
        language = _language()
    except ImportError:
        return Analysis((), problem="reading this command needs hookwright[rules]: pip install 'hookwright[rules]'")
    return read_tree(language, command)


@lru_cache(maxsize=1)
def _language() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


def _simple(command: str) -> Analysis | None:
    """Split a command without operators, quotes and expansions; None if it may be more than one simple command."""
    if not _SIMPLE.fullmatch(command):
        return None
    texts = command.split()
    assignments: list[Assignment] = []
    while texts and (assigned := ASSIGNMENT.fullmatch(texts[0])):
        assignments.append(Assignment(assigned[1], texts.pop(0)))
    if not texts:
        return None if assignments else Analysis(())
    words = tuple(Word(text, text) for text in texts)
    core = without_wrappers(words)
    source = command.strip()
    bare = source
    for assignment in assignments:
        bare = bare.removeprefix(assignment.text).lstrip()
    found = SubCommand(source, bare, words, core, tuple(assignments))
    return None if is_misread(found) or words[0].raw in _PARSED_APART else Analysis((found,))
