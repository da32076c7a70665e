"""The value that an event's matchers are compared with, and the name that messages make of it."""

from __future__ import annotations

import re

from hookwright.protocol.events import Event, TargetForm


def matched_value(event: Event) -> str | None:
    """Tell the value that matchers of this event are compared with; None where there is no matcher."""
    rules = event.rules
    if rules.target is None:
        return None
    value = getattr(event, rules.target)
    if not isinstance(value, str):
        return None
    if rules.target_form is TargetForm.BASENAME:
        return value.rsplit("/", 1)[-1]
    if rules.target_form is TargetForm.MODEL:
        return canonical_model(value)
    return value


def canonical_model(name: str) -> str:
    """Strip provider prefixes, dates and variants from a model name."""
    name = name.rsplit("/", 1)[-1].rsplit("anthropic.", 1)[-1]
    name = re.sub(r"\[[^\]]*\]$", "", name)
    name = re.sub(r"(-v\d+)?(:\d+)?$", "", name)
    return re.sub(r"[-@]\d{8}$", "", name)


def hook_name(event: Event) -> str:
    """Name the hook as messages do: `PreToolUse:Bash`, or the bare event."""
    value = matched_value(event)
    return f"{event.event_name}:{value}" if value else event.event_name
