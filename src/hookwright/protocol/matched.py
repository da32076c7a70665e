"""The value an event's matchers are compared with, and the hook name messages build from it."""

from __future__ import annotations

import re

from hookwright.protocol.events import Event, TargetForm


def matched_value(event: Event) -> str | None:
    """Return the value matchers of this event are compared with; None for an event without matchers."""
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


def matched_values(event: Event) -> tuple[str, ...] | None:
    """Return the value of `matched_value` and the event's other names for it; a matcher has to match one of them."""
    value = matched_value(event)
    return None if value is None else (value, *event.also)


def canonical_model(name: str) -> str:
    """Return a model name without provider prefix, date and variant."""
    name = name.rsplit("/", 1)[-1].rsplit("anthropic.", 1)[-1]
    name = re.sub(r"\[[^\]]*\]$", "", name)
    name = re.sub(r"(-v\d+)?(:\d+)?$", "", name)
    return re.sub(r"[-@]\d{8}$", "", name)


def has_effort(model: str) -> bool:
    """Return whether a model takes an effort level: models from 4.6 on do, and of the 4.5 models only Opus."""
    name = canonical_model(model)
    parts = name.removeprefix("claude-").split("-")
    numbers = [int(part) for part in parts if part.isdigit() and len(part) < 3]
    if not name.startswith("claude-") or not numbers:
        return False
    version = (numbers[0], numbers[1] if len(numbers) > 1 else 0)
    return version >= (4, 6) or (version == (4, 5) and "opus" in parts)


def hook_name(event: Event) -> str:
    """Return the hook's name in messages: `PreToolUse:Bash`, or the bare event."""
    value = matched_value(event)
    return f"{event.event_name}:{value}" if value else event.event_name
