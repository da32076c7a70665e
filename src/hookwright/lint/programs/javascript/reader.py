"""JavaScript programs -> statements, by the tree that tree-sitter makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from hookwright.errors import MissingExtra
from hookwright.lint.programs.blocks import leaves_always
from hookwright.lint.programs.ir import (
    Arm,
    Asks,
    Block,
    Branch,
    Catch,
    CodePlace,
    EnvRead,
    FieldRead,
    Hole,
    How,
    Language,
    Leave,
    Loop,
    Object,
    Program,
    Steps,
    Stmt,
    Test,
    Text,
    Try,
    Value,
    origins_of,
    text,
)
from hookwright.lint.programs.javascript.calls import iterated, read_statement
from hookwright.lint.programs.javascript.tests import read_test
from hookwright.lint.programs.javascript.values import read_value, store
from hookwright.lint.programs.values import element, field, item, joined, patterns_of

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node

_INLINED = 6
_FUNCTIONS = frozenset(["arrow_function", "function_expression", "function_declaration", "generator_function"])
_ENDS = frozenset(["return_statement", "break_statement", "continue_statement", "throw_statement"])


@lru_cache(maxsize=1)
def _parser() -> tree_sitter.Parser:
    try:
        import tree_sitter
        import tree_sitter_javascript
    except ImportError:
        raise MissingExtra("Reading JavaScript", "lint") from None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))


def parse_javascript(source: str) -> Node:
    """Parse JavaScript text."""
    return _parser().parse(source.encode("utf-8", "surrogatepass")).root_node


def read_javascript(source: str, path: str = "", *, event: bool = True) -> Program:
    """Read a JavaScript program; without `event` its stdin is not the event. A broken text gives an empty program."""
    root = parse_javascript(source)
    if root.has_error:
        return Program(Language.JAVASCRIPT, source, path=path)
    reader = JavaScriptReader(source, path, event)
    body = tuple(reader.block(root.children))
    return Program(
        language=Language.JAVASCRIPT,
        text=source,
        body=body,
        env=tuple(reader.env),
        fields=tuple(reader.fields),
        includes=reader.includes,
        path=path,
    )


class JavaScriptReader:
    """Reads one module from its first statement to its last, calls of its own functions and callbacks included."""

    def __init__(self, source: str, path: str, event: bool) -> None:
        self.data = source.encode("utf-8", "surrogatepass")
        self.path = path
        self.event = event
        self.variables: dict[str, Value] = {"__filename": text(path) if path else text(Hole())}
        self.functions: dict[str, Node] = {}
        self.inlining: list[int] = []
        self.returned: list[Value] = []
        self.last_returned: list[Value] = []
        #: What the returned conditions of the function that was read last ask.
        self.answers: list[Test] = []
        self.env: list[EnvRead] = []
        self.fields: list[FieldRead] = []
        self.includes = False
        self.effects: list[Stmt] = []
        self.steps = Steps()

    def source(self, node: Node) -> str:
        """Return the source of a node."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "surrogatepass")

    def place(self, node: Node) -> CodePlace:
        """Return where a node begins."""
        return CodePlace(node.start_point[0] + 1, node.start_point[1] + 1)

    def value(self, node: Node | None) -> Value:
        """Return the value of an expression."""
        return read_value(self, node) if node is not None else None

    def test(self, node: Node) -> Test:
        """Return the test of a condition."""
        return read_test(self, node)

    # ── statements ──────────────────────────────────────────────────────────

    def block(self, nodes: Sequence[Node]) -> list[Stmt]:
        """Read statements one after the other, up to one that surely leaves."""
        for node in nodes:
            self._hoist(node)
        found: list[Stmt] = []
        for node in nodes:
            if not node.is_named:
                continue
            self.steps.take()
            made = self._with_effects(lambda node=node: self.statement(node))  # type: ignore[misc]
            found += made
            if leaves_always(tuple(made)) or node.type in _ENDS:
                break
        return found

    def _hoist(self, node: Node) -> None:
        """Collect functions before they are called, wherever they are in their block."""
        if node.type == "export_statement":
            for child in node.children:
                self._hoist(child)
        if node.type == "function_declaration":
            name = node.child_by_field_name("name")
            if name is not None:
                self.functions[self.source(name)] = node
        elif node.type in ("lexical_declaration", "variable_declaration"):
            for part in node.named_children:
                name, found = part.child_by_field_name("name"), part.child_by_field_name("value")
                if name is not None and found is not None and found.type in _FUNCTIONS:
                    self.functions[self.source(name)] = found

    def _with_effects(self, body: Callable[[], list[Stmt]]) -> list[Stmt]:
        outer, self.effects = self.effects, []
        made = body()
        found, self.effects = [*self.effects, *made], outer
        return found

    def statement(self, node: Node) -> list[Stmt]:
        """Read one statement."""
        match node.type:
            case "expression_statement":
                return read_statement(self, node.named_children[0]) if node.named_children else []
            case "lexical_declaration" | "variable_declaration":
                return self._declare(node)
            case "if_statement":
                return [self._if(node)]
            case "statement_block" | "else_clause" | "export_statement" | "labeled_statement":
                return self.block(node.named_children)
            case "return_statement":
                return self._return(node)
            case "throw_statement":
                return self._throw(node)
            case "for_in_statement" | "for_statement" | "while_statement" | "do_statement":
                return self._loop(node)
            case "try_statement":
                return self._try(node)
            case "switch_statement":
                return [self._switch(node)]
            case "import_statement":
                self._import(node)
        return []

    def _declare(self, node: Node) -> list[Stmt]:
        for part in node.named_children:
            name, source = part.child_by_field_name("name"), part.child_by_field_name("value")
            if name is not None and (source is None or source.type not in _FUNCTIONS):
                self.bind(name, self.value(source))
        return []

    def bind(self, target: Node, found: Value) -> None:
        """Assign a value to a variable or a pattern of variables."""
        match target.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                self.variables[self.source(target)] = found
            case "object_pattern":
                for child in target.named_children:
                    self._bind_member(child, found)
            case "array_pattern":
                for index, child in enumerate(target.named_children):
                    self.bind(child, item(found, index))
            case "assignment_pattern" | "object_assignment_pattern":
                left = target.child_by_field_name("left")
                if left is not None:
                    self.bind(left, found)
            case "member_expression" | "subscript_expression":
                store(self, target, found)

    def _bind_member(self, node: Node, found: Value) -> None:
        if node.type == "pair_pattern":
            key, inner = node.child_by_field_name("key"), node.child_by_field_name("value")
        elif node.type == "object_assignment_pattern":
            key = inner = node.child_by_field_name("left")
        else:
            key = inner = node
        if key is not None and inner is not None:
            name = self.source(key).strip("'\"")
            self.bind(inner, field(self.fields, self.place(node), found, name))

    def _import(self, node: Node) -> None:
        source = node.child_by_field_name("source")
        if source is not None and self.source(source).strip("'\"").startswith("."):
            self.includes = True

    def _return(self, node: Node) -> list[Stmt]:
        inner = node.named_children[0] if node.named_children else None
        gone = Leave(self.place(node), None, How.RETURN)
        if inner is None:
            self.returned.append(None)
            return [gone]
        found = read_statement(self, inner) if inner.type == "call_expression" else []
        if leaves_always(tuple(found)):
            return found
        self.answers.append(self.test(inner))
        self.returned.append(self.value(inner))
        return [*found, gone]

    def _throw(self, node: Node) -> list[Stmt]:
        """Read an error with a text: where nothing catches it, the program exits 1 with the text on stderr."""
        thrown = node.named_children[0] if node.named_children else None
        new = thrown is not None and thrown.type == "new_expression"
        given = thrown.child_by_field_name("arguments") if thrown is not None and new else None
        found = self.value(given.named_children[0]) if given is not None and given.named_children else None
        return [Leave(self.place(node), 1, How.TEXT, found)] if isinstance(found, Text) else []

    # ── branches ────────────────────────────────────────────────────────────

    def branch(self, node: Node, arms: Sequence[tuple[Test, Sequence[Node]]], rest: Sequence[Node]) -> Branch:
        """Read the sides of a branch, each with the variables before it, and join the results."""
        start = dict(self.variables)
        ends: list[dict[str, Value]] = []

        def side(nodes: Sequence[Node]) -> Block:
            self.variables = dict(start)
            body = tuple(self.block(nodes))
            if not leaves_always(body) and not (nodes and nodes[-1].type == "return_statement"):
                ends.append(self.variables)
            return body

        made = tuple(Arm(test, side(nodes)) for test, nodes in arms)
        otherwise = side(rest)
        self.variables = joined(ends) if ends else start
        return Branch(self.place(node), made, otherwise)

    def _if(self, node: Node) -> Branch:
        arms: list[tuple[Test, Sequence[Node]]] = []
        current: Node | None = node
        rest: Sequence[Node] = ()
        while current is not None:
            condition = current.child_by_field_name("condition")
            body = current.child_by_field_name("consequence")
            assert condition is not None
            arms.append((self.test(condition), _statements(body)))
            alternative = current.child_by_field_name("alternative")
            inner = alternative.named_children[0] if alternative is not None and alternative.named_children else None
            current = inner if inner is not None and inner.type == "if_statement" else None
            rest = _statements(inner) if current is None else ()
        return self.branch(node, arms, rest)

    def _switch(self, node: Node) -> Branch:
        subject, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        origins = origins_of(self.value(subject))
        arms: list[tuple[Test, Sequence[Node]]] = []
        rest: Sequence[Node] = ()
        waiting: list[str] = []
        for case in body.named_children if body is not None else []:
            statements = case.children_by_field_name("body")
            wanted = case.child_by_field_name("value")
            waiting += patterns_of(self.value(wanted)) if wanted is not None else ()
            if case.type == "switch_default":
                rest = statements
            elif statements:
                arms.append((Test(self.place(case), Asks.EQUALS, origins, tuple(waiting)), statements))
                waiting = []
        return self.branch(node, arms, rest)

    def _loop(self, node: Node) -> list[Stmt]:
        body = node.child_by_field_name("body")
        if node.type == "for_in_statement":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None:
                self.bind(left, element(iterated(self, right)))
        return [Loop(self.place(node), tuple(self.block(_statements(body))))]

    def _try(self, node: Node) -> list[Stmt]:
        body = self.block(_statements(node.child_by_field_name("body")))
        handler, final = node.child_by_field_name("handler"), node.child_by_field_name("finalizer")
        catches = []
        if handler is not None:
            inner = self.block(_statements(handler.child_by_field_name("body")))
            catches.append(Catch(self.place(handler), ("Error",), tuple(inner)))
        last = self.block(_statements(final.child_by_field_name("body"))) if final is not None else []
        return [Try(self.place(node), tuple(body), tuple(catches), tuple(last))]

    # ── functions ───────────────────────────────────────────────────────────

    def inline(self, function: Node, arguments: Sequence[Value]) -> Block | None:
        """Read a function at the place of its call; what it returns is in `last_returned`."""
        if function.start_byte in self.inlining or len(self.inlining) >= _INLINED:
            return None
        outer, outer_returned = dict(self.variables), self.returned
        self.returned, self.answers = [], []
        self._bind_parameters(function, arguments)
        self.inlining.append(function.start_byte)
        try:
            body = function.child_by_field_name("body")
            if body is None or body.type != "statement_block":
                found = self._expression_body(body)
            else:
                found = self.block(body.named_children)
        finally:
            self.inlining.pop()
            self.last_returned, self.returned = self.returned, outer_returned
            # Closures change outer variables; leftover parameters and locals do no harm.
            self.variables = {**outer, **{name: self.variables.get(name, outer[name]) for name in outer}}
        return tuple(found)

    def _expression_body(self, body: Node | None) -> list[Stmt]:
        if body is None:
            return []

        def read() -> list[Stmt]:
            found = read_statement(self, body)
            if not leaves_always(tuple(found)):
                self.answers.append(self.test(body))
                self.returned.append(self.value(body))
            return found

        return self._with_effects(read)

    def _bind_parameters(self, function: Node, arguments: Sequence[Value]) -> None:
        single = function.child_by_field_name("parameter")
        several = function.child_by_field_name("parameters")
        nodes = [single] if single is not None else several.named_children if several is not None else []
        for index, node in enumerate(nodes):
            self.bind(node, arguments[index] if index < len(arguments) else Hole())

    def known_object(self, name: str) -> Object | None:
        """Return the object in a variable."""
        found = self.variables.get(name)
        return found if isinstance(found, Object) else None


def _statements(node: Node | None) -> Sequence[Node]:
    if node is None:
        return ()
    return node.named_children if node.type == "statement_block" else [node]
