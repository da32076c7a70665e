"""Options that several commands share: where hooks are loaded from, and which event to fire."""

from __future__ import annotations

import argparse
import os
import sys

from hookwright.cli.agentflags import listed
from hookwright.config import Places
from hookwright.config.locations import Surroundings
from hookwright.config.trust import TrustPolicy
from hookwright.errors import InvalidEvent
from hookwright.protocol.events import CATALOGUE, Event
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.samples import new_session_id, sample_fields, tool_input
from hookwright.protocol.wire import decode_event
from hookwright.text import did_you_mean


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


def places(args: argparse.Namespace) -> Places:
    """Return the places these options name."""
    return Places(
        project=args.project,
        env=dict(os.environ),
        settings=tuple(args.settings),
        sources=args.setting_sources,
        plugin_dirs=tuple(args.plugin_dir),
        trust=TrustPolicy.EVERYTHING if args.trust else None,
    )


def add_event(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe an event."""
    parser.add_argument(
        "event", nargs="?", metavar="EVENT", help="event name; if omitted, the event is read as JSON from stdin"
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
        return decode_event(sys.stdin.buffer.read())
    if args.event not in CATALOGUE:
        raise InvalidEvent(f"`{args.event}` is not an event{did_you_mean(args.event, CATALOGUE)}")
    return decode_event({**_defaults(args.event, args.project, args.sample), **_given(args)})


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
