"""Let a console see the events of Claude Code: one silent observer per event in the user's settings."""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from hookwright.cli.bridges.edited import diff_lines, write_file
from hookwright.config.files import read_to_edit
from hookwright.config.locations import Surroundings
from hookwright.dialects.export.groups import entries_in, is_ours, with_entries, without_entries
from hookwright.errors import ConfigError
from hookwright.observers.live import BEACON, LIVE
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.text import plural, say

#: In every entry of ours, and in no other.
MARK = r"# hookwright observe\b"
#: Seconds that Claude Code gives an observer, which runs in the background.
_TIMEOUT = 5


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("action", choices=("install", "uninstall"), help="add the observers, or remove them")
    parser.add_argument("--payloads", action="store_true", help="observe the events as hooks read them (the default)")
    parser.add_argument("--dry-run", action="store_true", help="show the change and write nothing")
    parser.add_argument("--yes", action="store_true", help="write without asking")
    parser.epilog = (
        "An observer answers nothing, runs in the background, and writes an event only while `hookwright web` is open. "
        "The page then shows which hooks should have run, never what they answered. `uninstall` leaves the file as it "
        "was before, byte for byte."
    )


def run(args: argparse.Namespace) -> int:
    """Show the change, ask, and write it."""
    around = Surroundings.here(dict(os.environ), None, None)
    path = os.path.join(around.config_dir, "settings.json")
    text = read_to_edit(path)
    new = _changed(args.action, path, text, around.state_dir)
    if new == text:
        say([f"{path} is as it should be; nothing to change"], sys.stderr)
        return 0
    say(diff_lines(path, text, new if new is not None else ""), sys.stdout)
    if args.dry_run or not (args.yes or _agreed(path)):
        say(["nothing was written"], sys.stderr)
        return 0
    if new is None:
        os.unlink(os.path.realpath(path))
    else:
        write_file(path, new)
    events = plural(len(CATALOGUE), "event")
    say([f"observers of {events} added to {path}" if args.action == "install" else f"removed from {path}"], sys.stderr)
    return 0


def _changed(action: str, path: str, text: str | None, state: str) -> str | None:
    """Return the file with or without our entries; None for no file."""
    try:
        kept = without_entries(text, MARK) if text is not None and is_ours(text, MARK) else text
        if action == "uninstall":
            return kept
        wanted = {event: observer(state) for event in CATALOGUE}
        if text is not None and entries_in(text, MARK) == {event: [entry] for event, entry in wanted.items()}:
            return text
        return with_entries(kept, wanted)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def observer(state: str) -> dict[str, Json]:
    """Return the entry of an event.

    Law: it never answers and never fails, costs the session nothing (it is `async`), writes only while a console renews
    its file, and puts each event into a file of its own, which appears whole.
    """
    live = shlex.quote(os.path.join(state, LIVE))
    script = (
        f"d={live}; "
        f'[ -n "$(find "$d/{BEACON}" -mmin -1 2>/dev/null)" ] || exit 0; '
        'f=$(mktemp "$d/.event.XXXXXXXX") && cat > "$f" && mv "$f" "$f.json"; exit 0 # hookwright observe'
    )
    return {"hooks": [{"type": "command", "command": script, "async": True, "timeout": _TIMEOUT}]}


def _agreed(path: str) -> bool:
    """Ask a person; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        say([f"add --yes to write this to {path}"], sys.stderr)
        return False
    say([f"Write this to {path}? [y/N] "], sys.stderr)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
