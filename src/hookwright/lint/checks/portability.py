"""HK9xx: what does not work in another agent; only with `--target`."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.model import Finding
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.targets import TargetHost
from hookwright.lint.tools import matched
from hookwright.matching.matchers import MatchNames


def check_portability(subject: Subject) -> Iterator[Finding]:
    """Compare every hook with each target agent."""
    for host in subject.options.target.hosts:
        for hook in subject.hooks:
            yield from _hook(hook, host)


def _hook(hook: CheckedHook, host: TargetHost) -> Iterator[Finding]:
    """HK901 and HK904: events, handler types and keys the other agent does not have."""
    there = host.events.get(hook.event)
    event_at = hook.document.place((*hook.document.at, hook.event))
    if there is None:
        what = f"{host.name} has no event for {hook.event}; these hooks do not run there."
        yield finding("HK904", event_at, what, f"Use one of {', '.join(host.events.values())}.")
    elif there != hook.event:
        what = f"{host.name} calls {hook.event} `{there}`; under this name the hooks do not run there."
        yield finding("HK904", event_at, what, f"Declare them under `{there}` in a file for {host.name}.")
    kind = hook.handler.kind.value
    if kind not in host.types:
        what = f"{host.name} accepts `{kind}` handlers but does not run them."
        yield finding("HK901", hook.place("type"), what, "Use a command handler.")
    for key in sorted(host.ignored & hook.entry.keys()):
        what = f"{host.name} ignores `{key}`."
        yield finding("HK901", hook.place(key), what, "Do the same inside the script.")
    yield from _variables(hook, host)
    yield from _tools(hook, host)
    yield from _timeout(hook, host)


def _variables(hook: CheckedHook, host: TargetHost) -> Iterator[Finding]:
    """HK902: environment variables the other agent does not set."""
    handler = hook.command
    if handler is None or host.project_variable:
        return
    text = " ".join((handler.command, *(handler.args or ())))
    if "CLAUDE_PROJECT_DIR" in text and "${CLAUDE_PROJECT_DIR:-" not in text:
        what = f"{host.name} does not set CLAUDE_PROJECT_DIR: the path becomes `/…`, and every call ends with exit 127."
        yield finding("HK902", hook.place("command"), what, 'Add `[ -n "${CLAUDE_PROJECT_DIR:-}" ] || exit 0; …`.')


def _tools(hook: CheckedHook, host: TargetHost) -> Iterator[Finding]:
    """HK903: tools with another name there."""
    if hook.rules.target != "tool_name" or not isinstance(hook.matcher, MatchNames):
        return
    other = {tool: host.tools[tool] for tool in sorted(matched(hook.matcher)) if tool in host.tools}
    if other:
        names = ", ".join(f"`{tool}` is `{name}`" for tool, name in other.items())
        what = f"The tools have other names in {host.name}: {names}. This matcher matches nothing there."
        write = f"Match `{'|'.join(dict.fromkeys(other.values()))}` in a file for {host.name}."
        yield finding("HK903", hook.matcher_place(), what, write)


def _timeout(hook: CheckedHook, host: TargetHost) -> Iterator[Finding]:
    """HK905: a timeout in another unit."""
    seconds = hook.handler.timeout
    if host.milliseconds and seconds is not None and seconds < 1000:
        what = f"{host.name} counts in milliseconds: the hook is stopped after {seconds:g} ms there."
        yield finding(
            "HK905", hook.place("timeout"), what, f'Set "timeout": {seconds * 1000:g} in a file for {host.name}.'
        )
