"""The public API as a host's type checker sees it: read by mypy and pyright, never run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

from hookwright import (
    Allow,
    Answer,
    Ask,
    Block,
    Defer,
    Deny,
    EndTurn,
    EventEnded,
    Executor,
    Handler,
    Hooks,
    HookSession,
    Job,
    Kind,
    Loaded,
    NoOpinion,
    Notice,
    Observer,
    Outcome,
    Places,
    PreToolUse,
    Reply,
    Run,
    RunEnded,
    Skip,
    SkipReason,
    Verdict,
    fire_sync,
    load_hooks,
    messages,
    open_session,
)
from hookwright.author import hook
from hookwright.protocol.events import Stop
from hookwright.protocol.samples import sample

hooks = Hooks()


@hooks.on(PreToolUse, "Bash", timeout=5, on_failure="block")
def guard(event: PreToolUse) -> Deny | None:
    assert_type(event.tool_name, str)
    return Deny("no") if "rm" in event.tool_input else None


def test_a_hook(event: PreToolUse) -> None:
    assert_type(guard(event), Deny | None)


@hooks.on(Stop)
async def finish(event: Stop) -> Answer:
    return Answer(stop=EndTurn("enough"))


@hook.pre_tool_use("Bash")
def author_hook(event: PreToolUse) -> None:
    assert_type(event.tool_use_id, str)


def observe(notice: Notice) -> None:
    if isinstance(notice, RunEnded):
        assert_type(notice.run, Run)
        assert_type(notice.job.handler, Handler)
    elif isinstance(notice, EventEnded):
        assert_type(notice.outcome, Outcome)


async def execute(job: Job) -> Reply:
    raise NotImplementedError(job.handler.label)


executor: Executor = execute
observers: Sequence[Observer] = [observe]


async def host(places: Places) -> None:
    async with open_session(places, hooks=hooks, observers=observers, executors={Kind.COMMAND: executor}) as session:
        assert_type(session, HookSession)
        outcome = await session.fire(sample("PreToolUse"))
        assert_type(session.event(PreToolUse, tool_name="Bash", tool_input={}), PreToolUse)
        assert_type(await session.fire(PreToolUse, tool_name="Bash", tool_input={}), Outcome)
        assert_type(outcome.decision, NoOpinion | Allow | Ask | Defer | Deny | Block)
        assert_type(outcome.stop, EndTurn | None)
        assert_type(outcome.runs, tuple[Run, ...])
        assert_type(outcome.skips, tuple[Skip, ...])
        for run in outcome.runs:
            assert_type(run.verdict, Verdict)
        for skip in outcome.skips:
            assert_type(skip.reason, SkipReason)
        assert_type([message.text for message in messages(outcome)], list[str])


assert_type(load_hooks("."), Loaded)
assert_type(fire_sync(sample("Stop"), hooks=hooks), Outcome)
assert_type(fire_sync(PreToolUse, ".", hooks=hooks, tool_name="Bash", tool_input={}), Outcome)
