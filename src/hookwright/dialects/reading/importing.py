"""An agent's own hooks as Claude Code settings, with everything that is lost on the way."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hookwright.dialects.model import Dialect
from hookwright.dialects.reading.doubles import is_bridge
from hookwright.dialects.reading.model import AgentHooks, ForeignHook
from hookwright.dialects.reading.selecting import selected
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json

_CARRIED = frozenset({"type", "command", "bash", "timeout", "timeoutSec", "matcher", "event", "statusMessage", "hooks"})


class Imported(msgspec.Struct, frozen=True):
    """Settings for Claude Code, and what they do not carry: (place, what)."""

    settings: dict[str, Json]
    losses: tuple[tuple[ForeignHook, str], ...]


def as_claude(read: AgentHooks) -> Imported:
    """Write the hooks of an agent as settings.

    Law: a hook is in the settings, or a loss says why it is not; a matcher names Claude Code's tools, and one that
    selects none of them leaves the hook out instead of widening it.
    """
    events: dict[str, list[Json]] = {}
    losses: list[tuple[ForeignHook, str]] = []
    for hook in read.hooks:
        group = _group(hook)
        if isinstance(group, str):
            losses.append((hook, group))
            continue
        assert hook.moment is not None
        events.setdefault(hook.moment.claude, []).append(group)
        losses += [(hook, what) for what in _losses(hook)]
    settings: dict[str, Json] = {"hooks": dict(events)}
    return Imported(settings, tuple(losses))


def _group(hook: ForeignHook) -> dict[str, Json] | str:
    if hook.moment is None or not hook.moment.claude:
        return f"not imported: Claude Code has no event for `{hook.event}`"
    if hook.kind != "command" or not hook.command:
        return f"not imported: a `{hook.kind}` handler is not the same in Claude Code"
    if is_bridge(hook.command):
        return "not imported: it hands the event to Hookwright, which runs Claude Code's hooks"
    handler: dict[str, Json] = {"type": "command", "command": hook.command}
    if hook.dialect.clock.key in hook.entry and hook.limit is not None:
        handler["timeout"] = hook.limit
    matcher = _matcher(hook)
    if matcher is None:
        return f"not imported: `{hook.matcher}` selects no tool that Claude Code has"
    return {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}


def _matcher(hook: ForeignHook) -> str | None:
    """Return a matcher with Claude Code's names; empty for everything, None if no tool is left."""
    assert hook.moment is not None
    text = hook.matcher or ""
    if text in ("", "*") or CATALOGUE[hook.moment.claude].rules.target != "tool_name":
        return "" if text == "*" else text
    if "mcp" in text:
        return text
    return "|".join(_names(hook.dialect, selected(hook.dialect, text))) or None


def _names(dialect: Dialect, tools: Sequence[str]) -> list[str]:
    named = [tool for tool in dialect.tools if tool.name in tools]
    return list(
        dict.fromkeys(name for tool in named for name in (("Write", "Edit") if tool.patch else (tool.claude,)) if name)
    )


def _losses(hook: ForeignHook) -> list[str]:
    dialect = hook.dialect
    found = [f"`{key}` is not carried over" for key in hook.entry if key not in _CARRIED]
    found += [f"`{key}` of the group is not carried over" for key in hook.group if key not in {*_CARRIED, *hook.entry}]
    renamed = [
        f"`{field.name}` is `{field.claude}`" for field in dialect.fields if field.name not in ("", field.claude)
    ]
    tools = [f"`{tool.name}` is `{tool.claude}`" for tool in dialect.tools if tool.claude not in ("", tool.name)]
    if renamed or tools:
        found.append(f"the script gets Claude Code's payload: {', '.join([*renamed, *tools][:4])}, …")
    if hook.matcher and _matcher(hook) != hook.matcher:
        found.append(f"the matcher `{hook.matcher}` became `{_matcher(hook)}`")
    return found
