"""`hookwright trust`: review what a project would run, and trust it as it is now."""

from __future__ import annotations

import argparse
import json
import sys
import termios
from collections.abc import Iterable, Iterator

import msgspec

from hookwright.cli.options import add_places, places
from hookwright.cli.terminal import Style, columns, folded
from hookwright.config import Changed, Loaded, Review, Reviewed, Trusted, TrustPolicy, accept, review
from hookwright.config.items import ABSENT
from hookwright.errors import TrustError
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import place
from hookwright.text import flat, harmless, one_line, say

REFUSED = 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_places(parser)
    parser.add_argument("--yes", action="store_true", help="trust everything without asking, dangerous items excepted")
    parser.add_argument("--dangerous", action="store_true", help="with --yes, also trust what needs its own yes")
    parser.add_argument("--show", action="store_true", help="show the review and change nothing")
    parser.add_argument("--revoke", action="store_true", help="revoke all trust in this project")
    parser.add_argument(
        "--json", action="store_true", help="print the review as JSON and, without --yes, change nothing"
    )
    parser.epilog = "Exit status: 0 if everything is trusted, 2 if something is not and for usage errors."


def run(args: argparse.Namespace) -> int:
    """Show what is pending, ask, and record the answers."""
    loaded = msgspec.structs.replace(places(args), trust=TrustPolicy.STORED).load()
    store = loaded.gate.store
    if args.revoke:
        store.revoke(loaded.project_dir)
        print(f"revoked: nothing in {loaded.project_dir} is trusted now")
        return 0
    found = review(loaded)
    asks = bool(found.pending) and not (args.json or args.show or args.yes)
    if asks and not sys.stdin.isatty():
        raise TrustError("stdin is not a terminal: review with --show, then trust with --yes")
    style = Style.of(sys.stdout)
    if args.json:
        print(json.dumps(_record(found), indent=1))
    elif asks:
        say(_frame(found, style), sys.stdout)
    else:
        say([*_head(found, style), *_items(found.items, style), *_tail(found, style)], sys.stdout)
    if not found.pending or args.show or (args.json and not args.yes):
        return REFUSED if found.pending else 0
    return _decide(args, loaded, found)


def _frame(found: Review, style: Style) -> Iterator[str]:
    """Introduce the questions: what needs none, and what is gone."""
    yield from _head(found, style)
    yield from _items([item for item in found.items if not item.pending], style)
    yield from _tail(found, style)


def _decide(args: argparse.Namespace, loaded: Loaded, found: Review) -> int:
    every = found.pending if args.dangerous else found.ordinary
    chosen = list(every) if args.yes else list(_asked(found, Style.of(sys.stdout)))
    unbound = [item for item in chosen if item.item.unbound]
    if unbound:
        raise TrustError(f"{place(unbound[0].item.source)}: cannot be trusted: {unbound[0].item.unbound}")
    if chosen:
        accept(loaded.gate.store, loaded.project_dir, chosen)
        print(f"trusted {len(chosen)} of {len(found.pending)}", file=sys.stderr if args.json else sys.stdout)
    for item in found.pending if args.yes else ():
        if item not in chosen:
            print(f"not trusted: {one_line(item.item.label)}: {flat(item.item.caution)}", file=sys.stderr)
            print("Trust it with a yes of its own: hookwright trust, or --yes --dangerous", file=sys.stderr)
    return 0 if len(chosen) == len(found.pending) else REFUSED


def _asked(found: Review, style: Style) -> Iterator[Reviewed]:
    """Show one item, ask about it, and continue with the next; a yes to the rest is asked twice."""
    every = False
    for number, item in enumerate(found.pending, 1):
        say(_items([item], style), sys.stdout)
        if every and not item.item.caution:
            yield item
            continue
        choices = "y/N/quit" if item.item.caution else "y/N/all/quit"
        danger = f"DANGEROUS, {flat(item.item.caution)}. " if item.item.caution else ""
        what = one_line(f"{_what(item)} {item.item.label}", 80)
        answer = _answer(f"({number} of {len(found.pending)}) {danger}trust {what}? [{choices}] ", choices)
        if answer == "all":
            rest = sum(not other.item.caution for other in found.pending[number - 1 :])
            every = _answer(f"trust all {rest} that are left, without reading them? [y/N] ", "y/N") == "y"
        if answer == "quit":
            return
        if answer == "y" or (answer == "all" and every):
            yield item


_ANSWERS = {"": "n", "y": "y", "yes": "y", "n": "n", "no": "n", "a": "all", "all": "all", "q": "quit", "quit": "quit"}


def _answer(question: str, choices: str) -> str:
    """Ask until the answer is one of the choices or empty; what was typed before the question is dropped."""
    known = choices.lower().split("/")
    while True:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        try:
            answer = _ANSWERS.get(input(question).strip().lower())
        except EOFError:
            return "quit"
        if answer in known:
            return answer
        print(f"answer {', '.join(known)}, or enter for no")


def _what(item: Reviewed) -> str:
    if item.item.event:
        return one_line(f"{item.item.event} {item.item.matcher or '*'}")
    return {"env": "variables", "agent": "agent file"}.get(item.item.source.pointer, "settings keys")


def _word(item: Reviewed) -> str:
    if isinstance(item.state, Trusted):
        return "trusted"
    return "changed" if isinstance(item.state, Changed) else "new"


def _head(found: Review, style: Style) -> Iterator[str]:
    yield style.bold(flat(found.project))
    if not found.items:
        yield "  this project has no hooks or settings"


def _items(items: Iterable[Reviewed], style: Style) -> Iterator[str]:
    for item in items:
        word = style.good("trusted") if not item.pending else style.warn(_word(item))
        yield from _fitting([f"  {word}  {_what(item)}  {one_line(item.item.label)}  {style.dim(_where(item))}"])
        yield from _fitting(_remarks(item, style))
        yield from _content(item, style)


def _where(item: Reviewed) -> str:
    """Name the settings files; only a hook has a place of its own in one."""
    sources = item.item.sources
    if not item.item.event:
        sources = tuple(msgspec.structs.replace(source, pointer="", line=0) for source in sources)
    return ", ".join(map(place, sources))


def _fitting(lines: Iterable[str]) -> Iterator[str]:
    return folded(lines, columns(sys.stdout))


def _remarks(item: Reviewed, style: Style) -> Iterator[str]:
    if item.item.borrowed:
        yield f"      {style.warn('your own hook, which runs these files of the project')}"
    if item.item.caution:
        yield f"      {style.bad('dangerous: ' + flat(item.item.caution))}"
    if item.item.unbound:
        yield f"      {style.bad('cannot be trusted: ' + flat(item.item.unbound))}"
    for file in item.item.files:
        if file.digest != ABSENT:
            yield f"      {style.dim('runs ' + flat(file.path))}"
    absent = [flat(file.path) for file in item.item.files if file.digest == ABSENT]
    if absent:
        more = f", and {len(absent) - 3} more" if len(absent) > 3 else ""
        yield f"      {style.dim('would also run if they appeared: ' + ', '.join(absent[:3]) + more)}"
    for note in item.item.notes:
        yield f"      {style.warn('not bound: ' + flat(note))}"


def _content(item: Reviewed, style: Style) -> Iterator[str]:
    """Show a changed item by its differences and a new one in full; code keeps its lines."""
    if isinstance(item.state, Changed):
        for line in item.diff().splitlines():
            yield f"      {_coloured(harmless(line), style)}"
    for name, text in item.whole() if item.pending and not isinstance(item.state, Changed) else ():
        if name != "entry":
            yield f"      {style.bold(flat(name))}" + ("" if text is not None else ": too large to show, or not text")
        for line in (text or "").splitlines():
            yield f"      {style.good('+' + harmless(line))}"


def _tail(found: Review, style: Style) -> Iterator[str]:
    if found.texts:
        yield style.dim(f"  also brings {', '.join(found.texts)}: text for the model, which needs no trust")
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
                "source": _where(item),
                "files": [file.path for file in item.item.files],
                "not_bound": list(item.item.notes),
                "dangerous": item.item.caution or None,
                "borrowed": item.item.borrowed,
                "digest": item.item.digest,
                "diff": item.diff(),
            }
            for item in found.items
        ],
    }
