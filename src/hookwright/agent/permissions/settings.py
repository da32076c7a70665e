"""What a permission update makes of a project's settings, so that a person's own word needs no second yes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookwright.protocol.jsontext import Json

#: Destination of an update → the scope whose settings it changes.
_SCOPES = {"localSettings": "local", "projectSettings": "project"}


def with_rules(entry: str, updates: Sequence[Mapping[str, Json]]) -> Any:
    """Give the settings of a project, as trust binds them, with the rules of some updates added or taken out."""
    settings = json.loads(entry)
    for update in updates:
        scope = _SCOPES.get(str(update.get("destination")))
        if scope is None:
            continue
        permissions = settings.setdefault(scope, {}).setdefault("permissions", {})
        listed = permissions.setdefault(str(update.get("behavior")), [])
        texts = rule_texts((update,))
        if update.get("type") == "addRules":
            listed += [text for text in texts if text not in listed]
        else:
            listed[:] = [text for text in listed if text not in texts]
    return settings


def same_entry(entry: str, expected: Json) -> bool:
    """Tell whether settings are exactly the expected ones."""
    return bool(json.loads(entry) == expected)


def rule_texts(updates: Sequence[Mapping[str, Json]]) -> list[str]:
    """Write the rules of permission updates as settings files have them."""
    return [_rule_text(rule) for update in updates for rule in update.get("rules", ())]


def _rule_text(rule: Mapping[str, Json]) -> str:
    content = rule.get("ruleContent")
    return f"{rule.get('toolName')}({content})" if content is not None else str(rule.get("toolName"))
