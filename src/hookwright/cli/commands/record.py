"""Record test cases from a session: from its transcript, or from a command that runs now."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from hookwright.agent.transcript.lines import read_lines
from hookwright.cases.record import (
    EventChoice,
    Seen,
    Written,
    as_json,
    as_yaml,
    from_recording,
    make_cases,
)
from hookwright.errors import InvalidCase
from hookwright.observers.recorder import RECORD_VARIABLE
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.wire import payload
from hookwright.replay.past import Coverage, Past, Provenance
from hookwright.replay.sources import past_events
from hookwright.text import did_you_mean, plural


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("transcript", nargs="*", metavar="TRANSCRIPT", help="transcripts (.jsonl) of earlier sessions")
    parser.add_argument("--event", action="append", default=[], metavar="NAME", help="record only this event")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME", help="record only this tool")
    parser.add_argument("--limit", type=int, metavar="N", help="record at most N cases")
    parser.add_argument(
        "--out", metavar="FILE", help="write the cases to a new .yaml or .json file (default: YAML to stdout)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of YAML")
    parser.epilog = (
        "`hookwright record [OPTIONS] -- COMMAND ...` runs a command, for example `hookwright run`, and records the "
        "events of its session with the hooks' decisions. Cases from a transcript have no expectations yet: "
        "`hookwright test --update` adds what the hooks do now. A case that a hook of your own settings decided "
        "names them in `sources`, so it runs with them. Credentials are redacted, but "
        "review the file before you commit it."
    )


def run(args: argparse.Namespace) -> int:
    """Collect events and write cases."""
    for name in args.event:
        if name not in CATALOGUE:
            raise InvalidCase(f"--event {name}: is not an event{did_you_mean(name, CATALOGUE)}")
    if args.out is not None and os.path.lexists(args.out):
        raise InvalidCase(f"--out {args.out}: already exists; name a new file")
    files, command = split(args.transcript)
    status = 0
    if command:
        status, seen = _live(command)
    elif files:
        seen = _of_transcripts(files)
    else:
        raise InvalidCase(
            "name a transcript, or a command to run: hookwright record -- hookwright run 'list the files'"
        )
    wanted = EventChoice(events=frozenset(args.event), tools=frozenset(args.tool), limit=args.limit)
    cases = make_cases(seen, wanted)
    if not cases:
        raise InvalidCase(f"no case written: none of the {len(seen)} events matches --event and --tool")
    _write(cases, args)
    return status


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate transcripts from a command: a first word that does not end with .jsonl starts a command."""
    if words and not words[0].endswith(".jsonl"):
        return [], list(words)
    return list(words), []


def _of_transcripts(paths: Sequence[str]) -> list[Seen]:
    """Rebuild the events of transcripts; a case only has what the transcript holds or what follows from it."""
    for path in paths:
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise InvalidCase(f"{path}: cannot be read: {error.strerror}") from None
    coverage = Coverage()
    seen = [Seen(_sure(past)) for past in past_events(paths, coverage=coverage)]
    if coverage.never_started:
        calls = plural(coverage.never_started, "call")
        print(f"not recorded: {calls} that no hook saw (an unknown tool or an invalid input)", file=sys.stderr)
    if coverage.unreadable:
        print(f"not recorded: {plural(coverage.unreadable, 'line')} that cannot be read", file=sys.stderr)
    return seen


def _sure(past: Past) -> dict[str, Json]:
    """Return a rebuilt event without the fields that are only assumed."""
    return {
        key: value for key, value in payload(past.event).items() if past.provenance.get(key) is not Provenance.ASSUMED
    }


def _live(command: Sequence[str]) -> tuple[int, list[Seen]]:
    """Run a command whose session records itself; the command handles Ctrl+C itself."""
    with tempfile.TemporaryDirectory(prefix="hookwright-record-") as folder:
        path = os.path.join(folder, "events.jsonl")
        # A handler, not SIG_IGN, which the command would inherit.
        before = signal.signal(signal.SIGINT, lambda *_: None)
        try:
            done = subprocess.run(command, env={**os.environ, RECORD_VARIABLE: path}, check=False)
        except OSError as error:
            what = "no such transcript" if command[0].endswith((".jsonl", ".json")) else "cannot be started"
            raise InvalidCase(f"{command[0]}: {what}: {error.strerror}") from None
        finally:
            signal.signal(signal.SIGINT, before)
        if not os.path.exists(path):
            raise InvalidCase(f"`{command[0]}` fired no event through Hookwright; there is nothing to record")
        return done.returncode, list(from_recording(read_lines(path)))


def _write(cases: Sequence[Written], args: argparse.Namespace) -> None:
    wants_json = args.json or (args.out is not None and args.out.endswith(".json"))
    text = as_json(cases) if wants_json else as_yaml(cases)
    if args.out is None:
        print(text, end="")
        return
    os.makedirs(os.path.dirname(os.path.abspath(args.out)), exist_ok=True)
    with open(args.out, "x", encoding="utf-8") as file:
        file.write(text)
    decided = sum("expect" in case for case in cases)
    print(f"{args.out}: {plural(len(cases), 'case')}, {decided} with a decision", file=sys.stderr)
    print(f"next: hookwright test {args.out}{'' if decided == len(cases) else ' --update'}", file=sys.stderr)
