"""HK7xx: what hooks cost. Rules that need a run are in `running`."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import arms, calls_of, lets_through, tool_guards
from hookwright.lint.model import Finding
from hookwright.lint.programs.ir import Arm, Asks
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
    """Check timeouts and what runs for every call."""
    for hook in subject.hooks:
        yield from _session_end(hook)
        yield from _model(hook)
    for hook in tool_guards(subject):
        yield from _no_timeout(hook)
    for hook in subject.commands:
        yield from _heavy(hook)
        yield from _filter(hook)


def _session_end(hook: CheckedHook) -> Iterator[Finding]:
    """HK701: SessionEnd without a timeout."""
    if hook.event == "SessionEnd" and hook.handler.timeout is None:
        what = (
            "All SessionEnd hooks together are stopped after 1.5 seconds, unless a hook in a settings file sets a "
            "longer `timeout` (at most 60)."
        )
        yield finding("HK701", hook.place(), what, 'Set "timeout": 10.')


def _no_timeout(hook: CheckedHook) -> Iterator[Finding]:
    """HK702: a guard without a timeout."""
    if hook.handler.timeout is None:
        then = "is blocked" if hook.handler.on_failure is OnFailure.BLOCK else "proceeds"
        what = f"No `timeout`: this guard can hang for {hook.rules.timeout:g} seconds, and then the call {then}."
        yield finding("HK702", hook.place(), what, 'Set "timeout": 10.')


def _heavy(hook: CheckedHook) -> Iterator[Finding]:
    """HK704: launchers that take longer than the work."""
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
            what = f"`{name}` takes 300 to 2000 ms to start, for every matching call."
            write = "Install the program and call it directly, or set `async` if the answer is not needed."
            yield finding("HK704", hook.place("command"), what, write)
            return


def _filter(hook: CheckedHook) -> Iterator[Finding]:
    """HK705: a process for every tool call that only checks the tool's name."""
    if hook.rules.target != "tool_name" or not isinstance(hook.matcher, MatchAll):
        return
    for program in hook.launch.deciding:
        for point, arm in arms(program):
            names = _other_tools(arm) if not point.under else []
            if names:
                what = "This hook starts a process for every tool call, and exits again for most of them."
                write = f'Set "matcher": "{"|".join(names)}".'
                yield finding("HK705", hook.position(program, arm.test.place), what, write)
                return


def _other_tools(arm: Arm) -> list[str]:
    """Return the tools an arm handles, when it lets every other tool through; empty for any other arm."""
    atoms = list(arm.test.atoms())
    by_name = all(
        atom.kind is Asks.EQUALS and atom.origins == {"event.tool_name"} and against for atom, against in atoms
    )
    return [name for atom, _ in atoms for name in atom.patterns] if by_name and lets_through(arm.body) else []


def _model(hook: CheckedHook) -> Iterator[Finding]:
    """HK707: a model for every tool call."""
    broad = isinstance(hook.matcher, MatchAll) and hook.handler.condition is None
    if hook.event in _HOT and hook.handler.kind in (Kind.PROMPT, Kind.AGENT) and broad:
        what = f"One extra model call for every {hook.event} of every tool: seconds and tokens each time."
        write = "Select the calls with `matcher` and `if`, or ask the question on Stop."
        yield finding("HK707", hook.place("type"), what, write)
