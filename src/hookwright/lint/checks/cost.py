"""HK7xx: what hooks cost. What only a run can measure is in `running`."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import all_points, calls_of, tool_guards
from hookwright.lint.model import Finding
from hookwright.lint.programs.ir import Branch, Leave
from hookwright.lint.programs.ir import TestKind as TestKind
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.matching.matchers import MatchAll
from hookwright.protocol.handlers import Kind, OnFailure

_HEAVY = {
    ("npx",): "npx",
    ("bunx",): "bunx",
    ("uvx",): "uvx",
    ("uv", "run"): "uv run",
    ("docker", "run"): "docker run",
    ("poetry", "run"): "poetry run",
    ("pipenv", "run"): "pipenv run",
    ("npm", "run"): "npm run",
    ("pnpm", "dlx"): "pnpm dlx",
}
_HOT = frozenset(["PreToolUse", "PostToolUse", "PermissionRequest", "MessageDisplay"])


def check_cost(subject: Subject) -> Iterator[Finding]:
    """Look at timeouts and at what runs for every call."""
    for hook in subject.hooks:
        yield from _session_end(hook)
        yield from _model(hook)
    for hook in tool_guards(subject):
        yield from _no_timeout(hook)
    for hook in subject.commands:
        yield from _heavy(hook)
        yield from _filter(hook)


def _session_end(hook: CheckedHook) -> Iterator[Finding]:
    if hook.event == "SessionEnd" and hook.handler.timeout is None:
        what = (
            "All SessionEnd hooks together have 1.5 seconds, unless a hook of a settings file sets a longer "
            "`timeout` (60 at most); then they are ended."
        )
        yield finding("HK701", hook.place(), what, '"timeout": 10')


def _no_timeout(hook: CheckedHook) -> Iterator[Finding]:
    if hook.handler.timeout is None:
        then = "is blocked" if hook.handler.on_failure is OnFailure.BLOCK else "proceeds"
        what = f"No `timeout`: this guard may hang for {hook.rules.timeout:g} seconds, and then the call {then}."
        yield finding("HK702", hook.place(), what, '"timeout": 10')


def _heavy(hook: CheckedHook) -> Iterator[Finding]:
    """HK704: starters that take longer than the work."""
    if hook.event not in _HOT or (hook.command is not None and hook.command.background):
        return
    inline = hook.launch.inline
    handler = hook.command
    lines = [[word.known for word in call.words] for _, call in calls_of(inline)] if inline is not None else []
    if handler is not None and handler.args is not None:
        lines.append([handler.command, *handler.args])
    for words in lines:
        name = next((shown for start, shown in _HEAVY.items() if tuple(words[: len(start)]) == start), None)
        if name is not None:
            what = f"`{name}` needs 300 to 2000 ms to start, for every call that matches."
            yield finding(
                "HK704",
                hook.place("command"),
                what,
                "The program itself, installed; or `async` where nobody needs the answer.",
            )
            return


def _filter(hook: CheckedHook) -> Iterator[Finding]:
    """HK705: a process for every tool that only looks at the tool's name."""
    if hook.rules.target != "tool_name" or not isinstance(hook.matcher, MatchAll):
        return
    for program in hook.launch.deciding:
        for point in all_points(program):
            if not isinstance(point.stmt, Branch) or point.under:
                continue
            for arm in point.stmt.arms:
                atoms = list(arm.test.atoms())
                named = bool(atoms) and all(atom.origins == {"event.tool_name"} and against for atom, against in atoms)
                leaves = any(isinstance(stmt, Leave) and stmt.code in (0, None) for stmt in arm.body)
                names = [name for atom, _ in atoms for name in atom.patterns]
                if named and leaves and all(atom.kind is TestKind.EQUALS for atom, _ in atoms) and names:
                    what = "This hook starts a process for every tool, to find out that most of them do not concern it."
                    yield finding(
                        "HK705", hook.position(program, arm.test.place), what, f'"matcher": "{"|".join(names)}"'
                    )
                    return


def _model(hook: CheckedHook) -> Iterator[Finding]:
    """HK707: a model for every tool call."""
    broad = isinstance(hook.matcher, MatchAll) and hook.handler.condition is None
    if hook.event in _HOT and hook.handler.kind in (Kind.PROMPT, Kind.AGENT) and broad:
        what = f"One more model call for every {hook.event} of every tool: seconds and tokens each time."
        yield finding(
            "HK707", hook.place("type"), what, "A `matcher` and an `if` that pick the calls, or the question on Stop."
        )
