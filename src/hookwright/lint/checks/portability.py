"""HK9xx: what does not carry over to another agent; only with `--target`."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.model import Finding
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.targets import TargetHost
from hookwright.lint.tools import matched
from hookwright.matching.matchers import MatchNames


def check_portability(subject: Subject) -> Iterator[Finding]:
    """Compare every hook with each agent that was asked for."""
    for host in subject.options.target.hosts:
        for hook in subject.hooks:
            yield from _hook(hook, host)


def _hook(hook: CheckedHook, host: TargetHost) -> Iterator[Finding]:
    there = host.events.get(hook.event)
    event_at = hook.document.place((*hook.document.at, hook.event))
    if there is None:
        what = f"{host.name} has no event for {hook.event}; these hooks do not run there."
        yield finding("HK904", event_at, what, f"One of {', '.join(host.events.values())}.")
    elif there != hook.event:
        what = f"{host.name} calls {hook.event} `{there}`; under this name the hooks do not run there."
        yield finding("HK904", event_at, what, f"`{there}` in a file for {host.name}.")
    kind = hook.handler.kind.value
    if kind not in host.types:
        what = f"{host.name} reads `{kind}` handlers and does not run them."
        yield finding("HK901", hook.place("type"), what, "A command handler.")
    for key in sorted(host.ignored & hook.entry.keys()):
        what = f"{host.name} ignores `{key}`."
        yield finding("HK901", hook.place(key), what, "The same test or order inside of the script.")
    yield from _variables(hook, host)
    yield from _tools(hook, host)
    yield from _timeout(hook, host)


def _variables(hook: CheckedHook, host: TargetHost) -> Iterator[Finding]:
    handler = hook.command
    if handler is None or host.project_variable:
        return
    text = " ".join((handler.command, *(handler.args or ())))
    if "CLAUDE_PROJECT_DIR" in text and "${CLAUDE_PROJECT_DIR:-" not in text:
        what = f"{host.name} does not set CLAUDE_PROJECT_DIR: the path becomes `/…`, and every call ends with exit 127."
        yield finding("HK902", hook.place("command"), what, '`[ -n "${CLAUDE_PROJECT_DIR:-}" ] || exit 0; …`')


def _tools(hook: CheckedHook, host: TargetHost) -> Iterator[Finding]:
    if hook.rules.target != "tool_name" or not isinstance(hook.matcher, MatchNames):
        return
    other = {tool: host.tools[tool] for tool in sorted(matched(hook.matcher)) if tool in host.tools}
    if other:
        names = ", ".join(f"`{tool}` is `{name}`" for tool, name in other.items())
        what = f"The tools have other names in {host.name}: {names}. This matcher matches nothing there."
        yield finding(
            "HK903",
            hook.matcher_place(),
            what,
            f"`{'|'.join(dict.fromkeys(other.values()))}` in a file for {host.name}.",
        )


def _timeout(hook: CheckedHook, host: TargetHost) -> Iterator[Finding]:
    seconds = hook.handler.timeout
    if host.milliseconds and seconds is not None and seconds < 1000:
        what = f"{host.name} counts milliseconds: the hook is ended after {seconds:g} ms there."
        yield finding("HK905", hook.place("timeout"), what, f'"timeout": {seconds * 1000:g} in a file for {host.name}.')
