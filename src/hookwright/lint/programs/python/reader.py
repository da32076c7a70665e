"""Python programs -> statements, by the tree that `ast` makes of them."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Sequence

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
from hookwright.lint.programs.python.calls import read_statement
from hookwright.lint.programs.python.tests import read_test
from hookwright.lint.programs.python.values import read_value
from hookwright.lint.programs.values import added, element, item, joined

_INLINED = 6
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def parse_python(source: str) -> ast.Module:
    """Parse Python text, or raise SyntaxError or ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a doubtful escape in the script does not matter here
        return ast.parse(source)


def read_python(source: str, path: str = "", *, event: bool = True) -> Program:
    """Read a Python program; without `event` its stdin is not the event. A broken text gives an empty program."""
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Program(Language.PYTHON, source, path=path)
    reader = PythonReader(path, event)
    body = tuple(reader.block(tree.body))
    return Program(
        language=Language.PYTHON,
        text=source,
        body=body,
        env=tuple(reader.env),
        fields=tuple(reader.fields),
        includes=reader.includes,
        path=path,
    )


#: Exceptions whose text is a message to people.
_ERRORS = frozenset(["Exception", "RuntimeError", "ValueError", "PermissionError", "AssertionError"])


class PythonReader:
    """Reads one module from its first statement to its last, calls of its own functions included."""

    def __init__(self, path: str, event: bool) -> None:
        self.path = path
        self.event = event
        self.variables: dict[str, Value] = {"__file__": text(path) if path else text(Hole())}
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.names: dict[str, str] = {}
        self.inlining: list[str] = []
        #: Whether a `return` of the function that is being read ends the program with its value.
        self.exits = False
        self.returned: list[Value] = []
        self.last_returned: list[Value] = []
        #: What the returned conditions of the function that was read last ask.
        self.answers: list[Test] = []
        self.env: list[EnvRead] = []
        self.fields: list[FieldRead] = []
        self.includes = False
        #: What expressions do on the way: reading stdin, starting programs, calling functions.
        self.effects: list[Stmt] = []
        self.steps = Steps()

    def place(self, node: ast.AST) -> CodePlace:
        """Return where a node begins."""
        return CodePlace(getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)

    def value(self, node: ast.expr | None) -> Value:
        """Return the value of an expression."""
        return read_value(self, node) if node is not None else None

    def dotted(self, node: ast.expr) -> str:
        """Write a name such as `sys.exit`, with imported names as they are called at home."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join((self.names.get(node.id, node.id), *reversed(parts)))

    # ── statements ──────────────────────────────────────────────────────────

    def block(self, nodes: Sequence[ast.stmt]) -> list[Stmt]:
        """Read statements one after the other, up to one that surely leaves."""
        for node in nodes:
            if isinstance(node, _FUNCTIONS):
                self.functions[node.name] = node
        found: list[Stmt] = []
        for node in nodes:
            self.steps.take()
            made = self._with_effects(lambda node=node: self.statement(node))  # type: ignore[misc]
            found += made
            if leaves_always(tuple(made)) or isinstance(node, ast.Return | ast.Break | ast.Continue):
                break
        return found

    def _with_effects(self, body: Callable[[], list[Stmt]]) -> list[Stmt]:
        """Put the effects of expressions before their statement."""
        outer, self.effects = self.effects, []
        made = body()
        found, self.effects = [*self.effects, *made], outer
        return found

    def statement(self, node: ast.stmt) -> list[Stmt]:
        """Read one statement."""
        match node:
            case ast.Expr(value=ast.Await(value=inner)) | ast.Expr(value=inner):
                return read_statement(self, inner)
            case ast.Assign(targets=targets, value=source):
                found = self.value(source)
                for target in targets:
                    self.bind(target, found)
                return []
            case ast.AnnAssign(target=target, value=source) if source is not None:
                self.bind(target, self.value(source))
                return []
            case ast.AugAssign(target=target, value=source):
                self.bind(target, added(self.value(target), self.value(source)))
                return []
            case ast.Return(value=source):
                return self._return(node, source)
            case ast.Assert(test=test, msg=msg) if msg is not None:
                failed = ast.Call(ast.Name("AssertionError", ast.Load()), [msg], [])
                raised = ast.fix_missing_locations(ast.copy_location(ast.Raise(failed, None), node))
                return [self.branch(node, [(self.test(test), [])], [raised])]
            case ast.Raise(exc=exc) if exc is not None:
                return self._raise(node, exc)
            case ast.If():
                return self._if(node)
            case ast.Import() | ast.ImportFrom():
                self._import(node)
                return []
            case ast.With(body=body) | ast.AsyncWith(body=body):
                for item in node.items:
                    found = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, found)
                return self.block(body)
            case ast.Match(cases=cases):
                return self._match(node, cases)
        return self._nested(node)

    def _nested(self, node: ast.stmt) -> list[Stmt]:
        match node:
            case ast.For(target=target, iter=source, body=body) | ast.AsyncFor(target=target, iter=source, body=body):
                self.bind(target, element(self.value(source)))
                return [Loop(self.place(node), tuple(self.block(body)))]
            case ast.While(test=test, body=body):
                self.test(test)
                return [Loop(self.place(node), tuple(self.block(body)))]
            case ast.Try() | ast.TryStar():
                return self._try(node)
        return []

    def test(self, node: ast.expr) -> Test:
        """Return the test of a condition."""
        return read_test(self, node)

    def bind(self, target: ast.expr, found: Value) -> None:
        """Assign a value to a variable, a tuple of them, or a key of a dictionary."""
        match target:
            case ast.Name(id=name):
                self.variables[name] = found
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for index, part in enumerate(targets):
                    self.bind(part, item(found, index))
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))):
                known = self.value(inner)
                if isinstance(known, Object):
                    self.bind(inner, Object({**known.items, key: found}, known.open))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        module = node.module if isinstance(node, ast.ImportFrom) else None
        for alias in node.names:
            origin = f"{module}.{alias.name}" if module else alias.name
            self.names[alias.asname or alias.name] = origin if module or alias.asname else alias.name
            top = (module or alias.name).split(".")[0]
            if top not in sys.stdlib_module_names or (isinstance(node, ast.ImportFrom) and node.level):
                self.includes = True

    def _return(self, node: ast.Return, source: ast.expr | None) -> list[Stmt]:
        if self.exits and isinstance(source, ast.Call) and (name := self.dotted(source.func)) in self.functions:
            inlined = self.inline(name, source, exits=True)
            if inlined is not None:
                return list(inlined)
        if source is not None and (isinstance(source, ast.Compare | ast.BoolOp | ast.UnaryOp) or _asks(source)):
            self.answers.append(self.test(source))
        found = self.value(source)
        self.returned.append(found)
        if self.exits and self.inlining:
            return [self.leave(node, found)]
        return [Leave(self.place(node), None, How.RETURN)]

    def leave(self, node: ast.AST, found: Value) -> Leave:
        """End the program with a value, as `sys.exit` reads it."""
        place = self.place(node)
        match found:
            case None:
                return Leave(place, 0)
            case bool() | int():
                return Leave(place, int(found) % 256)
            case Text():
                return Leave(place, 1, How.TEXT, found)
        return Leave(place, None)

    def _raise(self, node: ast.Raise, exc: ast.expr) -> list[Stmt]:
        call = exc if isinstance(exc, ast.Call) else None
        name = self.dotted(call.func if call is not None else exc)
        arguments = call.args if call is not None else []
        found = self.value(arguments[0]) if arguments else None
        if name == "SystemExit":
            return [self.leave(node, found)]
        # An exception that no part of the program catches ends it with status 1 and its text on stderr.
        return [self.leave(node, found)] if name in _ERRORS and isinstance(found, Text) else []

    # ── branches ────────────────────────────────────────────────────────────

    def _if(self, node: ast.If) -> list[Stmt]:
        if isinstance(node.test, ast.Compare) and ast.unparse(node.test).replace('"', "'") in _MAIN:
            return self.block(node.body)
        arms: list[tuple[Test, Sequence[ast.stmt]]] = []
        rest: Sequence[ast.stmt] = [node]
        while len(rest) == 1 and isinstance(rest[0], ast.If):
            arms.append((self.test(rest[0].test), rest[0].body))
            rest = rest[0].orelse
        return [self.branch(node, arms, rest)]

    def branch(
        self, node: ast.AST, arms: Sequence[tuple[Test, Sequence[ast.stmt]]], rest: Sequence[ast.stmt]
    ) -> Branch:
        """Read the sides of a branch, each with the variables before it, and join the results."""
        start = dict(self.variables)
        ends: list[dict[str, Value]] = []

        def side(nodes: Sequence[ast.stmt]) -> Block:
            self.variables = dict(start)
            body = tuple(self.block(nodes))
            if not leaves_always(body) and not (nodes and isinstance(nodes[-1], ast.Return)):
                ends.append(self.variables)
            return body

        made = tuple(Arm(test, side(nodes)) for test, nodes in arms)
        otherwise = side(rest)
        self.variables = joined(ends) if ends else start
        return Branch(self.place(node), made, otherwise)

    def _match(self, node: ast.Match, cases: Sequence[ast.match_case]) -> list[Stmt]:
        subject = origins_of(self.value(node.subject))
        arms: list[tuple[Test, Sequence[ast.stmt]]] = []
        rest: Sequence[ast.stmt] = ()
        for case in cases:
            if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None:
                rest = case.body
            else:
                found = ast.walk(case.pattern)
                texts = tuple(n.value for n in found if isinstance(n, ast.Constant) and isinstance(n.value, str))
                arms.append((Test(self.place(case.pattern), Asks.EQUALS, subject, texts), case.body))
        return [self.branch(node, arms, rest)]

    def _try(self, node: ast.Try | ast.TryStar) -> list[Stmt]:
        body = self.block([*node.body, *node.orelse])
        catches = tuple(
            Catch(self.place(handler), _caught(handler), tuple(self.block(handler.body))) for handler in node.handlers
        )
        return [Try(self.place(node), tuple(body), catches, tuple(self.block(node.finalbody)))]

    # ── functions ───────────────────────────────────────────────────────────

    def inline(self, name: str, call: ast.Call, *, exits: bool = False) -> Block | None:
        """Read a function of this module at the place of its call; what it returns is in `returned`."""
        function = self.functions.get(name)
        if function is None or name in self.inlining or len(self.inlining) >= _INLINED:
            return None
        outer, outer_exits, outer_returned = self.variables, self.exits, self.returned
        self.variables = {**outer, **self._arguments(function, call)}
        self.exits, self.returned, self.answers = exits, [], []
        self.inlining.append(name)
        try:
            body = tuple(self.block(function.body))
            if exits and not leaves_always(body):
                body = (*body, Leave(self.place(call), 0, How.END))
            returned = self.returned
        finally:
            self.inlining.pop()
            self.variables, self.exits, self.returned = outer, outer_exits, outer_returned
        self.last_returned = returned
        return body

    def _arguments(self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call) -> dict[str, Value]:
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        bound: dict[str, Value] = {}
        defaults = function.args.defaults
        for argument, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
            bound[argument] = self.value(default)
        for keyword, keyword_default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
            bound[keyword.arg] = self.value(keyword_default) if keyword_default is not None else Hole()
        bound.update(zip(names, (self.value(argument) for argument in call.args), strict=False))
        bound.update((word.arg, self.value(word.value)) for word in call.keywords if word.arg is not None)
        return {**dict.fromkeys(names, Hole()), **bound}


def _asks(node: ast.expr | None) -> bool:
    """Return whether a call is a test: any(…), re.search(…), x.startswith(…)."""
    return isinstance(node, ast.Call) and (
        (isinstance(node.func, ast.Name) and node.func.id in ("any", "all", "bool"))
        or (isinstance(node.func, ast.Attribute) and node.func.attr in ("search", "match", "startswith", "endswith"))
    )


_MAIN = ("__name__ == '__main__'", "'__main__' == __name__")


def _caught(handler: ast.ExceptHandler) -> tuple[str, ...]:
    if handler.type is None:
        return ()
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return tuple(ast.unparse(kind).rsplit(".", 1)[-1] for kind in kinds)
