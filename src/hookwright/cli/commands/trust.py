"""`hookwright trust`: review what a project would run, and trust it as it is now."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

import msgspec

from hookwright.cli.options import add_places, places
from hookwright.cli.terminal import Style
from hookwright.config import Changed, Loaded, Review, Reviewed, Trusted, TrustPolicy, accept, review
from hookwright.errors import TrustError
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import place
from hookwright.text import flat, harmless, one_line, say

REFUSED = 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_places(parser)
    parser.add_argument("--yes", action="store_true", help="trust everything without asking")
    parser.add_argument("--show", action="store_true", help="show the review and change nothing")
    parser.add_argument("--revoke", action="store_true", help="revoke all trust in this project")
    parser.add_argument(
        "--json", action="store_true", help="print the review as JSON and, without --yes, change nothing"
    )
    parser.epilog = "Exit status: 0 if everything is trusted, 2 if something is not, 1 for usage and internal errors."


def run(args: argparse.Namespace) -> int:
    """Show what is pending, ask, and record the answers."""
    loaded = msgspec.structs.replace(places(args), trust=TrustPolicy.STORED).load()
    store = loaded.gate.store
    if args.revoke:
        store.revoke(loaded.project_dir)
        print(f"revoked: nothing in {loaded.project_dir} is trusted now")
        return 0
    found = review(loaded)
    if args.json:
        print(json.dumps(_record(found), indent=1))
    else:
        say(_lines(found, Style.of(sys.stdout)), sys.stdout)
    if not found.pending or args.show or (args.json and not args.yes):
        return REFUSED if found.pending else 0
    return _decide(args, loaded, found)


def _decide(args: argparse.Namespace, loaded: Loaded, found: Review) -> int:
    chosen = list(found.pending) if args.yes else list(_asked(found))
    unbound = [item for item in chosen if item.item.unbound]
    if unbound:
        raise TrustError(f"{place(unbound[0].item.source)}: cannot be trusted: {unbound[0].item.unbound}")
    if chosen:
        accept(loaded.gate.store, loaded.project_dir, chosen)
        print(f"trusted {len(chosen)} of {len(found.pending)}", file=sys.stderr if args.json else sys.stdout)
    return 0 if len(chosen) == len(found.pending) else REFUSED


def _asked(found: Review) -> Iterator[Reviewed]:
    if not sys.stdin.isatty():
        raise TrustError("stdin is not a terminal: review with --show, then trust with --yes")
    for item in found.pending:
        answer = input(f"trust {item.item.event or 'settings'} {one_line(item.item.label, 60)}? [y/N/all/quit] ")
        if answer.lower() in ("a", "all"):
            yield from found.pending[found.pending.index(item) :]
            return
        if answer.lower() in ("q", "quit"):
            return
        if answer.lower() in ("y", "yes"):
            yield item


def _word(item: Reviewed) -> str:
    if isinstance(item.state, Trusted):
        return "trusted"
    return "changed" if isinstance(item.state, Changed) else "new"


def _lines(found: Review, style: Style) -> Iterator[str]:
    yield style.bold(flat(found.project))
    if not found.items:
        yield "  this project has no hooks or settings"
    for item in found.items:
        word = style.good("trusted") if not item.pending else style.warn(_word(item))
        what = one_line(f"{item.item.event} {item.item.matcher or '*'}") if item.item.event else "settings keys"
        yield f"  {word}  {what}  {one_line(item.item.label)}  {style.dim(place(item.item.source))}"
        if item.item.unbound:
            yield f"      {style.bad('cannot be trusted: ' + flat(item.item.unbound))}"
        for file in item.item.files:
            yield f"      {style.dim('runs ' + flat(file.path))}"
        for line in item.diff().splitlines():
            yield f"      {_coloured(harmless(line), style)}"
    for record in found.removed:
        yield style.dim(f"  gone     {flat(record.place)} was trusted but is no longer configured")


def _coloured(line: str, style: Style) -> str:
    if line.startswith("+"):
        return style.good(line)
    return style.bad(line) if line.startswith("-") else style.dim(line)


def _record(found: Review) -> dict[str, Json]:
    return {
        "project": found.project,
        "pending": len(found.pending),
        "items": [
            {
                "state": _word(item),
                "event": item.item.event or None,
                "matcher": item.item.matcher,
                "handler": item.item.label,
                "source": place(item.item.source),
                "files": [file.path for file in item.item.files],
                "digest": item.item.digest,
                "diff": item.diff(),
            }
            for item in found.items
        ],
    }
