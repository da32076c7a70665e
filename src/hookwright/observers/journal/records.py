"""What the journal writes, version 2, and how its lines become records that stand alone.

A file holds lines of five kinds:

- `journal`: the first line of a file; `v` is the version, `cut` the time up to which older records were removed;
- `handler`: a handler and its key `h`; other lines of the same file name it by that key;
- `run`: how one handler ran; `fire` names the firing, `call` the tool call, `agent` and `prompt` their ids;
- `late`: the real end of a background hook;
- `event`: the outcome of a firing; `skips` are pairs of a handler's key and a reason, with a detail where the reason
  does not say everything.

Version 1 had no first line, wrote the handler out in every line, and one `skip` line per skipped handler.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Late, Outcome, Run, Skip, SkipReason, Timing
from hookwright.protocol.replies import Backgrounded, Exited, Reply
from hookwright.protocol.secrets import redact
from hookwright.protocol.wire import encode

Record = dict[str, Json]

VERSION = 2

_REASON = 500
#: Characters searched before a text is cut: a credential that begins in the kept part ends within these.
_SEARCHED = 8192

#: Skips whose detail follows from the handler and the event; the journal leaves it out.
_PLAIN = frozenset({SkipReason.MATCHER, SkipReason.CONDITION, SkipReason.DUPLICATE, SkipReason.INACTIVE})

#: Fields of an event and their names in a record.
_IDS = (("tool_use_id", "call"), ("agent_id", "agent"), ("prompt_id", "prompt"))


class Context(msgspec.Struct, frozen=True):
    """What every record of a firing says."""

    event: Event
    #: The id of the firing; empty if no id was given.
    firing: str
    #: The agent that fired the event.
    source: str = "hookwright"


def short(text: str) -> str:
    """Shorten a text for the journal and redact what looks like a credential."""
    return redact(text[:_SEARCHED])[:_REASON]


def decision_of(decision: object) -> tuple[str | None, str | None]:
    """Return the name and the reason of a decision."""
    if isinstance(decision, Allow | Ask | Defer | Deny | Block):
        return type(decision).__name__.lower(), decision.reason
    return None, None


def handler_record(handler: Handler) -> Record:
    """Describe a handler; its place is its id."""
    source = handler.source
    return {
        "handler": short(handler.label),
        "type": handler.kind.value,
        "scope": source.scope.value,
        "source": f"{source.path}:{source.line}" if source.line else source.path,
        "id": f"{source.scope.value}:{source.pointer}",
    }


def handler_key(described: Mapping[str, Json]) -> str:
    """Return a key that is the same in every process for equal descriptions."""
    return hashlib.sha256(encode(dict(described))).hexdigest()[:10]


def _common(kind: str, context: Context) -> Record:
    event = context.event
    record: Record = {"t": round(time.time(), 6), "kind": kind, "event": event.event_name}
    if context.firing:
        record["fire"] = context.firing
    tool = getattr(event, "tool_name", None)
    if isinstance(tool, str):
        record["tool"] = tool
    record["session"] = event.session_id
    record["cwd"] = event.cwd
    for field, name in _IDS:
        value = getattr(event, field, None)
        if isinstance(value, str):
            record[name] = value
    if context.source != "hookwright":
        record["src"] = context.source
    return record


def run_record(context: Context, run: Run, key: str) -> Record:
    """Describe one run: outcome, times, sizes and the reason, but never its output."""
    decision, reason = decision_of(run.verdict.decision)
    record = _common("run", context) | {
        "h": key,
        "run": run.id,
        "outcome": run.label,
        "ending": run.verdict.ending.value,
        "decision": decision,
        "ms": round(run.timing.seconds * 1000, 3),
    }
    if run.would is not None:
        # What a handler in shadow mode would have decided, which had no effect: never a `decision`.
        would, why = decision_of(run.would.decision)
        stopped = "stop" if run.would.stop is not None else "none"
        record |= {"shadow": True, "would": would or stopped, "ending": run.would.ending.value}
        return record | _details(run.reply, why or run.would.error, run.would.diagnostics)
    if isinstance(run.reply, Backgrounded):
        # How it ends is not known yet: a `late` record follows.
        record |= {"background": run.reply.id, "ending": None}
    return record | _details(run.reply, reason or run.verdict.error, run.verdict.diagnostics)


def late_record(context: Context, late: Late, timing: Timing, key: str) -> Record:
    """Describe the real end of a background hook; `run` and `background` are those of its `run` record."""
    record = _common("late", context) | {
        "h": key,
        "run": late.job.run_id,
        "background": late.id,
        "outcome": late.label,
        "ending": late.ending.value,
        "ms": round(timing.seconds * 1000, 3),
    }
    return record | _details(late.reply, late.rewake or late.error, late.diagnostics)


def _details(reply: Reply, reason: str | None, diagnostics: Sequence[Diagnostic]) -> Record:
    found: Record = {}
    if isinstance(reply, Exited):
        found |= {"exit": reply.status, "stdout": len(reply.stdout), "stderr": len(reply.stderr)}
    if reason:
        found["reason"] = short(reason)
    if diagnostics:
        found["codes"] = [diagnostic.code for diagnostic in diagnostics]
    return found


def skip_pair(skip: Skip, key: str) -> list[Json]:
    """Write a skipped handler as its key, the reason, and the detail if the reason does not say everything."""
    pair: list[Json] = [key, skip.reason.value]
    return [*pair, short(skip.detail)] if skip.detail and skip.reason not in _PLAIN else pair


def event_record(context: Context, outcome: Outcome, seconds: float, skips: Sequence[list[Json]], conf: str) -> Record:
    """Describe the outcome of a firing; `conf` is the hash of the configuration in force."""
    decision, _ = decision_of(outcome.decision)
    record = _common("event", context) | {
        "decision": decision,
        "blocked": outcome.blocked,
        "stop": outcome.stop is not None,
        "ran": len(outcome.runs),
        "skipped": len(outcome.skips),
        "errors": outcome.errors,
        "context": sum(map(len, (*outcome.context, *outcome.plain))),
        "ms": round(seconds * 1000, 3),
    }
    if conf:
        record["conf"] = conf
    if skips:
        record["skips"] = list(skips)
    return record


# ── back to records that stand alone ────────────────────────────────────────


class Expansion:
    """Turns the lines of one file into records that carry their handler; lines of version 1 pass unchanged.

    Law: a run, a late end and a skip each become one record with the fields of their handler, whatever the version; a
    handler whose line was lost is named "unknown handler", never left out.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, Record] = {}
        #: Records up to this time were removed to keep the journal within its limits; None if none were.
        self.cut: float | None = None

    def read(self, line: Record) -> Iterator[Record]:
        """Yield the records of one line: none for a `journal` or `handler` line."""
        match line.get("kind"):
            case "journal":
                cut = line.get("cut")
                self.cut = float(cut) if isinstance(cut, int | float) else self.cut
            case "handler":
                self._handlers[str(line.get("h"))] = {
                    name: value for name, value in line.items() if name not in ("kind", "h", "t")
                }
            case "event":
                yield from self._skips(line)
                yield {name: value for name, value in line.items() if name != "skips"}
            case _ if "h" in line:
                yield {name: value for name, value in line.items() if name != "h"} | self._handler(line["h"])
            case _:
                yield line

    def keys_of(self, text: str) -> list[str]:
        """Return the keys of handlers that have a text in their description, in any case."""
        wanted = text.lower()
        return [
            key
            for key, described in self._handlers.items()
            if any(wanted in str(value).lower() for value in described.values())
        ]

    def _handler(self, key: Json) -> Record:
        return self._handlers.get(str(key), {"handler": f"unknown handler {key}", "source": "", "id": str(key)})

    def _skips(self, line: Record) -> Iterator[Record]:
        pairs = line.get("skips")
        shared = {
            name: line[name]
            for name in ("t", "event", "fire", "tool", "session", "cwd", "call", "agent", "prompt", "src")
            if name in line
        }
        for pair in pairs if isinstance(pairs, list) else ():
            if isinstance(pair, list) and len(pair) >= 2:
                detail = str(pair[2]) if len(pair) > 2 else ""
                yield (
                    shared
                    | {"kind": "skip"}
                    | self._handler(pair[0])
                    | {
                        "outcome": "skipped",
                        "skip": pair[1],
                        "reason": detail,
                    }
                )
