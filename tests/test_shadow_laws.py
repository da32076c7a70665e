"""The pure laws of shadow mode: what a hook in it says has no effect."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as some

from hookwright.aggregate import aggregate, guards, in_shadow
from hookwright.hookset import HookSet
from hookwright.interpret import interpret_late
from hookwright.protocol.handlers import HandlerMode, MatcherGroup
from hookwright.protocol.job import Job
from hookwright.protocol.outcome import NO_OPINION, SILENT, Allow, Ask, Block, Deny, Ending, EndTurn, Late, Verdict
from hookwright.protocol.replies import Exited, Failed, Failure
from hookwright.selection import Circumstances, select
from support import command, event, run_of

_VERDICTS = some.builds(
    Verdict,
    ending=some.sampled_from(list(Ending)),
    decision=some.sampled_from([NO_OPINION, Allow("a"), Ask("q"), Deny("no"), Block("no")]),
    stop=some.sampled_from([None, EndTurn("enough")]),
    context=some.sampled_from([None, "context"]),
    plain=some.sampled_from([None, "plain"]),
    system_message=some.sampled_from([None, "message"]),
    updated_input=some.sampled_from([None, {"command": "ls"}]),
    updated_output=some.sampled_from([None, "output"]),
    fields=some.sampled_from([{}, {"retry": True}]),
)


@given(
    some.sampled_from(["PreToolUse", "PostToolUse", "Stop", "UserPromptSubmit", "PermissionRequest"]),
    some.lists(some.tuples(some.booleans(), _VERDICTS), max_size=5),
)
def test_an_outcome_with_shadows_is_that_without_them(name: str, pairs: list[tuple[bool, Verdict]]) -> None:
    runs = [run_of(verdict, number) for number, (_, verdict) in enumerate(pairs)]
    mixed = [in_shadow(run) if shadow else run for (shadow, _), run in zip(pairs, runs, strict=True)]
    rest = [run for (shadow, _), run in zip(pairs, runs, strict=True) if not shadow]
    outcome, without = aggregate(event(name), mixed), aggregate(event(name), rest)
    assert msgspec.structs.replace(outcome, runs=()) == msgspec.structs.replace(without, runs=())
    assert outcome.errors == without.errors
    assert [run.would for run in mixed if run.would is not None] == [verdict for shadow, verdict in pairs if shadow]


def test_a_guard_that_was_trusted_to_fail_closed_and_changed_still_refuses() -> None:
    refusal = Verdict(ending=Ending.BLOCKING, decision=Deny("changed"))
    run = msgspec.structs.replace(run_of(refusal), reply=Failed(Failure.GUARD, "changed"))
    assert in_shadow(run) == run


def test_a_background_hook_in_shadow_says_nothing_later() -> None:
    handler = command(async_rewake=True, mode=HandlerMode.SHADOW)
    job = Job(handler, event("PreToolUse"), b"", 0, "run", None)
    said = json.dumps({"systemMessage": "hello"}).encode()
    late = interpret_late("id", job, Exited(2, said, b"wake up"))
    assert late == Late(id="id", job=job, reply=late.reply, ending=Ending.ERROR)
    assert interpret_late("id", job, Exited(0, said)).ending is Ending.SUCCESS


def test_no_input_waits_for_a_shadow() -> None:
    assert guards(command())
    assert not guards(command(mode=HandlerMode.SHADOW))


def test_a_copy_in_shadow_is_not_equal_to_one_that_enforces() -> None:
    shadow, guard = command("guard", mode=HandlerMode.SHADOW, pointer="a"), command("guard", pointer="b")
    hooks = HookSet.build([MatcherGroup("PreToolUse", None, (shadow, shadow, guard))])
    now = Circumstances("/home/me", "/home/me/project", None, ())
    assert select(hooks, event("PreToolUse"), now).handlers == (shadow, guard)


def test_the_verdict_moves_aside() -> None:
    refusal = Verdict(ending=Ending.BLOCKING, decision=Deny("no"))
    run = in_shadow(run_of(refusal))
    assert run.verdict is SILENT
    assert run.would is refusal
    assert run.would_refuse
    assert not aggregate(event("PreToolUse"), [run]).blocked
    failed = msgspec.structs.replace(run_of(refusal), reply=Failed(Failure.LAUNCH, "gone"))
    assert in_shadow(failed).would is refusal
