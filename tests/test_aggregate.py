"""The laws of aggregate, clause by clause, and over the whole lattice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.aggregate import aggregate, guards, has_word_on, on_final_input, second_word
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.handlers import CommandHandler, OnFailure
from hookwright.protocol.outcome import (
    NO_OPINION,
    SILENT,
    Allow,
    Ask,
    Block,
    Decision,
    Defer,
    Deny,
    Ending,
    EndTurn,
    NoOpinion,
    Outcome,
    Skip,
    SkipReason,
    Verdict,
    strictness,
)
from hookwright.protocol.sources import Scope, Source
from support import command, event, run_of


def combine(name: str, *verdicts: Verdict) -> Outcome:
    return aggregate(event(name), [run_of(v, i) for i, v in enumerate(verdicts)])


def decided(decision: Decision) -> Verdict:
    return Verdict(decision=decision)


LADDER: list[Decision] = [NO_OPINION, Allow("a"), Ask("q"), Defer("d"), Deny("no")]


@pytest.mark.req("R-299")
@pytest.mark.parametrize("low", range(5))
@pytest.mark.parametrize("high", range(5))
def test_law_1_the_stricter_decision_wins_in_either_order(low: int, high: int) -> None:
    winner = LADDER[max(low, high)]
    for pair in ((low, high), (high, low)):
        outcome = combine("PreToolUse", *(decided(LADDER[i]) for i in pair))
        assert type(outcome.decision) is type(winner)


@pytest.mark.req("R-302")
def test_law_1_deny_beats_allow_of_a_permission_request() -> None:
    pairs: tuple[tuple[Decision, Decision], ...] = ((Deny("n"), Allow()), (Allow(), Deny("n")))
    for pair in pairs:
        assert isinstance(combine("PermissionRequest", *map(decided, pair)).decision, Deny)


@pytest.mark.req("R-300")
def test_law_2_all_reasons_of_the_winner_are_kept_in_order() -> None:
    outcome = combine("PreToolUse", decided(Deny("one")), decided(Ask("q")), decided(Deny("two")))
    assert (outcome.reasons, outcome.reason) == (("one", "two"), "one\ntwo")


@pytest.mark.req("R-292", "R-293")
def test_law_3_any_stop_ends_the_turn_and_the_first_with_a_reason_gives_it() -> None:
    outcome = combine(
        "PostToolUse", Verdict(), Verdict(stop=EndTurn()), Verdict(stop=EndTurn("x")), Verdict(stop=EndTurn("y"))
    )
    assert outcome.stop == EndTurn("x")
    assert combine("PostToolUse", Verdict()).stop is None
    for place in range(4):
        verdicts = [Verdict(context="c") for _ in range(4)]
        verdicts[place] = Verdict(stop=EndTurn("one is enough"))
        assert combine("PostToolUse", *verdicts).stop == EndTurn("one is enough")


@pytest.mark.req("R-270")
def test_law_4_a_stop_lifts_the_block_of_stop() -> None:
    outcome = combine("Stop", decided(Block("go on")), Verdict(stop=EndTurn("enough")))
    assert (outcome.blocked, outcome.stop) == (False, EndTurn("enough"))


@pytest.mark.req("R-264")
def test_law_4_elsewhere_both_hold() -> None:
    outcome = combine("PostToolUse", decided(Block("b")), Verdict(stop=EndTurn("s")))
    assert (outcome.blocked, outcome.stop) == (True, EndTurn("s"))


@pytest.mark.req("R-294", "R-295", "R-296")
def test_law_5_contexts_and_messages_are_kept_in_order() -> None:
    outcome = combine(
        "SessionStart",
        Verdict(context="a", system_message="m1"),
        Verdict(plain="p1"),
        Verdict(context="b", system_message="m2"),
        Verdict(plain="p2"),
    )
    assert (outcome.context, outcome.plain, outcome.system_messages) == (("a", "b"), ("p1", "p2"), ("m1", "m2"))
    assert combine("SessionStart").plain == ()


@pytest.mark.req("R-266")
def test_law_5_a_blocked_prompt_drops_all_context() -> None:
    outcome = combine("UserPromptSubmit", Verdict(context="c", plain="p"), decided(Block("no")))
    assert (outcome.context, outcome.plain, outcome.blocked) == ((), (), True)
    assert combine("PreToolUse", Verdict(context="c"), decided(Deny("no"))).context == ("c",)


@pytest.mark.req("R-301")
def test_law_6_the_last_rewrite_wins_and_all_are_in_the_runs() -> None:
    outcome = combine("PreToolUse", Verdict(updated_input={"a": 1}), Verdict(updated_input={"a": 2}), Verdict())
    assert outcome.updated_input == {"a": 2}
    assert [r.verdict.updated_input for r in outcome.runs] == [{"a": 1}, {"a": 2}, None]
    assert combine("PostToolUse", Verdict(updated_output=1), Verdict(updated_output=2)).updated_output == 2


@pytest.mark.req("R-298", "R-291")
def test_law_7_a_failing_sibling_changes_nothing() -> None:
    failed = Verdict(ending=Ending.ERROR, error="broken")
    deny = decided(Deny("no"))
    for verdicts in ((deny,), (failed, deny), (deny, failed), (failed, deny, failed)):
        assert isinstance(combine("PreToolUse", *verdicts).decision, Deny)


def test_event_fields_fold_by_their_own_rule() -> None:
    outcome = combine(
        "SessionStart",
        Verdict(fields={"watch_paths": ["/a"], "session_title": "one", "reload_skills": True}),
        Verdict(fields={"watch_paths": ["/b", "/a"], "session_title": "two", "reload_skills": False}),
    )
    assert outcome.fields == {"watch_paths": ("/a", "/b"), "session_title": "two", "reload_skills": True}
    for pair in (("accept", "decline"), ("decline", "accept")):
        assert combine("Elicitation", *(Verdict(fields={"action": a}) for a in pair)).fields["action"] == "decline"


def test_an_outcome_names_the_matched_value_and_keeps_skips_and_notes() -> None:
    skip = Skip(command("other"), SkipReason.MATCHER, "`Edit` does not match")
    note = Diagnostic("if-undecided", "cannot be decided", Source(Scope.USER), Severity.INFO)
    late = Diagnostic("broken-json", "not JSON", Source(Scope.USER), Severity.WARNING)
    call = event("PreToolUse", tool_name="Bash")
    for verdict, diagnostics in ((SILENT, (note,)), (Verdict(diagnostics=(late,)), (note, late))):
        runs = [run_of(verdict)]
        outcome = aggregate(call, runs, [skip], [note])
        assert (outcome.event, outcome.matched) == ("PreToolUse", "Bash")
        assert (outcome.runs, outcome.skips, outcome.diagnostics) == (tuple(runs), (skip,), diagnostics)


@pytest.mark.parametrize("name", ["reload_skills", "suppress_original_prompt", "retry"])
def test_one_hook_is_enough_for_a_field_that_switches_something_on(name: str) -> None:
    for one, other, folded in ((True, False, True), (False, True, True), (False, False, False)):
        assert combine("SessionStart", Verdict(fields={name: one}), Verdict(fields={name: other})).fields == {
            name: folded
        }


def test_permission_updates_of_all_hooks_are_kept_once() -> None:
    first: Any = {"type": "setMode", "mode": "plan"}
    second: Any = {"type": "setMode", "mode": "default"}
    outcome = combine(
        "PermissionRequest",
        Verdict(fields={"updated_permissions": (first,)}),
        Verdict(fields={"updated_permissions": (second, first)}),
    )
    assert outcome.fields == {"updated_permissions": (first, second)}


# ── the last word on an input ──


def test_a_guard_must_have_seen_an_input_before_it_is_used() -> None:
    project = Source(Scope.PROJECT, from_project=True)
    assert guards(command())
    assert not guards(command(is_async=True))
    assert not guards(CommandHandler(source=project, command="x"))
    assert guards(CommandHandler(source=project, command="x", on_failure=OnFailure.BLOCK))
    assert not guards(CommandHandler(source=project, command="x", on_failure=OnFailure.BLOCK, is_async=True))


def test_a_run_has_a_word_on_the_input_it_saw_or_wrote() -> None:
    silent, wrote = run_of(Verdict()), run_of(Verdict(updated_input={"a": 2}))
    assert has_word_on(silent, {"a": 2}, {"a": 2})
    assert has_word_on(wrote, {"a": 1}, {"a": 2})
    assert not has_word_on(silent, {"a": 1}, {"a": 2})
    assert not has_word_on(wrote, {"a": 1}, {"a": 3})


def test_a_second_word_may_refuse_ask_and_end_the_turn_and_says_nothing_twice() -> None:
    note = Diagnostic("broken-json", "not JSON", Source(Scope.USER), Severity.WARNING)
    said = Verdict(
        ending=Ending.ERROR,
        decision=Ask("sure?"),
        stop=EndTurn("enough"),
        error="broken",
        diagnostics=(note,),
        context="c",
        system_message="m",
        plain="p",
        fields={"retry": True},
        updated_input={"a": 1},
    )
    run = second_word(run_of(said, 7), {"a": 1}, rewrote=False)
    assert run.handler == command("hook-7")
    assert run.verdict == Verdict(
        ending=Ending.ERROR, decision=Ask("sure?"), stop=EndTurn("enough"), error="broken", diagnostics=(note,)
    )


def test_a_second_rewrite_refuses_the_call() -> None:
    text = "[hook-0]: rewrote an input that another hook had rewritten; the call does not run"
    refused = Verdict(ending=Ending.BLOCKING, decision=Deny(text))
    for decision in (NO_OPINION, Allow("a"), Ask("q")):
        again = Verdict(decision=decision, updated_input={"a": 3})
        assert second_word(run_of(again), {"a": 2}, rewrote=False).verdict == refused
        assert second_word(run_of(again), {"a": 2}, rewrote=True).verdict == Verdict(decision=decision)
    for refusal in (Deny("no"), Block("no")):
        own = Verdict(decision=refusal, updated_input={"a": 3})
        assert second_word(run_of(own), {"a": 2}, rewrote=False).verdict == Verdict(decision=refusal)
    same = second_word(run_of(Verdict(updated_input={"a": 2})), {"a": 2}, rewrote=False)
    assert same.verdict == Verdict()


def test_an_allow_is_about_the_final_input() -> None:
    before = combine("PreToolUse", decided(Allow("fine")), Verdict(updated_input={"a": 2}))
    lifted = on_final_input(before, [run_of(Verdict())])
    assert (lifted.decision, lifted.reasons, lifted.updated_input) == (NO_OPINION, (), {"a": 2})
    assert on_final_input(before, [run_of(decided(Allow("still")))]) is before
    denied = combine("PreToolUse", decided(Deny("no")))
    assert on_final_input(denied, [run_of(Verdict())]) is denied


@pytest.mark.req("R-247")
def test_one_interrupt_among_denials_counts() -> None:
    outcome = combine("PermissionRequest", decided(Deny("a")), decided(Deny("b", True)))
    assert outcome.decision == Deny("a\nb", True)
    assert combine("PermissionRequest", decided(Deny("a")), decided(Deny("b"))).decision == Deny("a\nb", False)


# ── the whole lattice ──

DECISIONS = st.one_of(
    st.just(NO_OPINION),
    st.builds(Allow, st.none() | st.text(max_size=3)),
    st.builds(Ask, st.text(min_size=1, max_size=3)),
    st.builds(Defer, st.none()),
    st.builds(Deny, st.text(min_size=1, max_size=3)),
)
VERDICTS = st.builds(
    Verdict,
    ending=st.sampled_from(list(Ending)),
    decision=DECISIONS,
    stop=st.none() | st.builds(EndTurn, st.none() | st.text(max_size=3)),
    context=st.none() | st.text(min_size=1, max_size=3),
    updated_input=st.none() | st.fixed_dictionaries({"command": st.text(max_size=3)}),
)
LISTS = st.lists(VERDICTS, max_size=6)


@given(LISTS)
def test_the_decision_is_the_maximum(verdicts: list[Verdict]) -> None:
    outcome = combine("PreToolUse", *verdicts)
    assert strictness(outcome.decision) == max((strictness(v.decision) for v in verdicts), default=0)


@given(LISTS, st.randoms())
def test_the_position_taken_does_not_depend_on_order(verdicts: list[Verdict], random: Any) -> None:
    shuffled = list(verdicts)
    random.shuffle(shuffled)
    one, other = combine("PreToolUse", *verdicts), combine("PreToolUse", *shuffled)
    assert type(one.decision) is type(other.decision)
    assert (one.stop is None, sorted(one.reasons), sorted(one.context)) == (
        other.stop is None,
        sorted(other.reasons),
        sorted(other.context),
    )


@given(LISTS)
def test_repeating_all_runs_changes_no_position(verdicts: list[Verdict]) -> None:
    once, twice = combine("PreToolUse", *verdicts), combine("PreToolUse", *verdicts, *verdicts)
    assert (type(once.decision), once.stop, once.updated_input) == (
        type(twice.decision),
        twice.stop,
        twice.updated_input,
    )


@given(LISTS, VERDICTS)
def test_another_verdict_never_weakens_the_position(verdicts: list[Verdict], one_more: Verdict) -> None:
    before, after = combine("PreToolUse", *verdicts), combine("PreToolUse", *verdicts, one_more)
    assert strictness(after.decision) >= strictness(before.decision)
    assert before.stop is None or after.stop is not None


@given(LISTS, st.sampled_from([Ending.ERROR, Ending.CANCELLED]), st.integers(0, 6))
def test_a_failure_is_neutral_anywhere(verdicts: list[Verdict], ending: Ending, place: int) -> None:
    failure = Verdict(ending=ending, error="broken")
    with_failure = [*verdicts[:place], failure, *verdicts[place:]]
    before, after = combine("PreToolUse", *verdicts), combine("PreToolUse", *with_failure)
    assert (before.decision, before.stop, before.context, before.updated_input, before.reasons) == (
        after.decision,
        after.stop,
        after.context,
        after.updated_input,
        after.reasons,
    )


def test_no_opinion_is_not_an_approval() -> None:
    assert isinstance(combine("PreToolUse", Verdict(), Verdict()).decision, NoOpinion)
