"""The pure laws of replay: buckets, doubts, order, copies and what comes after a refusal."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec import UNSET

from hookwright.protocol.events import PreToolUse, UserPromptSubmit
from hookwright.replay.model import (
    RANKS,
    Bucket,
    Change,
    Code,
    Doubt,
    Ran,
    Replayed,
    compare,
    mark_after,
    once,
    ordered,
    turns,
    unrun,
)
from hookwright.replay.past import Fate, Past, SourceLine

_IDS = some.sampled_from(["a", "b", "c"])
_DECISIONS = some.sampled_from(sorted(RANKS))
_RUNS = some.builds(
    Ran,
    handler=_IDS,
    decision=_DECISIONS,
    ending=some.just("success"),
    ms=some.just(1.0),
    shadow=some.booleans(),
)
_DOUBTS = some.builds(Doubt, code=some.sampled_from(list(Code)), handler=some.sampled_from(["", "a", "b", "c"]))
OUTCOMES = some.builds(
    Replayed,
    decision=_DECISIONS,
    reasons=some.lists(some.sampled_from(["no", "never"]), max_size=2).map(tuple),
    rewritten=some.sampled_from(["", "x", "y"]),
    said=some.sampled_from(["", "x"]),
    runs=some.lists(_RUNS, max_size=3).map(tuple),
    doubts=some.lists(_DOUBTS, max_size=2).map(tuple),
)
_MIRROR = {Bucket.STRICTER: Bucket.LOOSER, Bucket.LOOSER: Bucket.STRICTER}


def call(
    number: int, session: str = "s", *, file: str = "f", prompt: str | None = None, time: float | None = None
) -> Past:
    event = PreToolUse(
        session_id=session,
        transcript_path="",
        cwd="/",
        tool_name="Bash",
        tool_input={"command": str(number)},
        tool_use_id=f"t{number}",
        prompt_id=UNSET if prompt is None else prompt,
    )
    return Past(event=event, place=SourceLine(file, number), time=time, fate=Fate.SUCCEEDED)


def prompted(line: int, session: str = "s") -> Past:
    event = UserPromptSubmit(session_id=session, transcript_path="", cwd="/", prompt="do it")
    return Past(event=event, place=SourceLine("f", line), time=None, fate=None)


def changed(past: Past, before: str, now: str) -> Change:
    one, other = Replayed(decision=before), Replayed(decision=now)
    return Change(past=past, before=one, now=other, bucket=compare(one, other))


@given(OUTCOMES, OUTCOMES)
def test_swapping_two_outcomes_swaps_stricter_and_looser_alone(one: Replayed, other: Replayed) -> None:
    bucket = compare(one, other)
    assert compare(other, one) is _MIRROR.get(bucket, bucket)


@given(OUTCOMES)
def test_an_outcome_is_the_same_as_itself_or_undecided(one: Replayed) -> None:
    assert compare(one, one) is (Bucket.UNDECIDED if one.undecided else Bucket.SAME)


@given(OUTCOMES, OUTCOMES)
def test_a_pair_with_a_doubt_that_may_touch_it_is_undecided_and_no_other_is(one: Replayed, other: Replayed) -> None:
    assert (compare(one, other) is Bucket.UNDECIDED) is (one.undecided or other.undecided)


@given(OUTCOMES)
def test_a_doubt_is_settled_only_by_a_refusal_of_a_handler_without_one(one: Replayed) -> None:
    doubted = {doubt.handler for doubt in one.doubts}
    sure = [run for run in one.runs if run.handler not in doubted and not run.shadow]
    refusing = [run for run in sure if run.decision in ("deny", "block", "stop")]
    assert one.undecided is (bool(doubted) and ("" in doubted or not refusing))


@pytest.mark.parametrize(
    ("before", "now", "bucket"),
    [
        (Replayed(), Replayed(decision="deny"), Bucket.STRICTER),
        (Replayed(), Replayed(decision="ask"), Bucket.STRICTER),
        (Replayed(), Replayed(decision="allow"), Bucket.LOOSER),
        (Replayed(decision="deny"), Replayed(decision="stop"), Bucket.STRICTER),
        (Replayed(decision="deny"), Replayed(decision="block"), Bucket.SAME),
        (Replayed(), Replayed(rewritten="x"), Bucket.REWRITTEN),
        (Replayed(decision="deny"), Replayed(decision="deny", rewritten="x"), Bucket.SAME),
        (Replayed(decision="deny", reasons=("a",)), Replayed(decision="deny", reasons=("b",)), Bucket.SAID),
        (Replayed(), Replayed(said="x"), Bucket.SAID),
        (Replayed(), Replayed(doubts=(Doubt(Code.FAILED, "h"),)), Bucket.UNDECIDED),
    ],
)
def test_each_clause_of_the_law_of_buckets(before: Replayed, now: Replayed, bucket: Bucket) -> None:
    assert compare(before, now) is bucket


def test_a_shadow_refusal_settles_no_doubt() -> None:
    shadow = Ran("g", "deny", "blocking", 1.0, shadow=True)
    assert Replayed(runs=(shadow,), doubts=(Doubt(Code.FAILED, "h"),)).undecided


def test_an_event_that_was_not_replayed_is_undecided() -> None:
    change = unrun(call(1), Doubt(Code.POISON))
    assert change.bucket is Bucket.UNDECIDED
    assert not change.now_refused


@given(some.lists(some.tuples(some.integers(1, 5), some.sampled_from("st"), some.sampled_from("fg")), max_size=12))
def test_the_order_of_reading_does_not_show_and_each_call_is_kept_once(calls: list[tuple[int, str, str]]) -> None:
    pasts = [call(number, session, file=file, time=float(number)) for number, session, file in calls]
    shuffled = random.Random(len(pasts)).sample(pasts, len(pasts))
    kept, copies = once(pasts)
    assert once(shuffled) == (kept, copies)
    assert len(kept) + copies == len(pasts)
    assert len({past.call.split(":")[1] for past in kept}) == len(kept)
    assert ordered(shuffled) == ordered(pasts)
    assert once(kept) == (kept, 0)


def test_the_earliest_copy_is_kept() -> None:
    late, early = call(1, file="a", time=9.0), call(1, file="b", time=2.0)
    assert once([late, early]) == ([early], 1)


def test_a_prompt_begins_a_turn_and_an_id_names_one() -> None:
    assert turns([call(1), prompted(2), call(3), prompted(4), call(5)]) == ["", "turn 1", "turn 1", "turn 3", "turn 3"]
    assert turns([call(1, prompt="p"), call(2), call(3, prompt="q")]) == ["p", "p", "q"]


def test_only_later_events_of_the_turn_of_a_refused_call_are_marked() -> None:
    pasts = [prompted(1), call(2), call(3), call(4), prompted(5), call(6)]
    found = ["none", "none", "deny", "deny", "none", "none"]
    changes = [changed(past, "none", now) for past, now in zip(pasts, found, strict=True)]
    marked = mark_after(changes, turns(pasts))
    assert [one.after for one in marked] == [None, None, None, "s:t3", None, None]


@given(some.lists(some.tuples(_DECISIONS, _DECISIONS), max_size=8))
def test_marking_changes_no_decision(pairs: list[tuple[str, str]]) -> None:
    pasts = [call(number) for number in range(len(pairs))]
    changes = [changed(past, *pair) for past, pair in zip(pasts, pairs, strict=True)]
    marked = mark_after(changes, turns(pasts))
    assert [(one.past, one.before, one.now, one.bucket) for one in marked] == [
        (one.past, one.before, one.now, one.bucket) for one in changes
    ]
    first = next((at for at, change in enumerate(changes) if change.now_refused), len(changes))
    assert [one.after is not None for one in marked] == [at > first for at in range(len(changes))]


def test_likely_false_and_agreement_are_about_calls_that_are_refused_now() -> None:
    ran = changed(call(1), "none", "deny")
    assert ran.likely_false
    assert not ran.agrees
    assert not changed(call(1), "none", "ask").likely_false
    assert not changed(call(1), "deny", "deny").likely_false
    assert not changed(prompted(1), "none", "block").now_refused
