"""Ask the engine's own functions who reads what: each cell of the tables is an outcome, not a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hookwright.aggregate import aggregate
from hookwright.interpret import interpret
from hookwright.protocol.events import CATALOGUE, Exit2
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.outcome import Outcome, Run, Timing
from hookwright.protocol.replies import Exited, Reply, TimedOut
from hookwright.protocol.samples import sample
from hookwright.protocol.sources import Scope, Source
from hookwright.visibility import Place, Reader, messages

MARK = "MARK-7f3a"
NOBODY = "—"


def outcome_of(name: str, reply: Reply) -> Outcome:
    """Return the outcome of one command hook's reply to one event."""
    event = sample(name, teammate_name="researcher") if name == "TaskCompleted" else sample(name)
    handler = CommandHandler(source=Source(Scope.USER), command="hook")
    return aggregate(event, [Run(handler, reply, interpret(reply, handler, event), Timing(0.0, 0.0))])


def readers(name: str, reply: Reply, mark: str = MARK) -> str:
    """Name the readers of a hook's text."""
    found = {message.reader for message in messages(outcome_of(name, reply)) if mark in message.text}
    # Raw stdout is in the verbose view and stderr in the debug log anyway: name them only where there is no one else.
    close = found & {Reader.USER, Reader.MODEL}
    return ", ".join(reader.value for reader in Reader if reader in (close or found)) or NOBODY


def places(name: str, reply: Reply) -> str:
    """Name the places where the model reads a hook's text."""
    found = {message.place for message in messages(outcome_of(name, reply)) if MARK in message.text}
    return ", ".join(place.value for place in Place if place in found) or NOBODY


def printed(value: Any) -> Exited:
    """Make the reply of a hook that printed JSON and exited 0."""
    return Exited(0, json.dumps(value).encode())


def stderr_of_exit_2(name: str) -> str:
    """Name the readers of stderr at exit 2."""
    return readers(name, Exited(2, b"", MARK.encode()))


def block_reason(name: str) -> str:
    """Name the readers of a block's reason, where the event reads a top-level decision."""
    if not CATALOGUE[name].rules.decisions:
        return NOBODY
    return readers(name, printed({"decision": "block", "reason": MARK}))


def context(name: str) -> str:
    """Name the readers of additionalContext."""
    return _field(readers(name, _specific(name, additionalContext=MARK)))


def plain(name: str) -> str:
    """Name the readers of plain stdout."""
    return readers(name, Exited(0, MARK.encode()))


def system_message(name: str) -> str:
    """Name the readers of systemMessage."""
    return _field(readers(name, printed({"systemMessage": MARK})))


def stop_reason(name: str) -> str:
    """Name the readers of stopReason."""
    return _field(readers(name, printed({"continue": False, "stopReason": MARK})))


def stderr_of_exit_1(name: str) -> str:
    """Name the readers of stderr at exit 1."""
    return readers(name, Exited(1, b"", MARK.encode()))


def timeout(name: str) -> str:
    """Name the readers of the notice that a hook timed out."""
    return readers(name, TimedOut(5.0), "timed out")


def place_of_exit_2(name: str) -> str:
    """Name the places of stderr at exit 2."""
    return places(name, Exited(2, b"", MARK.encode()))


def place_of_block(name: str) -> str:
    """Name the places of a block's reason."""
    return places(name, printed({"decision": "block", "reason": MARK}))


def place_of_context(name: str) -> str:
    """Name the places of additionalContext."""
    return places(name, _specific(name, additionalContext=MARK))


def place_of_plain(name: str) -> str:
    """Name the places of plain stdout."""
    return places(name, Exited(0, MARK.encode()))


def place_of_stop(name: str) -> str:
    """Name the places of stopReason."""
    return places(name, printed({"continue": False, "stopReason": MARK}))


def effect_of_block(name: str) -> str:
    """Name the effect of `decision: "block"`."""
    return _effect(name, outcome_of(name, printed({"decision": "block", "reason": MARK})))


def effect_of_stop(name: str) -> str:
    """Name the effect of `continue: false`."""
    return _effect(name, outcome_of(name, printed({"continue": False})))


def effect_of_exit_1(name: str) -> str:
    """Name the effect of exit 1 with nothing on stdout."""
    return _effect(name, outcome_of(name, Exited(1)))


def effect_of_timeout(name: str) -> str:
    """Name the effect of a timeout."""
    return _effect(name, outcome_of(name, TimedOut(5.0)))


def _effect(name: str, outcome: Outcome) -> str:
    if outcome.stop is not None:
        return "ends the turn"
    if not outcome.blocked:
        return NOBODY
    return "feedback" if CATALOGUE[name].rules.exit_2 is Exit2.FEEDBACK else "blocks"


def _specific(name: str, **fields: Any) -> Exited:
    """Make an answer with the event's own object, without its required fields."""
    return printed({"hookSpecificOutput": {"hookEventName": name, **fields}})


def _field(found: str) -> str:
    """A field that only shows up in raw stdout has no separate reader."""
    return NOBODY if found == Reader.VERBOSE.value else found


Column = tuple[str, Callable[[str], str]]
VISIBILITY: tuple[Column, ...] = (
    ("stderr, exit 2", stderr_of_exit_2),
    ("`reason` of a block", block_reason),
    ("`additionalContext`", context),
    ("plain stdout, exit 0", plain),
    ("`systemMessage`", system_message),
    ("`stopReason`", stop_reason),
    ("stderr, exit 1", stderr_of_exit_1),
    ("a timeout", timeout),
)
PLACES: tuple[Column, ...] = (
    ("stderr, exit 2", place_of_exit_2),
    ("`reason` of a block", place_of_block),
    ("`additionalContext`", place_of_context),
    ("plain stdout, exit 0", place_of_plain),
    ("`stopReason`", place_of_stop),
)
EFFECTS: tuple[Column, ...] = (
    ('`decision: "block"`', effect_of_block),
    ("`continue: false`", effect_of_stop),
    ("exit 1, nothing printed", effect_of_exit_1),
    ("timeout", effect_of_timeout),
)
