"""Bash as tree-sitter reads it, believed only where an independent scan of the text finds the same.

What the parser cannot read, what it is known to misread, and where the two readers differ is a `problem`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from hookwright.matching.shell.commands import (
    SPLITS,
    UNKNOWN,
    Analysis,
    Assignment,
    Redirection,
    SubCommand,
    Word,
    spelled,
    without_wrappers,
)
from hookwright.matching.shell.scan import Scan, scan

if TYPE_CHECKING:
    from tree_sitter import Language, Node

ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=.*", re.DOTALL)
_ASSIGNS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=")
_BRACES = re.compile(r"\{.*(,|\.\.).*\}", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LONE_DASH = re.compile(r"(?<=[ \t])-(?=[ \t]+<<)")
_DESCRIPTOR = re.compile(r"[0-9]*-?")
_SPACE = re.compile(r"\s")
_GLOB = re.compile(r"[*?\[]|[@+!]\(")
_NUMBER = re.compile(r"\$[?#$!]|\$\{#.*\}", re.DOTALL)
_SEVERAL = re.compile(r"\$@|\$\{.*[@*]", re.DOTALL)
_STEADY = re.compile(r"\$\{?(HOME|PWD|CLAUDE_PROJECT_DIR)\}?")
_INDEX = re.compile(r"[@*]|[0-9]+")

_MARKS = ("!", "{", "}", "[[", "]]")
_RESERVED = ("case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then")
_KEYWORDS = frozenset([*_MARKS, *_RESERVED, "until", "while"])
_BEFORE_BLOCKS = frozenset(["time", "coproc"])

_EXPANSIONS = frozenset(["simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"])
_STATEMENTS = frozenset(["variable_assignments", "declaration_command", "unset_command", "test_command"])
_HOLDS_ASSIGNMENTS = _STATEMENTS | {"command", "c_style_for_statement"}
_TESTED = frozenset(["binary_expression", "parenthesized_expression", "ternary_expression", "unary_expression"])
_ONE_LINE = frozenset(["command", "declaration_command", "unset_command", "file_redirect", "herestring_redirect"])
_REDIRECTS = frozenset(["file_redirect", "heredoc_redirect", "herestring_redirect"])
_OPENINGS = {
    "ansi_c_string": 2,
    "arithmetic_expansion": 3,
    "command_substitution": 2,
    "expansion": 2,
    "process_substitution": 2,
    "raw_string": 1,
    "simple_expansion": 1,
    "string": 1,
}


def read_tree(language: Language, command: str) -> Analysis:
    """Parse and scan a command; find its sub-commands."""
    return _TreeReader(language, command).read()


def is_misread(command: SubCommand) -> bool:
    """Return whether the parser took a keyword for a program or an argument, or an assignment for a program."""
    first = command.core[0].raw
    if _ASSIGNS.match(first) or _ASSIGNS.match(command.words[0].raw):
        return True
    if command.words[0].raw in _BEFORE_BLOCKS:
        return any(word.raw in _KEYWORDS for word in command.words)
    return first in _KEYWORDS


class _TreeReader:
    """Collects the sub-commands of one parsed text."""

    def __init__(self, language: Language, command: str) -> None:
        import tree_sitter

        # tree-sitter-bash 0.25 crashes the process on `{` before some non-ASCII characters, and loses a `-` before a
        # here-document. For Bash they are parts of words, as `_` is; with one byte per character, the parser's offsets
        # are those of the text.
        self.source = command
        text = _LONE_DASH.sub("_", _NOT_ASCII.sub("_", command))
        self.root = tree_sitter.Parser(language).parse(text.encode()).root_node
        self.scan = scan(command)
        #: Whether the parser put a space between the parts of a word.
        self.spaced = False
        self.problem = "the command cannot be parsed" if self.root.has_error else self.scan.problem

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte]

    def read(self) -> Analysis:
        """Analyse the whole tree in one pass."""
        commands: list[SubCommand] = []
        redirections: list[Redirection] = []
        expands = False
        seen = _Seen()
        for node, parent in self.nodes():
            kind = node.type
            seen.note(node, self.source)
            if kind in _EXPANSIONS:
                expands = True
            elif kind == "command":
                found = self.command(node, parent)
                commands += found
                if any(map(is_misread, found)):
                    self.doubt("the parser found a keyword or an assignment where a program belongs")
            elif kind in _STATEMENTS:
                commands.append(self.statement(node, _leaves(node)))
            elif kind == "variable_assignment" and parent.type not in _HOLDS_ASSIGNMENTS:
                commands.append(self.statement(node, [node]))
            elif kind == "file_redirect":
                targets, words = self.redirection(node)
                redirections += targets
                if words and not any(child.type == "command" for child in parent.children):
                    self.doubt("the parser takes a command for the target of a redirection")
            elif kind == "subscript" and not self.has_plain_index(node):
                self.doubt("the subscript of an array is evaluated")
            if self.joins_lines(node):
                self.doubt("the parser takes two lines for one command")
        self.doubt(seen.difference(self.scan))
        return Analysis(
            tuple(commands),
            expands,
            self.problem,
            tuple(redirections),
            self.scan.expands_document,
            defers=any(child.type == "&" for child in self.root.children),
        )

    def doubt(self, problem: str | None) -> None:
        self.problem = self.problem or problem

    def nodes(self) -> Iterator[tuple[Node, Node]]:
        """Yield all nodes with their parents, in the order of the text."""
        waiting = [(self.root, self.root)]
        while waiting:
            node, parent = waiting.pop()
            yield node, parent
            waiting.extend((child, node) for child in reversed(node.children))

    def has_plain_index(self, node: Node) -> bool:
        index = node.child_by_field_name("index")
        return index is not None and _INDEX.fullmatch(self.text(index)) is not None

    def joins_lines(self, node: Node) -> bool:
        """Return whether the parser overlooks the end of a line, as after `==`, or that of an assignment."""
        if node.type == "variable_assignment":
            return any(left.end_byte < right.start_byte for left, right in pairwise(node.children))
        if node.type in _ONE_LINE:
            gaps = [self.source[left.end_byte : right.start_byte] for left, right in pairwise(node.children)]
        else:
            gaps = [self.text(node)] if node.type in ("word", "regex") else []
        return any("\n" in text.replace("\\\n", "") for text in gaps)

    def word(self, node: Node) -> Word:
        shape, globs = self.shape(node)
        return Word(self.text(node), shape, globs)

    def statement(self, node: Node, words: Iterable[Node]) -> SubCommand:
        """Return an assignment, a declaration or a test as a sub-command."""
        made = tuple(map(self.word, words))
        return SubCommand(self.text(node), self.text(node), made, made)

    def command(self, node: Node, parent: Node) -> list[SubCommand]:
        """Make a sub-command of a node; none if the parser made up its name."""
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
                if child.start_byte > around.start_byte and child.start_byte in self.scan.after_separator:
                    self.doubt("the parser takes a redirection of another command for one of this")
            elif child.type != "subshell" and child.start_byte < child.end_byte:
                words.append(child)
        if not words:
            return []
        self.check_words(words)
        self.spaced = False
        made = tuple(map(self.word, words))
        if self.spaced:
            self.doubt("the parser takes two words for one")
        together = words[-1].end_byte <= node.end_byte
        bare = self.source[words[0].start_byte : node.end_byte] if together else spelled(made)
        core = without_wrappers(made)
        return [SubCommand(self.text(around), bare, made, core, tuple(assignments), tuple(redirections))]

    def check_words(self, words: list[Node]) -> None:
        """Compare the words of a command with those of the scan: the same, and none after a separator."""
        starts = [word.start_byte for word in words]
        if not self.scan.words.issuperset(starts) or not self.scan.after_separator.isdisjoint(starts[1:]):
            self.doubt("the words of a command are not clear")

    def redirection(self, node: Node) -> tuple[list[Redirection], list[Node]]:
        """Split a redirection; the parser takes arguments that follow it for further targets."""
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

    def shape(self, node: Node) -> tuple[str, bool]:
        """Return the text of a word without quotes and with unknown parts marked, and whether it has a glob."""
        pieces: list[str] = []
        globs = False
        waiting: list[tuple[Node | tuple[int, int], bool]] = [(node, False)]
        while waiting:
            part, quoted = waiting.pop()
            if isinstance(part, tuple):
                text = self.source[slice(*part)]
                self.spaced = self.spaced or (not quoted and _SPACE.search(_ESCAPE.sub("", text)) is not None)
                globs = globs or (not quoted and _GLOB.search(_ESCAPE.sub("", text)) is not None)
                pieces.append((_ESCAPE_IN_QUOTES if quoted else _ESCAPE).sub(_unescaped, text))
            elif (mark := self.mark(part, quoted)) is not None:
                pieces.append(mark)
            elif part.type == "raw_string":
                pieces.append(self.text(part)[1:-1])
            else:
                waiting += reversed(list(self.parts(part, quoted)))
        return "".join(pieces), globs

    def parts(self, node: Node, quoted: bool) -> Iterator[tuple[Node | tuple[int, int], bool]]:
        """Yield the children of a word and the text between them."""
        string = node.type == "string"
        quoted = quoted or string
        start, end = (node.start_byte + 1, node.end_byte - 1) if string else (node.start_byte, node.end_byte)
        for child in node.children:
            if child.type == "string_content" or (quoted and not child.is_named):
                continue
            yield (start, child.start_byte), quoted
            yield child, quoted
            start = child.end_byte
        yield (start, end), quoted

    def mark(self, node: Node, quoted: bool) -> str | None:
        """Return the mark of a part that is not known before the run."""
        text = self.text(node)
        if node.type in _EXPANSIONS:
            one_word = not _SEVERAL.match(text) if quoted else _NUMBER.fullmatch(text) or self.is_steady(text)
            return UNKNOWN if one_word or node.type == "arithmetic_expansion" else SPLITS
        if node.type in ("process_substitution", "ansi_c_string"):
            return UNKNOWN
        braces = node.type in ("word", "concatenation", "brace_expression") and _BRACES.search(text)
        return SPLITS if braces or node.type == "brace_expression" else None

    def is_steady(self, text: str) -> bool:
        """Return whether a variable is one that the shell sets to a directory, and that the text does not set."""
        found = _STEADY.fullmatch(text)
        return found is not None and re.search(rf"(?<![${{])\b{found[1]}\b", self.source) is None


class _Seen:
    """What the tree has at each place, to be compared with the scan."""

    def __init__(self) -> None:
        self.begun: set[int] = set()
        self.opened: dict[int, str] = {}
        self.comments: set[int] = set()
        self.ends: set[int] = set()

    def note(self, node: Node, source: str) -> None:
        """Note where a node begins."""
        start = node.start_byte
        self.begun.add(start)
        length = _OPENINGS.get(node.type)
        if length is not None:
            self.opened[start] = "`" if source[start] == "`" else source[start : start + length]
        elif node.type == "comment":
            self.comments.add(start)
        elif node.type == "heredoc_end":
            self.ends.add(start)

    def difference(self, scan: Scan) -> str | None:
        """Return what the scan found elsewhere or did not find, if anything."""
        if self.opened != scan.opened:
            return "an expansion or a quote is not read alike by the parser and by a second look at the text"
        if self.comments != scan.comments or self.ends != scan.ends:
            return "a comment or a here-document is not read alike by the parser and by a second look at the text"
        if not self.begun.issuperset(scan.words):
            return "the words are not read alike by the parser and by a second look at the text"
        return None


def _leaves(node: Node) -> Iterator[Node]:
    """Yield the children of a statement; those of a test without the expressions around them."""
    waiting = list(reversed(node.children))
    while waiting:
        child = waiting.pop()
        if child.type in _TESTED:
            waiting += reversed(child.children)
        else:
            yield child


def _unescaped(escape: re.Match[str]) -> str:
    return "" if escape[1] == "\n" else escape[1]
