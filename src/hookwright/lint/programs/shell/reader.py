"""Shell programs -> statements, by the tree that tree-sitter makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from hookwright.errors import MissingExtra
from hookwright.lint.programs.blocks import checked, leaves_always, printed, redirected
from hookwright.lint.programs.ir import (
    Arm,
    Asks,
    Block,
    Branch,
    CodePlace,
    EnvRead,
    FieldRead,
    Hole,
    Inner,
    Language,
    Loop,
    Program,
    Stdin,
    Steps,
    Stmt,
    Stream,
    Test,
    Text,
    Within,
    text,
)
from hookwright.lint.programs.shell.bashisms import find_bashisms
from hookwright.lint.programs.shell.commands import read_command, with_redirects
from hookwright.lint.programs.shell.tests import read_condition, read_conditions
from hookwright.lint.programs.shell.words import (
    after,
    assign,
    joined,
    read_pattern,
    read_word,
    spaced,
    without_last_newline,
)

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node

EVENT = text(Hole(frozenset({"event"})))

_LISTS = frozenset(["program", "compound_statement", "do_group", "else_clause"])
_INLINED = 6


@lru_cache(maxsize=1)
def _parser() -> tree_sitter.Parser:
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError:
        raise MissingExtra("Reading shell scripts", "lint") from None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse_shell(source: str) -> Node:
    """Parse shell text; the node knows its own source bytes."""
    return _parser().parse(source.encode("utf-8", "surrogatepass")).root_node


def read_shell(source: str, path: str = "", known: Mapping[str, str] | None = None) -> Program:
    """Read a shell program; `known` are variables whose values are certain."""
    root = parse_shell(source)
    reader = ShellReader(source, path, known or {})
    body = tuple(reader.block(root.children))
    return Program(
        language=Language.SHELL,
        text=source,
        body=body,
        env=tuple(reader.env),
        fields=tuple(reader.fields),
        assigned=frozenset(reader.assigned),
        errexit=reader.errexit or _shebang_errexit(source),
        pipefail=reader.pipefail,
        includes=reader.includes,
        path=path,
        bashisms=tuple(find_bashisms(root)),
    )


def _shebang_errexit(source: str) -> bool:
    first = source.split("\n", 1)[0]
    return first.startswith("#!") and any(word.startswith("-") and "e" in word for word in first.split()[1:])


class Input(msgspec.Struct, frozen=True):
    """The stdin of the commands at a place."""

    kind: Stdin = Stdin.EVENT
    text: Text = EVENT


class ShellReader:
    """Reads one shell text from its first statement to its last, with the variables as they are at each place."""

    def __init__(self, source: str, path: str, known: Mapping[str, str]) -> None:
        self.data = source.encode("utf-8", "surrogatepass")
        self.path = path
        self.variables: dict[str, Text] = {name: text(value) for name, value in known.items()}
        self.known = frozenset(known)
        if path:
            self.variables["0"] = text(path)
            self.variables["BASH_SOURCE"] = text(path)
        self.functions: dict[str, Node] = {}
        self.inlining: list[str] = []
        self.input = Input()
        self.env: list[EnvRead] = []
        self.fields: list[FieldRead] = []
        self.assigned: set[str] = set()
        self.errexit = False
        self.pipefail = False
        self.includes = False
        #: Where `exec >…` turned both streams.
        self.turned = (Stream.OUT, Stream.ERR)
        self.steps = Steps()
        #: Values of substitutions while no variable changes; a word is read more than once.
        self.substituted: dict[tuple[int, int], tuple[Text, list[Stmt]]] = {}
        self.version = 0

    # ── small things ────────────────────────────────────────────────────────

    def source(self, node: Node) -> str:
        """Return the source of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def place(self, node: Node) -> CodePlace:
        """Return where a node begins."""
        return CodePlace(node.start_point[0] + 1, node.start_point[1] + 1)

    def word(self, node: Node) -> Text:
        """Return the value of a word."""
        return read_word(self, node)

    def inner(self, code: str) -> Program:
        """Read a shell program inside this one."""
        return read_shell(code)

    def reading(self, kind: Stdin, value: Text, body: Callable[[], list[Stmt]]) -> list[Stmt]:
        """Read something with another stdin."""
        before, self.input = self.input, Input(kind, value)
        try:
            return body()
        finally:
            self.input = before

    # ── statements ──────────────────────────────────────────────────────────

    def block(self, nodes: Iterable[Node]) -> list[Stmt]:
        """Read statements one after the other, up to one that surely leaves."""
        found: list[Stmt] = []
        several = list(nodes)
        for index, node in enumerate(several):
            if not node.is_named or node.type == "comment":
                continue
            self.steps.take()
            made = list(redirected(tuple(self.statement(node)), *self.turned))
            if index + 1 < len(several) and several[index + 1].type == "&":
                made = [Within(self.place(node), Inner.BACKGROUND, tuple(made))]
            found += made
            if leaves_always(tuple(made)) or self._returns(node):
                break
        return found

    def _returns(self, node: Node) -> bool:
        return bool(self.inlining) and node.type == "command" and self.source(node).split()[:1] == ["return"]

    def statement(self, node: Node) -> list[Stmt]:
        """Read one statement."""
        match node.type:
            case "command" | "test_command":
                return read_command(self, node, ())
            case "redirected_statement":
                return self._redirected(node)
            case "list":
                return self._list(node)
            case "pipeline":
                return self.pipeline([child for child in node.children if child.is_named])
            case "if_statement":
                return self._if(node)
            case "case_statement":
                return self._case(node)
            case "while_statement" | "for_statement" | "c_style_for_statement":
                return self._loop(node)
            case "subshell":
                return [Within(self.place(node), Inner.SUBSHELL, tuple(self._apart(node.children)))]
            case "function_definition":
                return self._define(node)
            case "variable_assignment":
                return assign(self, node)
            case "variable_assignments" | "declaration_command":
                parts = [child for child in node.children if child.type == "variable_assignment"]
                return [stmt for part in parts for stmt in assign(self, part)]
            case "negated_command":
                return [stmt for child in node.children if child.is_named for stmt in self.statement(child)]
            case kind if kind in _LISTS:
                return self.block(node.children)
        return []

    def _define(self, node: Node) -> list[Stmt]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[self.source(name)] = body
        return []

    def inline(self, name: str, arguments: Sequence[Text]) -> list[Stmt] | None:
        """Read the body of a function at the place of its call; None when there is no such function."""
        body = self.functions.get(name)
        if body is None or name in self.inlining or len(self.inlining) >= _INLINED:
            return None
        outer = {key: self.variables.get(key) for key in [*"123456789", "@", "*"]}
        self.version += 1
        for number in range(1, 10):
            self.variables[str(number)] = arguments[number - 1] if number <= len(arguments) else text("")
        self.variables["@"] = self.variables["*"] = text(*spaced(arguments))
        self.inlining.append(name)
        try:
            return self.block(body.children if body.type != "subshell" else [body])
        finally:
            self.inlining.pop()
            self.version += 1
            for key, value in outer.items():
                if value is None:
                    self.variables.pop(key, None)
                else:
                    self.variables[key] = value

    def _apart(self, nodes: Iterable[Node]) -> list[Stmt]:
        """Read something that changes no variable of ours."""
        before, version = dict(self.variables), self.version
        found = self.block(nodes)
        self.variables, self.version = before, version
        return found

    def substitution(self, node: Node) -> tuple[Text, list[Stmt]]:
        """Read `$( … )`: what it prints, and what happens in it."""
        key = (node.start_byte, self.version)
        if key not in self.substituted:
            self.substituted[key] = self._substitution(node)
        return self.substituted[key]

    def _substitution(self, node: Node) -> tuple[Text, list[Stmt]]:
        body = tuple(self._apart(node.children))
        value = without_last_newline(printed(body))
        quiet = redirected(body, Stream.AWAY, Stream.ERR)
        return value, [Within(self.place(node), Inner.SUBSTITUTION, quiet)] if body else []

    # ── redirections, lists and pipes ───────────────────────────────────────

    def _redirected(self, node: Node) -> list[Stmt]:
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        body = node.child_by_field_name("body")
        here = next((child for child in redirects if child.type == "heredoc_redirect"), None)
        if body is None:
            return []
        if body.type in ("command", "test_command"):
            found = read_command(self, body, redirects)
        else:
            found = with_redirects(self, redirects, lambda: self.statement(body))
        return found if here is None else self._after_heredoc(here, found)

    def _after_heredoc(self, node: Node, found: list[Stmt]) -> list[Stmt]:
        """Read what the grammar puts after the here-document: `<<EOF | jq .`, `<<EOF || true`."""
        pipe = next((child for child in node.children if child.type == "pipeline"), None)
        if pipe is not None:
            stages = [child for child in pipe.children if child.is_named]
            return self._pipe_into(stages, found)
        right = node.child_by_field_name("right")
        if right is None:
            return found
        operator = node.child_by_field_name("operator")
        test = Test(self.place(node), Asks.STATUS, negated=operator is not None and self.source(operator) == "||")
        return [*checked(tuple(found)), Branch(self.place(node), (Arm(test, tuple(self.statement(right))),))]

    def _list(self, node: Node) -> list[Stmt]:
        parts = [child for child in node.children if child.is_named]
        if len(parts) != 2:
            return [stmt for part in parts for stmt in self.statement(part)]
        left, right = parts
        either = any(child.type == "||" for child in node.children)
        if either and left.type == "list" and any(child.type == "&&" for child in left.children):
            first = [child for child in left.children if child.is_named]
            before, test = read_condition(self, first[0])
            return self._branch(node, before, [(test, first[1:])], [right])
        before, test = read_condition(self, left)
        if either:
            test = replace(test, negated=not test.negated)
        return self._branch(node, before, [(test, [right])], [])

    def _branch(
        self, node: Node, before: list[Stmt], arms: list[tuple[Test, list[Node]]], otherwise: list[Node]
    ) -> list[Stmt]:
        """Read the arms of a branch, each with the variables before it, and join the results."""
        start = dict(self.variables)
        ends: list[dict[str, Text]] = []

        def side(nodes: list[Node]) -> Block:
            self.variables = dict(start)
            self.version += 1
            body = tuple(self.block(nodes))
            if not leaves_always(body):
                ends.append(self.variables)
            return body

        made = tuple(Arm(test, side(nodes)) for test, nodes in arms)
        rest = side(otherwise)
        self.variables = joined(ends) if ends else start
        self.version += 1
        return [*before, Branch(self.place(node), made, rest)]

    def pipeline(self, stages: Sequence[Node]) -> list[Stmt]:
        """Read a pipeline; the value that each stage prints is what the next one reads."""
        first = self._stage(stages[0])
        return self._pipe_into(stages[1:], first)

    def _pipe_into(self, stages: Sequence[Node], found: list[Stmt]) -> list[Stmt]:
        before: list[Stmt] = []
        for stage in stages:
            value = printed(tuple(found))
            before += redirected(tuple(found), Stream.AWAY, Stream.ERR)
            found = self.reading(Stdin.PIPE, value, lambda stage=stage: self._stage(stage))  # type: ignore[misc]
        return [*checked(tuple(before)), *found] if not self.pipefail else [*before, *found]

    def _stage(self, node: Node) -> list[Stmt]:
        if node.type in ("command", "redirected_statement", "test_command") and not self._is_function(node):
            return self.statement(node)
        return [Within(self.place(node), Inner.PIPE, tuple(self._apart([node])))]

    def _is_function(self, node: Node) -> bool:
        body = node.child_by_field_name("body") if node.type == "redirected_statement" else node
        name = body.child_by_field_name("name") if body is not None and body.type == "command" else None
        return body is not None and (name is None or self.source(name) in self.functions)

    # ── branches and loops ──────────────────────────────────────────────────

    def _if(self, node: Node) -> list[Stmt]:
        before, test = read_conditions(self, node.children_by_field_name("condition"))
        arms = [(test, after(node, "then"))]
        otherwise: list[Node] = []
        for child in node.children:
            if child.type == "elif_clause":
                parts = [part for part in child.children if part.is_named]
                nodes = after(child, "then")
                more, question = read_conditions(self, [part for part in parts if part not in nodes])
                before += more
                arms.append((question, nodes))
            elif child.type == "else_clause":
                otherwise = [part for part in child.children if part.is_named]
        return self._branch(node, before, arms, otherwise)

    def _case(self, node: Node) -> list[Stmt]:
        value = node.child_by_field_name("value")
        subject = self.word(value) if value is not None else Text()
        arms: list[tuple[Test, list[Node]]] = []
        otherwise: list[Node] = []
        for item in (child for child in node.children if child.type == "case_item"):
            patterns = tuple(read_pattern(self, part) for part in item.children_by_field_name("value"))
            values = item.children_by_field_name("value")
            body = [child for child in item.children if child.is_named and child not in values]
            if patterns == ("*",):
                otherwise = body
            else:
                arms.append((Test(self.place(item), Asks.GLOB, subject.origins, patterns), body))
        return self._branch(node, [], arms, otherwise)

    def _loop(self, node: Node) -> list[Stmt]:
        before: list[Stmt] = []
        body = node.child_by_field_name("body")
        if node.type == "while_statement":
            before, _ = read_conditions(self, node.children_by_field_name("condition"))
        elif node.type == "for_statement":
            self._bind_loop(node)
        found = self.block(body.children) if body is not None else []
        return [*before, Loop(self.place(node), tuple(found))]

    def _bind_loop(self, node: Node) -> None:
        name = node.child_by_field_name("variable")
        words = [self.word(child) for child in node.children_by_field_name("value")]
        if name is None:
            return
        constants = tuple(word.constant for word in words)
        origins = frozenset(origin for word in words for origin in word.origins)
        choices = tuple(item for item in constants if item is not None) if None not in constants else ()
        self.variables[self.source(name)] = text(Hole(origins, choices))
        self.assigned.add(self.source(name))
