"""From an agent's payload to Claude Code's events."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence

import msgspec

from hookwright.dialects.model import Dialect, Moment, ToolMap
from hookwright.dialects.patch import BrokenPatch, read_patch, touch_call
from hookwright.errors import InvalidEvent
from hookwright.protocol.events import CATALOGUE, Event
from hookwright.protocol.jsontext import Json, json_type
from hookwright.protocol.wire import decode_event, encode

#: What an event needs and an agent may leave out; never something that decides.
_FILLED: Mapping[str, Mapping[str, Json]] = {
    "SessionStart": {"source": "startup"},
    "SessionEnd": {"reason": "other"},
    "Stop": {"stop_hook_active": False},
    "SubagentStart": {"agent_id": "", "agent_type": ""},
    "SubagentStop": {"agent_id": "", "agent_type": "", "stop_hook_active": False},
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "PostCompact": {"trigger": "auto", "compact_summary": ""},
    "Notification": {"message": "", "notification_type": ""},
    "StopFailure": {"error": "unknown"},
    "PostToolUse": {"tool_response": ""},
    "PostToolUseFailure": {"error": ""},
    "PermissionDenied": {"reason": ""},
}
#: Optional fields that another agent may use for something else.
_SELDOM = frozenset(
    {"effort", "model", "session_title", "mcp_server", "permission_suggestions", "background_tasks", "session_crons"}
    | {"duration_ms", "is_interrupt", "error_details", "title", "prompt_id", "context_tokens"}
)
#: Keys of a tool's input that hold a path, by Claude Code's names.
_PATHS = ("file_path", "notebook_path")


class Translated(msgspec.Struct, frozen=True):
    """A payload as events of Claude Code; none if the agent fires at a moment that Claude Code does not have."""

    moment: Moment
    events: tuple[Event, ...]
    tool: ToolMap | None = None
    #: The input as the hooks read it, for a call that is one event.
    given: Mapping[str, Json] = msgspec.field(default_factory=dict)


class UnreadablePayload(msgspec.Struct, frozen=True):
    """A payload that cannot be translated: what it was about, as far as that is known, and why."""

    moment: Moment | None
    reason: str


def translate(dialect: Dialect, payload: Json) -> Translated | UnreadablePayload:
    """Return the events that a payload comes to.

    Laws:
    1. Every call of a tool is at least one event; a patch is one event per path, and a name of an MCP tool that can be
       read in several ways is one event per way.
    2. A path is absolute: a relative one starts from the agent's directory.
    3. A call without the key that guards read or with two keys that mean the same one, a patch that cannot be read, and
       a payload of an unknown shape are unreadable, which is never the same as having no hooks.
    4. A field that the agent does not send is left out; an id is made up with the prefix `x-`, a mode never.
    5. A tool without a counterpart keeps its name.
    """
    if not isinstance(payload, Mapping):
        return UnreadablePayload(None, f"the payload is {json_type(payload)}, not an object")
    name = payload.get("hook_event_name")
    moment = dialect.moment(name) if isinstance(name, str) else None
    if moment is None or not moment.claude:
        return UnreadablePayload(moment, f"{dialect.title} sent the event {str(name)[:80]!r}, which has no translation")
    fields = _fields(dialect, moment, payload)
    if isinstance(fields, UnreadablePayload):
        return fields
    calls = _calls(dialect, moment, payload, fields)
    if isinstance(calls, UnreadablePayload):
        return calls
    try:
        events = tuple(_event({**fields, **call}) for call in calls)
    except InvalidEvent as error:
        return UnreadablePayload(moment, str(error))
    tool = dialect.tool(str(payload.get("tool_name")))
    given = calls[0].get("tool_input", {}) if len(calls) == 1 else {}
    return Translated(moment, events, tool, given)


def _event(fields: Mapping[str, Json]) -> Event:
    """Build an event; what an agent puts into a field that hooks seldom read must not cost the event."""
    try:
        return decode_event(fields)
    except InvalidEvent:
        return decode_event({key: value for key, value in fields.items() if key not in _SELDOM})


def _fields(dialect: Dialect, moment: Moment, payload: Mapping[str, Json]) -> dict[str, Json] | UnreadablePayload:
    """Return the fields of the event except those of a tool call."""
    renamed = {field.name: field.claude for field in dialect.fields if field.name}
    fields = {renamed.get(key, key): value for key, value in payload.items() if value is not None}
    for absent in (field.claude for field in dialect.fields if not field.name):
        fields.pop(absent, None)
    fields = {**_FILLED.get(moment.claude, {}), **fields, "hook_event_name": moment.claude, "x_agent": dialect.name}
    fields["transcript_path"] = _text(fields.get("transcript_path"))
    fields["session_id"] = _text(fields.get("session_id"))
    cwd = _text(fields.get("cwd"))
    if not os.path.isabs(cwd):
        return UnreadablePayload(moment, f"`cwd` is {cwd[:80]!r}, not an absolute path")
    if "permission_mode" in fields and dialect.modes:
        fields["permission_mode"] = dict(dialect.modes).get(fields["permission_mode"], fields["permission_mode"])
    if "prompt" in fields:
        fields["prompt"] = _prompt(fields["prompt"])
    if "error" in fields:
        fields["error"] = _error(fields["error"])
    return fields


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _error(value: Json) -> str:
    """Return the text of an error, which may be an object with a message."""
    text = value.get("message") if isinstance(value, Mapping) else value
    return text if isinstance(text, str) else str(value)


def _prompt(value: Json) -> str | None:
    """Return a prompt that may come in parts; None for something that is not a prompt."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in value]
    return "\n".join(text for text in texts if isinstance(text, str))


Calls = Sequence[Mapping[str, Json]]


def _calls(
    dialect: Dialect, moment: Moment, payload: Mapping[str, Json], fields: Mapping[str, Json]
) -> Calls | UnreadablePayload:
    """Return what each event of the payload adds to the common fields."""
    if "tool_name" not in CATALOGUE[moment.claude].__struct_fields__:
        return () if moment.fires_without_prompt and fields.get("prompt") == "" else ({},)
    name, given = payload.get("tool_name"), payload.get("tool_input")
    if not isinstance(name, str) or not name:
        return UnreadablePayload(moment, "the call has no `tool_name`")
    if not isinstance(given, Mapping):
        return UnreadablePayload(moment, f"`tool_input` of {name[:80]} is {json_type(given)}, not an object")
    made = _call_id(moment, payload, fields, name)
    tool = dialect.tool(name)
    if tool is not None and tool.patch:
        return _patched(tool, moment, fields, given, made)
    twice = _twice(tool, given)
    if twice:
        return UnreadablePayload(moment, f"the call of {name} has {twice}, so a guard could not judge it")
    found = _input(tool, given, str(fields["cwd"]))
    missing = [key for key in (tool.needs if tool is not None else ()) if not isinstance(found.get(key), str)]
    if missing:
        return UnreadablePayload(moment, f"the call of {name} has no `{missing[0]}`, so a guard could not judge it")
    names = (tool.claude or name,) if tool is not None else _mcp_names(dialect, name, payload)
    failed = _failed(moment, fields)
    return [{"tool_name": each, "tool_input": found, "x_tool_name": name, **made, **failed} for each in names]


def _call_id(moment: Moment, payload: Mapping[str, Json], fields: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return the id of a call; one that is made up is the same before and after the call."""
    if "tool_use_id" not in CATALOGUE[moment.claude].__struct_fields__ or _text(fields.get("tool_use_id")):
        return {}
    seed = encode([fields["session_id"], name, payload.get("tool_input")])
    return {"tool_use_id": f"x-{hashlib.sha256(seed).hexdigest()[:16]}"}


def _twice(tool: ToolMap | None, given: Mapping[str, Json]) -> str:
    """Name two keys that mean the same field: the agent obeys one of them, and guards might read the other."""
    keys = dict(tool.keys) if tool is not None else {}
    first: dict[str, str] = {}
    for key in given:
        earlier = first.setdefault(keys.get(key, key), key)
        if earlier != key:
            return f"both `{earlier}` and `{key}`"
    return ""


def _input(tool: ToolMap | None, given: Mapping[str, Json], cwd: str) -> dict[str, Json]:
    keys = dict(tool.keys) if tool is not None else {}
    found = {keys.get(key, key): value for key, value in given.items()}
    for key in _PATHS:
        if isinstance(found.get(key), str):
            found[key] = _absolute(found[key], cwd)
    return found


def _absolute(path: str, cwd: str) -> str:
    """Return an absolute path; `..` stays, since only the file system knows where it leads."""
    return os.path.join(cwd, path.removeprefix("./"))


def _failed(moment: Moment, fields: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the fields of a failure, if a result after a call says that the call failed."""
    response = fields.get("tool_response")
    error = response.get("error") if isinstance(response, Mapping) and moment.claude == "PostToolUse" else None
    if not error:
        return {}
    return {"hook_event_name": "PostToolUseFailure", "error": _error(error)}


def _patched(
    tool: ToolMap, moment: Moment, fields: Mapping[str, Json], given: Mapping[str, Json], made: Mapping[str, Json]
) -> Calls | UnreadablePayload:
    texts = [given[key] for key in ("command", "patchText") if key in given]
    if len(texts) != 1 or not isinstance(texts[0], str):
        return UnreadablePayload(
            moment, f"the input of {tool.name} has {'two patches' if len(texts) > 1 else 'no patch'}"
        )
    text = texts[0]
    touched = read_patch(text)
    if isinstance(touched, BrokenPatch):
        return UnreadablePayload(moment, f"the patch cannot be read: {touched.reason}")
    calls = [touch_call(touch, _absolute(touch.path, str(fields["cwd"]))) for touch in touched]
    common = {"x_tool_name": tool.name, **made}
    return [{"tool_name": claude, "tool_input": found, **common} for claude, found in calls]


def _mcp_names(dialect: Dialect, name: str, payload: Mapping[str, Json]) -> Sequence[str]:
    """Return every name that a tool outside the table may have in Claude Code: its own, or `mcp__server__tool`.

    Where the agent joins server and tool by a single `_`, each place of one may be the border.
    """
    before, _, _ = dialect.mcp_name.partition("{server}")
    if dialect.mcp_name.startswith("mcp__") or not name.startswith(before) or "{server}" not in dialect.mcp_name:
        return (name,)
    context = payload.get("mcp_context")
    if isinstance(context, Mapping) and isinstance(context.get("server_name"), str):
        server = context["server_name"]
        own = context.get("tool_name")
        return (f"mcp__{server}__{own if isinstance(own, str) else name.removeprefix(f'{before}{server}_')}",)
    rest = name.removeprefix(before)
    borders = [at for at, letter in enumerate(rest) if letter == "_" and 0 < at < len(rest) - 1]
    return (name, *(f"mcp__{rest[:at]}__{rest[at + 1 :]}" for at in borders))
