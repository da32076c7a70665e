"""What the page shows. Every text comes from the function that the command of the same name prints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookwright.cli.commands.explain import explain, explanation
from hookwright.cli.commands.list import record as listed
from hookwright.cli.commands.stats import Counted, count, never_fired
from hookwright.cli.terminal import Style
from hookwright.config import Loaded, Places
from hookwright.config.review import review
from hookwright.config.scripts import named_files
from hookwright.config.scripts.search import Reach
from hookwright.errors import HookwrightError, InvalidEvent
from hookwright.observers.journal import short
from hookwright.observers.journal.reader import Filter
from hookwright.observers.journal.records import Record
from hookwright.observers.percentiles import percentile
from hookwright.protocol.events import Event
from hookwright.protocol.jsontext import Json
from hookwright.protocol.samples import sample, sample_fields
from hookwright.protocol.secrets import redact
from hookwright.protocol.sources import place
from hookwright.protocol.wire import decode_event
from hookwright.session import survey
from hookwright.text import harmless
from hookwright.web.traffic import Traffic
from hookwright.web.wires import CLAUDE, Wires

#: Bytes of a script that are shown.
_SCRIPT = 256 * 1024
#: Upper bounds of a latency histogram's bars, in milliseconds; the last bar is everything above.
BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
#: How complete the picture of a session is, by the agent that fired its events.
BADGES: Mapping[str, tuple[str, str]] = {
    "hookwright": ("complete", "every hook of every event of this session is recorded"),
    CLAUDE: (
        "expected",
        "an observer read the event; which hooks should have run is known from the settings, what they answered is not",
    ),
}
_BRIDGED = ("bridged", "the events that the agent gave to `hookwright hook` are recorded, and no others")


class Console(msgspec.Struct, frozen=True):
    """What the views read from."""

    places: Places
    traffic: Traffic
    wires: Wires


def detail(console: Console, number: int) -> dict[str, Json]:
    """Return one firing: its record, each run with what it read and printed as far as that was seen, and each skip."""
    records = console.traffic.records(number)
    event = records[0]
    seen = console.wires.of(str(event.get("fire", "")))
    outputs = {str(record.get("run")): record for record in seen if record.get("kind") in ("run", "late")}
    ended = next((record for record in seen if record.get("kind") == "event"), {})
    runs = [clean(record) | {"seen": _shown(outputs.get(str(record.get("run")), {}))} for record in _runs(records)]
    return {
        "number": number,
        "event": clean(event),
        "runs": runs,
        "skips": [clean(record) for record in records if record.get("kind") == "skip"],
        "input": _input(ended.get("input")),
        "model": [harmless(redact(str(text))) for text in _list(ended.get("model"))],
        "user": [harmless(redact(str(text))) for text in _list(ended.get("user"))],
        "seen": bool(ended),
        "badge": badge(str(event.get("src", "hookwright"))),
        "observed": event.get("src") == CLAUDE,
        "unlinked": not event.get("fire") and bool(event.get("ran")),
    }


def _runs(records: Iterable[Record]) -> list[Record]:
    """Join the end of a background hook with its start."""
    found: dict[str, Record] = {}
    for record in records:
        if record.get("kind") == "run":
            found[str(record.get("run"))] = record
        elif record.get("kind") == "late":
            found.setdefault(str(record.get("run")), {})
            found[str(record.get("run"))] |= {name: value for name, value in record.items() if name != "kind"}
    return list(found.values())


def badge(agent: str) -> dict[str, Json]:
    """Return how complete the picture of an agent's sessions is, in a word and a sentence."""
    word, sentence = BADGES.get(agent, _BRIDGED)
    return {"word": word, "sentence": sentence}


def sessions(console: Console) -> list[dict[str, Json]]:
    """Return the sessions in the journal, the newest first."""
    names = console.traffic.names.texts
    found: dict[int, dict[str, Json]] = {}
    for row in console.traffic.rows:
        time, _, _, session, cwd, agent, decision, ran, _, errors, _, _ = row
        known = found.setdefault(
            session,
            {"session": names[session], "cwd": harmless(names[cwd]), "agent": names[agent], "first": time, "events": 0}
            | {"runs": 0, "refused": 0, "errors": 0, "badge": badge(names[agent])},
        )
        known["last"] = time
        known["events"] += 1
        known["runs"] += ran
        known["refused"] += names[decision] in ("deny", "block")
        known["errors"] += errors
    return sorted(found.values(), key=lambda one: -one["last"])


# ── hooks ───────────────────────────────────────────────────────────────────


def hooks(console: Console, project: str | None) -> dict[str, Json]:
    """Return the effective hooks of a project with what they did, and those that never ran."""
    loaded = _loaded(console, project)
    records = list(console.traffic.all_records())
    counted = {(row.event, row.handler, row.source): row for row in count(records)}
    silent = {id(entry) for entry in never_fired(loaded, records, Filter())}
    rows = []
    for number, state in enumerate(survey(loaded).states()):
        handler = state.entry.handler
        where = place(handler.source)
        row = counted.get((state.entry.event, short(handler.label), where)) or _of_any_line(
            counted, state.entry.event, short(handler.label), handler.source.path
        )
        rows.append(
            clean(listed(state, loaded)) | _figures(row) | {"number": number, "never": id(state.entry) in silent}
        )
    return {
        "project": harmless(loaded.project_dir),
        "hooks": rows,
        "problems": [
            {"severity": note.severity.value, "text": harmless(str(note))}
            for note in loaded.diagnostics
            if note.severity.value != "info"
        ],
        "bounds": list(BOUNDS),
    }


def _of_any_line(counted: Mapping[tuple[str, str, str], Counted], event: str, label: str, path: str) -> Counted | None:
    """Return what a hook did before its line moved in its file."""
    return next(
        (
            row
            for (an_event, a_label, source), row in counted.items()
            if (an_event, a_label) == (event, label) and source.rpartition(":")[0] == path
        ),
        None,
    )


def _figures(row: Counted | None) -> dict[str, Json]:
    if row is None:
        return {"runs": 0, "refused": 0, "failed": 0, "p50": None, "p95": None, "histogram": [], "last": None}
    return {
        "runs": row.runs,
        "refused": row.refused,
        "failed": row.failed,
        "p50": percentile(row.times, 0.50) if row.times else None,
        "p95": percentile(row.times, 0.95) if row.times else None,
        "histogram": histogram(row.times),
        "last": row.last or None,
    }


def histogram(times: Sequence[float]) -> list[int]:
    """Count times by the bounds of the bars: a time is in the first bar whose bound it does not exceed."""
    bars = [0] * (len(BOUNDS) + 1)
    for time in times:
        bars[next((at for at, bound in enumerate(BOUNDS) if time <= bound), len(BOUNDS))] += 1
    return bars


def script(console: Console, project: str | None, number: int) -> dict[str, Json]:
    """Return the files that a hook runs, to read, with the last runs; raise HookwrightError for an unknown hook."""
    loaded = _loaded(console, project)
    states = survey(loaded).states()
    if not 0 <= number < len(states):
        raise HookwrightError(f"there is no hook {number}; load the page again")
    entry = states[number].entry
    host = loaded.host
    files = named_files(entry.handler, Reach(host.project_dir, host.project_dir, host.home))
    label = short(entry.handler.label)
    last = [
        clean(record)
        for record in console.traffic.all_records()
        if record.get("kind") == "run" and record.get("handler") == label and record.get("event") == entry.event
    ][-20:]
    return {
        "handler": harmless(entry.handler.label),
        "place": harmless(place(entry.handler.source)),
        "files": [{"path": harmless(path), "text": _file(path)} for path in files if os.path.isfile(path)],
        "last": last[::-1],
    }


def _file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(_SCRIPT + 1)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if b"\0" in data:
        return "this is a program, not a text"
    text = harmless(data[:_SCRIPT].decode("utf-8", "replace"))
    return f"{text}\n… the rest is not shown" if len(data) > _SCRIPT else text


def _loaded(console: Console, project: str | None) -> Loaded:
    """Load the settings of a project: the console's own, or one that an event named."""
    if project and project not in console.traffic.names.texts:
        raise HookwrightError(f"{project}: no event came from there")
    where = msgspec.structs.replace(console.places, project=project) if project else console.places
    return where.load()


# ── explain and trust ───────────────────────────────────────────────────────


def explained(console: Console, number: int) -> dict[str, Json]:
    """Explain for a past event why each hook would run now: the text of `hookwright explain`."""
    record = console.traffic.records(number)[0]
    event, whole = _event(console, record)
    loaded = _loaded(console, str(record.get("cwd")))
    lines = list(explanation(event, explain(event, survey(loaded)), loaded, Style(False)))
    note = "" if whole else "The journal keeps no inputs, so an `if` is judged on a sample of this tool's input."
    return {"lines": [harmless(line) for line in lines], "note": note}


def _event(console: Console, record: Record) -> tuple[Event, bool]:
    """Return a past event, and whether it is whole: a console that was open has its input, the journal has not."""
    for seen in console.wires.of(str(record.get("fire", ""))):
        if seen.get("kind") == "event":
            try:
                return decode_event(msgspec.json.decode(str(seen.get("input")))), True
            except (InvalidEvent, msgspec.DecodeError):
                break  # it was cut
    name, cwd = str(record.get("event")), str(record.get("cwd"))
    tool = record.get("tool")
    changes: dict[str, Json] = {"session_id": str(record.get("session", ""))}
    if isinstance(tool, str):
        try:
            changes |= sample_fields(name, cwd, tool)
        except InvalidEvent:
            changes |= {"tool_name": tool}
    return sample(name, cwd=cwd, **changes), False


def trust(console: Console, project: str | None) -> dict[str, Json]:
    """Return what a project would run if it were trusted; the decision is made in the terminal."""
    found = review(_loaded(console, project))
    return {
        "project": harmless(found.project),
        "command": "hookwright trust",
        "items": [
            {
                "title": harmless(" ".join(filter(None, (reviewed.item.event, reviewed.item.label)))),
                "state": type(reviewed.state).__name__.lower(),
                "diff": harmless(reviewed.diff()),
            }
            for reviewed in found.items
        ],
    }


# ── texts ───────────────────────────────────────────────────────────────────


def clean(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return a record whose texts cannot mislead a reader."""
    return {name: harmless(value) if isinstance(value, str) else value for name, value in record.items()}


def _shown(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return what a hook printed, without what looks like a credential."""
    return clean({name: redact(value) if isinstance(value, str) else value for name, value in record.items()})


def _input(value: Json) -> str | None:
    """Return an event as hooks read it, with each of its texts redacted; one that was cut is redacted as a text."""
    if not isinstance(value, str):
        return None
    try:
        event = msgspec.json.decode(value)
    except msgspec.DecodeError:
        return harmless(redact(value))
    return harmless(msgspec.json.encode(_redacted(event)).decode())


def _redacted(value: Json) -> Json:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {name: _redacted(item) for name, item in value.items()}
    return [_redacted(item) for item in value] if isinstance(value, list) else value


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
