"""`hookwright schema`: print JSON Schemas, generated from the event catalogue."""

from __future__ import annotations

import argparse
import json
import os

from hookwright.config.schema import Schema, all_schemas, input_schema, output_schema, settings_schema
from hookwright.errors import ConfigError, InvalidEvent
from hookwright.protocol.events import CATALOGUE
from hookwright.text import did_you_mean

WHAT = ("settings", "input", "output", "all")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("what", choices=WHAT, metavar="WHAT", help="settings, input, output or all")
    parser.add_argument("event", nargs="?", metavar="EVENT", help="the event, required for input and output")
    parser.add_argument("--out", metavar="DIR", help="write the schemas to files in this directory")
    parser.add_argument("--json", action="store_true", help="accepted for consistency: schemas are always JSON")


def run(args: argparse.Namespace) -> int:
    """Print the schemas, or write them to files."""
    chosen = _chosen(args.what, args.event)
    if args.out is not None:
        for name, schema in chosen.items():
            path = os.path.join(args.out, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(schema, file, indent=2)
                file.write("\n")
        print(f"wrote {len(chosen)} schema{'s' if len(chosen) > 1 else ''} to {args.out}")
        return 0
    shown = next(iter(chosen.values())) if len(chosen) == 1 else chosen
    print(json.dumps(shown, indent=2))
    return 0


def _chosen(what: str, event: str | None) -> dict[str, Schema]:
    if what in ("settings", "all"):
        if event is not None:
            raise ConfigError(f"`hookwright schema {what}` takes no event: remove `{event}`")
        return {"settings.schema.json": settings_schema()} if what == "settings" else all_schemas()
    if event is None:
        raise ConfigError(f"name an event, for example: hookwright schema {what} PreToolUse")
    if event not in CATALOGUE:
        raise InvalidEvent(f"`{event}` is not an event{did_you_mean(event, CATALOGUE)}")
    made = input_schema(event) if what == "input" else output_schema(event)
    return {f"{what}/{event}.schema.json": made}
