"""Make cases from the events of a session."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hookwright.cases.firing import PROJECT
from hookwright.errors import MissingExtra
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.samples import sample_fields
from hookwright.protocol.secrets import redact

#: A case as it is written to a file.
Written = dict[str, Json]

#: Fields that belong to one session and would be wrong in another.
_PASSING = frozenset(
    {"session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "tool_use_id", "agent_transcript_path"}
)
_NAME = 70


class EventChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The events that become cases; an empty set means all."""

    events: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()
    limit: int | None = None

    def takes(self, payload: Mapping[str, Json]) -> bool:
        """Return whether an event is wanted."""
        tool = payload.get("tool_name")
        return (not self.events or payload["hook_event_name"] in self.events) and (
            not self.tools or (isinstance(tool, str) and tool in self.tools)
        )


class Seen(msgspec.Struct, frozen=True):
    """One event of a session; the decision is known where the session recorded it."""

    payload: Mapping[str, Json]
    decision: str | None = None
    reason: str | None = None
    #: The settings that the hooks of this event come from, where the project's own are not enough.
    sources: tuple[str, ...] = ()


def from_recording(lines: Iterable[Mapping[str, Json]]) -> Iterator[Seen]:
    """Read the lines of a recorder; skip anything that is not an event."""
    for line in lines:
        payload = line.get("payload")
        if isinstance(payload, dict) and payload.get("hook_event_name") in CATALOGUE:
            yield Seen(payload, line.get("decision"), line.get("reason"), tuple(line.get("sources") or ()))


def make_cases(seen: Iterable[Seen], wanted: EventChoice) -> list[Written]:
    """Return events as cases: without duplicates and credentials, with a placeholder for the project."""
    cases: list[Written] = []
    known: set[bytes] = set()
    for item in seen:
        if not wanted.takes(item.payload):
            continue
        case = _case(item)
        key = msgspec.json.encode(case, order="sorted")
        if key in known:
            continue
        known.add(key)
        cases.append(case)
        if wanted.limit is not None and len(cases) >= wanted.limit:
            break
    return _named(cases)


def _case(item: Seen) -> Written:
    cwd = str(item.payload.get("cwd") or "")
    own = {key: _clean(value, cwd) for key, value in item.payload.items() if key not in _PASSING}
    event = str(item.payload["hook_event_name"])
    case: Written = {"name": "", "event": event}
    for key, word in (("tool_name", "tool"), ("tool_input", "input"), ("prompt", "prompt")):
        if key in own:
            case[word] = own.pop(key)
    usual = sample_fields(event, PROJECT)
    fields = {key: value for key, value in own.items() if usual.get(key) != value}
    if fields:
        case["fields"] = fields
    if item.sources:
        case["sources"] = list(item.sources)
    if item.decision is not None:
        case["expect"] = {"decision": item.decision}
        if item.reason:
            reason = str(_clean(item.reason, cwd)).strip().splitlines()[0]
            case["expect"]["reason"] = re.sub(r"[\\^$.|?*+()\[\]]", lambda found: "\\" + found[0], reason)
    return case


def _clean(value: Json, cwd: str) -> Any:
    if isinstance(value, str):
        text = redact(value)
        return text.replace(cwd, PROJECT) if len(cwd) > 1 else text
    if isinstance(value, Mapping):
        return {key: _clean(item, cwd) for key, item in value.items()}
    return [_clean(item, cwd) for item in value] if isinstance(value, list | tuple) else value


def _named(cases: Sequence[Written]) -> list[Written]:
    """Give every case a unique, descriptive name."""
    counts: dict[str, int] = {}
    for case in cases:
        given = case.get("input", {})
        first = next((str(value) for value in given.values() if isinstance(value, str)), case.get("prompt", ""))
        flat = " ".join(str(first).split())
        name = " ".join(filter(None, (case["event"], case.get("tool", ""), flat)))
        name = name if len(name) <= _NAME else name[: _NAME - 1] + "…"
        counts[name] = counts.get(name, 0) + 1
        case["name"] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return list(cases)


def as_json(cases: Sequence[Written]) -> str:
    """Return cases as a JSON file."""
    return json.dumps(list(cases), indent=2, ensure_ascii=False) + "\n"


def as_yaml(cases: Sequence[Written]) -> str:
    """Return cases as a YAML file."""
    try:
        from ruamel.yaml import YAML
    except ImportError:
        raise MissingExtra("Writing YAML", "yaml") from None
    yaml = YAML(pure=True)
    yaml.width = 110
    yaml.default_flow_style = False
    out = io.StringIO()
    yaml.dump(list(cases), out)
    return out.getvalue()
