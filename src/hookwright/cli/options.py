"""Options that several commands share: where hooks are loaded from, and which event to fire."""

from __future__ import annotations

import argparse
import os
import select
import stat
import sys

from hookwright.cli.agentflags import listed
from hookwright.config import Places
from hookwright.config.locations import Surroundings
from hookwright.config.trust import TrustPolicy
from hookwright.errors import InvalidEvent
from hookwright.protocol.events import CATALOGUE, Event
from hookwright.protocol.jsontext import Json, json_type, parse_json
from hookwright.protocol.samples import new_session_id, sample_fields, tool_input
from hookwright.protocol.wire import decode_event
from hookwright.text import did_you_mean

#: How many seconds a pipe may be silent before an event is fired without reading it.
_PATIENCE = 0.3


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where hooks are loaded from."""
    parser.add_argument(
        "--project", default=".", metavar="DIR", help="project directory (default: the current directory)"
    )
    parser.add_argument(
        "--settings",
        action="append",
        default=[],
        metavar="FILE|JSON",
        help="load additional settings from a file or a JSON string",
    )
    parser.add_argument(
        "--setting-sources",
        type=listed,
        metavar="LIST",
        help="load only these settings: user, project, local (comma-separated)",
    )
    parser.add_argument(
        "--plugin-dir", action="append", default=[], metavar="DIR", help="load a plugin from a directory"
    )
    parser.add_argument("--trust", action="store_true", help="trust the project's hooks for this command")


def add_shadow(parser: argparse.ArgumentParser) -> None:
    """Add the option that runs the hooks of a file in shadow mode."""
    parser.add_argument(
        "--shadow",
        action="append",
        default=[],
        metavar="FILE|JSON",
        help="also run the hooks of this settings file, without any effect, and record what they would decide",
    )


def places(args: argparse.Namespace) -> Places:
    """Return the places these options name."""
    return Places(
        project=args.project,
        env=dict(os.environ),
        settings=tuple(args.settings),
        shadow=tuple(getattr(args, "shadow", ())),
        sources=args.setting_sources,
        plugin_dirs=tuple(args.plugin_dir),
        trust=TrustPolicy.EVERYTHING if args.trust else None,
    )


def add_event(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe an event."""
    parser.add_argument(
        "event",
        nargs="?",
        metavar="EVENT",
        help="event name; JSON on stdin gives its fields, and the event itself if no name is given",
    )
    parser.add_argument(
        "--sample",
        metavar="WHAT",
        help="use sample data for this tool (Write, mcp__server__tool) or matcher value (resume, manual)",
    )
    parser.add_argument(
        "--tool", metavar="NAME", help="set `tool_name`, with a sample `tool_input` unless --input is given"
    )
    parser.add_argument("--input", metavar="JSON", help="set `tool_input`")
    parser.add_argument("--prompt", metavar="TEXT", help="set `prompt`")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FIELD=VALUE",
        help="set any other field to a JSON value or a string",
    )


def read_event(args: argparse.Namespace) -> Event:
    """Build the event from the options, or read it from stdin."""
    if args.event is None:
        if sys.stdin.isatty():
            raise InvalidEvent(
                "name an event, or write its JSON to stdin; for example: hookwright fire PreToolUse --tool Bash"
            )
        if args.sample is not None:
            raise InvalidEvent(f"--sample {args.sample}: also name the event, for example PreToolUse")
        return decode_event(_completed(sys.stdin.buffer.read(), args))
    if args.event not in CATALOGUE:
        raise InvalidEvent(f"`{args.event}` is not an event{_hint(args.event)}")
    _check_options(args)
    piped = waiting_input()
    return decode_event(_completed(piped, args) if piped.strip() else _filled(args.event, args, {}))


def _hint(word: str) -> str:
    if os.path.isfile(word):
        return f"; to read an event from a file, write: hookwright fire < {word}"
    return did_you_mean(word, CATALOGUE)


def waiting_input() -> bytes:
    """Return what a file or another program gives this one to read; nothing from a terminal or a silent pipe."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return b""
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        ready, _, _ = select.select([sys.stdin], [], [], _PATIENCE)
        return sys.stdin.buffer.read() if ready else b""
    return sys.stdin.buffer.read() if stat.S_ISREG(mode) else b""


def _completed(data: bytes, args: argparse.Namespace) -> dict[str, Json]:
    """Return an event from JSON, with ordinary values for the fields it lacks."""
    value, problem = parse_json(data.decode("utf-8", "replace"))
    if problem is not None:
        raise InvalidEvent(f"the event on stdin is not valid JSON: {problem}")
    if not isinstance(value, dict):
        raise InvalidEvent(f"an event is a JSON object, not {json_type(value)}")
    name = value.get("hook_event_name", args.event)
    if not isinstance(name, str) or name not in CATALOGUE:
        decode_event(value)  # raises with the reason
    if args.event is not None and name != args.event:
        raise InvalidEvent(f"the event on stdin is {name}, not {args.event}; name one of them")
    return _filled(name, args, value)


def _filled(name: str, args: argparse.Namespace, read: dict[str, Json]) -> dict[str, Json]:
    """Join samples, the event that was read and the options, the last one first; a tool has its own sample."""
    given = _given(args)
    tool = given.get("tool_name", read.get("tool_name"))
    variant = args.sample
    if variant is None and isinstance(tool, str) and tool_input(tool, "/") is not None:
        variant = tool if CATALOGUE[name].rules.target == "tool_name" else None
    return {**_defaults(name, args.project, variant), **read, **given}


def _check_options(args: argparse.Namespace) -> None:
    """Raise InvalidEvent for an option that sets a field the event does not have."""
    fields = (*CATALOGUE[args.event].__struct_fields__, "hook_event_name")
    for option, field in (("tool", "tool_name"), ("input", "tool_input"), ("prompt", "prompt")):
        if getattr(args, option) is not None and field not in fields:
            raise InvalidEvent(f"--{option}: {args.event} has no field `{field}`; remove the option")
    for item in args.set:
        name = item.partition("=")[0]
        if name not in fields or name == "extra":
            raise InvalidEvent(f"--set {item}: {args.event} has no field `{name}`{did_you_mean(name, fields)}")


def _given(args: argparse.Namespace) -> dict[str, Json]:
    given: dict[str, Json] = {}
    if args.tool is not None:
        given["tool_name"] = args.tool
        given["tool_input"] = tool_input(args.tool, os.path.abspath(args.project)) or {}
    if args.input is not None:
        value, problem = parse_json(args.input)
        if problem is not None or not isinstance(value, dict):
            raise InvalidEvent(f'--input {args.input}: not a JSON object; write, for example, \'{{"command": "ls"}}\'')
        given["tool_input"] = value
    if args.prompt is not None:
        given["prompt"] = args.prompt
    for item in args.set:
        name, equals, text = item.partition("=")
        if not equals:
            raise InvalidEvent(f"--set {item}: not an assignment; write FIELD=VALUE")
        value, problem = parse_json(text)
        given[name] = text if problem is not None else value
    return given


def _defaults(name: str, project: str, variant: str | None) -> dict[str, Json]:
    """Return the fields a session would fill in: IDs, paths, and the event's own required fields."""
    cwd = os.path.abspath(project)
    config_dir = Surroundings.here(None, None, None).config_dir
    session = new_session_id()
    slug = "".join(letter if letter.isalnum() else "-" for letter in cwd)
    return {
        "session_id": session,
        "transcript_path": os.path.join(config_dir, "projects", slug, f"{session}.jsonl"),
        "cwd": cwd,
        "hook_event_name": name,
        **sample_fields(name, cwd, variant),
    }
