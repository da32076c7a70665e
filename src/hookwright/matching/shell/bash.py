"""Bash: a text without special characters is split at its spaces; any other is parsed by tree-sitter.

A command the parser cannot read, is known to misread, or that is too long is a `problem`, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from hookwright.matching.shell.commands import (
    UNKNOWN,
    Analysis,
    Assignment,
    Redirection,
    SubCommand,
    Word,
    spelled,
    without_wrappers,
)

if TYPE_CHECKING:
    from tree_sitter import Language, Node

LENGTH_LIMIT = 10_000
"""Longer commands are not analysed."""

OPERATOR_LIMIT = 1_000
"""Commands with more pipes and parentheses are not analysed: the parser's time grows with their square."""

_SIMPLE = re.compile(r"[A-Za-z0-9_./:=@%+,\- ]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=.*", re.DOTALL)
_BRACES = re.compile(r"\{.*(,|\.\.).*\}", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_DESCRIPTOR = re.compile(r"[0-9]*-?")

_MARKS = ("!", "{", "}", "[[", "]]")
_RESERVED = ("case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then")
_KEYWORDS = frozenset([*_MARKS, *_RESERVED, "until", "while"])
_BEFORE_BLOCKS = frozenset(["time", "coproc"])
_PARSED_APART = frozenset(["coproc", "declare", "export", "local", "readonly", "typeset", "unset", "unsetenv"])

_EXPANSIONS = frozenset(["simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"])
_NOT_TEXT = _EXPANSIONS | {"process_substitution", "brace_expression", "ansi_c_string"}
_STATEMENTS = frozenset(["variable_assignments", "declaration_command", "unset_command", "test_command"])
_HOLDS_ASSIGNMENTS = _STATEMENTS | {"command", "c_style_for_statement"}
_ONE_LINE = frozenset(["command", "declaration_command", "unset_command", "file_redirect", "herestring_redirect"])
_REDIRECTS = frozenset(["file_redirect", "heredoc_redirect", "herestring_redirect"])


@lru_cache(maxsize=1024)
def analyse_bash(command: str) -> Analysis:
    """Return the sub-commands of a Bash command."""
    if len(command) > LENGTH_LIMIT:
        return Analysis((), problem=f"the command is longer than {LENGTH_LIMIT:,} characters")
    if UNKNOWN in command:
        return Analysis((), problem="the command contains a NUL character")
    if "\r" in command:  # part of a word in Bash, white space for the parser
        return Analysis((), problem="the command contains a carriage return")
    if command.count("|") + command.count("(") > OPERATOR_LIMIT:
        return Analysis((), problem=f"the command has more than {OPERATOR_LIMIT:,} pipes and parentheses")
    simple = _simple(command)
    if simple is not None:
        return simple
    try:
        language = _language()
    except ImportError:
        return Analysis((), problem="reading this command needs hookwright[rules]: pip install 'hookwright[rules]'")
    return _BashReader(language, command).read()


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
    while texts and (assigned := _ASSIGNMENT.fullmatch(texts[0])):
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
    return None if _is_misread(found) or words[0].raw in _PARSED_APART else Analysis((found,))


def _is_misread(command: SubCommand) -> bool:
    """Return whether the parser took a keyword for a program or an argument, or an assignment for a program."""
    first = command.core[0].raw
    if command.words[0].raw in _BEFORE_BLOCKS:
        return any(word.raw in _KEYWORDS for word in command.words) or bool(_ASSIGNMENT.fullmatch(first))
    return first in _KEYWORDS


class _BashReader:
    """Collects the sub-commands of one parsed text."""

    def __init__(self, language: Language, command: str) -> None:
        import tree_sitter

        # tree-sitter-bash 0.25 crashes the process on `{` before some non-ASCII characters. For Bash they are parts of
        # words, as `_` is; with one byte per character, the parser's offsets are those of the text.
        self.source = command
        self.root = tree_sitter.Parser(language).parse(_NOT_ASCII.sub("_", command).encode()).root_node

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte]

    def read(self) -> Analysis:
        """Analyse the whole tree in one pass."""
        problem = "the command cannot be parsed" if self.root.has_error else None
        commands: list[SubCommand] = []
        redirections: list[Redirection] = []
        expands = False
        for node, parent in self.nodes():
            if node.type in _EXPANSIONS:
                expands = True
                text = self.text(node)
                if text.startswith("`") and "\\`" in text:
                    problem = problem or "nested backticks are not analysed"
            elif node.type == "command":
                found = self.command(node, parent)
                commands += found
                if any(map(_is_misread, found)):
                    problem = problem or "the parser found a keyword or an assignment where a program belongs"
            elif node.type in _STATEMENTS:
                commands.append(self.statement(node, node.children))
            elif node.type == "variable_assignment" and parent.type not in _HOLDS_ASSIGNMENTS:
                commands.append(self.statement(node, [node]))
            elif node.type == "file_redirect":
                targets, words = self.redirection(node)
                redirections += targets
                if words and not any(child.type == "command" for child in parent.children):
                    problem = problem or "the parser took a command for the target of a redirection"
            if self.joins_lines(node):
                problem = problem or "the parser took two lines for one command"
        return Analysis(tuple(commands), expands, problem, tuple(redirections))

    def nodes(self) -> Iterator[tuple[Node, Node]]:
        """Yield all nodes with their parents, in the order of the text."""
        waiting = [(self.root, self.root)]
        while waiting:
            node, parent = waiting.pop()
            yield node, parent
            waiting.extend((child, node) for child in reversed(node.children))

    def joins_lines(self, node: Node) -> bool:
        """Return whether the parser missed the end of a line, as after `==`, or of an assignment."""
        gaps = [self.source[left.end_byte : right.start_byte] for left, right in pairwise(node.children)]
        if node.type == "variable_assignment":
            return any(gaps)
        looked_at = gaps if node.type in _ONE_LINE else [self.text(node)] if node.type in ("word", "regex") else []
        return any("\n" in text.replace("\\\n", "") for text in looked_at)

    def word(self, node: Node) -> Word:
        return Word(self.text(node), self.shape(node))

    def statement(self, node: Node, words: Iterable[Node]) -> SubCommand:
        """Return an assignment, a declaration or a test as a sub-command."""
        made = tuple(map(self.word, words))
        return SubCommand(self.text(node), self.text(node), made, made)

    def command(self, node: Node, parent: Node) -> list[SubCommand]:
        """Return a node as a sub-command; None if the parser invented its name."""
        around = parent if parent.type == "redirected_statement" else node
        assignments: list[Assignment] = []
        words: list[Node] = []
        redirections: list[Redirection] = []
        outer = () if around is node else (child for child in around.children if child.type in _REDIRECTS)
        for child in (*node.children, *outer):
            if child.type == "variable_assignment":
                name = child.child_by_field_name("name")
                assignments.append(Assignment(self.text(name) if name else "", self.text(child)))
            elif child.type in _REDIRECTS:
                found, more = self.redirection(child)
                redirections += found
                words += more
            elif child.type != "subshell" and child.start_byte < child.end_byte:
                words.append(child)
        if not words:
            return []
        made = tuple(map(self.word, words))
        together = words[-1].end_byte <= node.end_byte
        bare = self.source[words[0].start_byte : node.end_byte] if together else spelled(made)
        core = without_wrappers(made)
        return [SubCommand(self.text(around), bare, made, core, tuple(assignments), tuple(redirections))]

    def redirection(self, node: Node) -> tuple[list[Redirection], list[Node]]:
        """Split a redirection into its parts; the parser takes the arguments after it for further targets."""
        if node.type == "herestring_redirect":
            return [], []
        if node.type == "heredoc_redirect":
            found: list[Redirection] = []
            words = node.children_by_field_name("argument")
            for child in node.children_by_field_name("redirect"):
                inner, more = self.redirection(child)
                found += inner
                words += more
            return found, words
        operator = "".join(self.text(child) for child in node.children if not child.is_named)
        targets = node.children_by_field_name("destination")
        if operator.endswith("-") or not targets:
            return [], targets
        target = self.word(targets[0])
        if operator.endswith("&") and _DESCRIPTOR.fullmatch(target.raw):
            return [], targets[1:]
        return [Redirection(operator, target)], targets[1:]

    def shape(self, node: Node) -> str:
        """Return the value of a word, without quotes and with unknown parts marked."""
        text = self.text(node)
        if node.type in _NOT_TEXT or (node.type in ("word", "concatenation") and _BRACES.search(text)):
            return UNKNOWN
        if node.type == "raw_string":
            return text[1:-1]
        quoted = node.type == "string"
        escape = _ESCAPE_IN_QUOTES if quoted else _ESCAPE
        start, end = (node.start_byte + 1, node.end_byte - 1) if quoted else (node.start_byte, node.end_byte)
        shape = ""
        for child in node.children:
            if child.type == "string_content" or (quoted and not child.is_named):
                continue
            shape += escape.sub(_unescaped, self.source[start : child.start_byte]) + self.shape(child)
            start = child.end_byte
        return shape + escape.sub(_unescaped, self.source[start:end])


def _unescaped(escape: re.Match[str]) -> str:
    return "" if escape[1] == "\n" else escape[1]
