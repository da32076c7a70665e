"""Events rebuilt from a transcript of our own agent equal what its hooks read, field by field."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent.runs import Place, bash, route, tool
from hookwright.protocol.wire import payload
from hookwright.replay.past import Coverage, Fate, Past, Provenance
from hookwright.replay.sources import past_events

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
)
#: Fields that hooks read and a transcript does not have, by event.
UNKNOWN = {
    "PostToolUse": {"duration_ms"},
    "PostToolUseFailure": {"duration_ms"},
    "SubagentStop": {"background_tasks", "session_crons"},
    "Stop": {"background_tasks", "session_crons"},
    "PreCompact": {"prompt_id"},
    "SessionStart": {"prompt_id"},
}
TASK = tool("Agent", description="d", prompt="SUBTASK", subagent_type="general-purpose", run_in_background=False)
TURNS = [
    [{"text": "Looking."}, bash("echo one"), bash("echo two"), tool("Read", file_path="a.txt")],
    [tool("Edit", file_path="a.txt", old_string="one", new_string="ONE")],
    [bash("echo DENIED")],
    [bash("touch /etc/forbidden")],
    [tool("Nope", x=1)],
    [tool("Edit", file_path="missing.txt", old_string="q", new_string="z")],
    [tool("Bash", cmd="bad")],
    [tool("Read", file_path="gone.txt")],
    [TASK],
    [{"text": "first end"}],
    [{"text": "second end"}],
    [tool("Write", file_path="new.txt", content="x"), bash("cat missing")],
    [{"text": "third end"}],
]
SUBTURNS = [
    [bash("echo sub")],
    [bash("echo DENIED")],
    [tool("Read", file_path="a.txt")],
    [{"text": "sub end"}],
]
DENY = 'case "$payload" in *DENIED*) echo no >&2; exit 2;; esac'
ONCE = 'case "$payload" in *first?end*) echo more >&2; exit 2;; esac'


class Session(msgspec.Struct, frozen=True):
    """One session: what its hooks read, and what its files give back."""

    place: Place
    read: tuple[dict[str, Any], ...]
    rebuilt: tuple[Past, ...]
    coverage: Coverage


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    place = Place(tmp_path_factory.mktemp("session"))
    place.file("a.txt", "one\n")
    place.more_env = {"HOOKWRIGHT_RECORD": str(place.root / "record.jsonl")}
    for event in EVENTS:
        place.hook(event, {"PreToolUse": DENY, "Stop": ONCE}.get(event, ""))
    routes = [
        route("subagent", "SUBTASK", SUBTURNS),
        route("compact", "Write a detailed summary", [[{"text": "S"}]], on="last"),
    ]
    allow = ("--allowedTools", "Bash(echo *),Bash(cat *),Read,Write,Edit,Agent", "--model", "claude-opus-5-5")
    ran = place.talk({"turns": TURNS, "routes": routes}, ["PROMPT one", "/compact", "PROMPT two"], *allow)
    assert ran.code == 0, ran.stderr
    coverage = Coverage()
    folder = next((place.home / ".claude" / "projects").iterdir())
    rebuilt = tuple(past_events([str(folder)], coverage=coverage))
    return Session(place, tuple(one for event in EVENTS for one in place.got(event)), rebuilt, coverage)


def key(event: dict[str, Any]) -> tuple[Any, ...]:
    """Return what tells events of a session apart."""
    names = ("hook_event_name", "tool_use_id", "prompt", "last_assistant_message", "agent_id", "source", "trigger")
    return tuple(event.get(name) for name in names)


def test_every_field_is_what_hooks_read_or_is_said_to_be_unknown(session: Session) -> None:
    read = {key(event): event for event in session.read}
    for past in session.rebuilt:
        seen, rebuilt = read[key(payload(past.event))], payload(past.event)
        missing = {name for name in seen if name not in rebuilt}
        assert missing == UNKNOWN.get(past.event.event_name, set()), past.event.event_name
        assert {past.provenance[name] for name in missing} <= {Provenance.UNKNOWN}
        assert rebuilt == {name: value for name, value in seen.items() if name not in missing}


def test_what_never_was_stays_out_and_nothing_else_is_missing(session: Session) -> None:
    rebuilt = Counter(key(payload(past.event)) for past in session.rebuilt)
    assert max(rebuilt.values()) == 1
    missing = [event for event in session.read if key(event) not in rebuilt]
    # The start of the session, and the agent that writes the summary, leave no line.
    assert [(event["hook_event_name"], event.get("source")) for event in missing] == [
        ("SessionStart", "startup"),
        ("SubagentStop", None),
    ]
    assert session.coverage.never_started == 3
    assert session.coverage.calls == 3 + sum(past.event.event_name == "PreToolUse" for past in session.rebuilt)


def test_every_call_has_its_fate(session: Session) -> None:
    fates = Counter(past.fate for past in session.rebuilt if past.event.event_name == "PreToolUse")
    assert fates == {Fate.SUCCEEDED: 8, Fate.FAILED: 2, Fate.REFUSED_BY_HOOK: 2, Fate.REFUSED_BY_RULE: 1}
    assert all(past.fate is None for past in session.rebuilt if "ToolUse" not in past.event.event_name)


def test_events_are_in_order_and_a_subagent_is_where_it_began(session: Session) -> None:
    names = [past.event.event_name for past in session.rebuilt]
    begun = names.index("SubagentStart")
    ended = names.index("SubagentStop")
    assert getattr(session.rebuilt[begun - 1].event, "tool_name", None) == "Agent"
    assert all(past.event.agent_id is not msgspec.UNSET for past in session.rebuilt[begun : ended + 1])
    assert getattr(session.rebuilt[ended + 1].event, "tool_name", None) == "Agent"
    stops = [past.event for past in session.rebuilt if past.event.event_name == "Stop"]
    assert [getattr(stop, "stop_hook_active", None) for stop in stops] == [False, True, False]


def test_a_recording_gives_back_whole_events_with_their_fates(session: Session) -> None:
    path = session.place.root / "record.jsonl"
    lines = [json.loads(line)["payload"] for line in path.read_text().splitlines()]
    coverage = Coverage()
    events = list(past_events([str(path)], coverage=coverage))
    assert [payload(past.event) for past in events] == lines
    assert not any(past.provenance for past in events)
    fates = {getattr(past.event, "tool_use_id", ""): past.fate for past in session.rebuilt if past.fate is not None}
    unanswered = {Fate.REFUSED_BY_RULE: Fate.UNANSWERED}  # a recorder does not see rules
    for past in events:
        if past.event.event_name == "PreToolUse":
            fate = fates[getattr(past.event, "tool_use_id", "")]
            assert past.fate is unanswered.get(fate, fate)


def test_an_inbox_gives_back_the_payloads_of_its_files(session: Session, tmp_path: Path) -> None:
    for number, event in enumerate(session.read):
        (tmp_path / f"{1_794_763_900_000_000_000 + number}.json").write_text(json.dumps(event))
    (tmp_path / ".half").write_text("{")
    (tmp_path / "other.json").write_text('{"not": "an event"}')
    events = list(past_events([str(tmp_path)]))
    assert [payload(past.event) for past in events] == list(session.read)
    assert events[0].time == pytest.approx(1_794_763_900)


def test_a_call_is_once_in_a_transcript_and_a_recording(session: Session) -> None:
    folder = next((session.place.home / ".claude" / "projects").iterdir())
    coverage = Coverage()
    events = list(past_events([str(folder), str(session.place.root / "record.jsonl")], coverage=coverage))
    calls = Counter(past.call for past in events if past.event.event_name == "PreToolUse")
    assert set(calls.values()) == {1}
    assert coverage.repeats > 0
