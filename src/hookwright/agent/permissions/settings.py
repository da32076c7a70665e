"""Keep project settings trusted after the user's own permission updates, and only after those."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookwright.agent.permissions.keep import put
from hookwright.agent.permissions.rules import Origin
from hookwright.agent.permissions.updates import Update
from hookwright.config import Loaded, TrustPolicy, accept, review
from hookwright.protocol.jsontext import Json

#: Destination of an update → the scope whose settings it changes.
_SCOPES = {Origin.LOCAL: "local", Origin.PROJECT: "project"}


def trust_own_changes(before: Loaded, after: Loaded, kept: Sequence[Update]) -> None:
    """Trust project settings again after the user's updates were written to them.

    Trust is bound to content, so any rule written to a trusted file would switch off every setting of the project,
    deny rules included. Law: the settings are trusted again if they were trusted before and now differ by nothing but
    these updates. Any other change in the meantime needs a review.
    """
    gate = before.gate
    if gate.policy is not TrustPolicy.STORED or not gate.trusts_settings():
        return
    expected = with_updates(gate.settings.entry if gate.settings is not None else "{}", kept)
    own = [item for item in review(after).pending if not item.item.event and json.loads(item.item.entry) == expected]
    if own:
        accept(gate.store, after.project_dir, own)


def with_updates(entry: str, updates: Sequence[Update]) -> Any:
    """Return the trusted form of a project's settings after some updates."""
    settings = json.loads(entry)
    for update in updates:
        scope = _SCOPES.get(update.destination)
        if scope is not None:
            put(settings.setdefault(scope, {}), update)
    return settings


def rule_texts(updates: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return the rules of permission updates as written in settings files."""
    return [_rule_text(rule) for update in updates for rule in update.get("rules", ())]


def _rule_text(rule: Mapping[str, Json]) -> str:
    content = rule.get("ruleContent")
    return f"{rule.get('toolName')}({content})" if content is not None else str(rule.get("toolName"))
