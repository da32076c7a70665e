"""Compact a long conversation: the model sums it up and continues with the summary alone."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import msgspec

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.prompts import COMPACT, CONTINUED
from hookwright.agent.state.session import Identity
from hookwright.agent.state.updates import Compacting, CompactionEnded, Note
from hookwright.agent.transcript import closed, subagent_path
from hookwright.agent.turn.opening import first_system_prompt, instructions_again, session_started
from hookwright.models.types import ApiError, Request
from hookwright.protocol.events import PostCompact, PreCompact, SubagentStop
from hookwright.protocol.outcome import Block, Ending, Outcome, Run
from hookwright.protocol.replies import Exited


class Compacted(msgspec.Struct, frozen=True):
    """The conversation was compacted; `said` is what hooks printed, for the user."""

    said: str = ""


class NotCompacted(msgspec.Struct, frozen=True):
    """The conversation is unchanged."""

    why: str
    #: A hook refused it.
    refused: bool = False


async def compact_if_full(actor: Actor) -> None:
    """Compact automatically when the conversation exceeds the session's context limit."""
    limit = actor.session.options.context_limit
    if not actor.is_main or limit is None or actor.session.model.context_tokens < limit:
        return
    done = await compact(actor, "auto", None)
    if isinstance(done, NotCompacted):
        # The next response says how full the context is; do not try again before that.
        actor.session.model.forget_context()
        actor.session.tell(Note(done.why, level="warning", tag="compact"))


async def compact(actor: Actor, trigger: str, instructions: str | None) -> Compacted | NotCompacted:
    """Compact the conversation, and report the start and the end of it."""
    session, tokens = actor.session, actor.session.model.context_tokens
    actor.dialogue.deliver()
    if all(message["role"] != "assistant" for message in actor.dialogue.messages):
        return NotCompacted("Not enough messages to compact.")
    session.tell(Compacting())
    done = await _compact(actor, trigger, instructions)
    if isinstance(done, NotCompacted):
        session.tell(CompactionEnded(trigger=trigger, error=f"skipped: {done.why}" if done.refused else done.why))
    else:
        summary = str(actor.dialogue.messages[0]["content"])
        session.tell(CompactionEnded(trigger=trigger, pre_tokens=tokens, summary=summary))
    return done


def _reasons(before: Outcome) -> str:
    """Return the reason of every hook that blocked, with the hook's name."""
    said = [(f"[{run.handler.label}]: ", run.verdict.decision) for run in before.runs]
    return "\n".join(
        name + decision.reason.removeprefix(name) for name, decision in said if isinstance(decision, Block)
    )


async def _compact(actor: Actor, trigger: str, instructions: str | None) -> Compacted | NotCompacted:
    """Sum up and start over: PreCompact, the summary, SubagentStop of its writer, SessionStart, PostCompact."""
    session = actor.session
    before = await actor.fire(actor.event(PreCompact, trigger=trigger, custom_instructions=instructions))
    actor.dialogue.record_firing(before)
    if before.blocked:
        return NotCompacted(f"Compaction blocked by PreCompact hook: {_reasons(before)}", refused=True)
    try:
        summary = await _summary(actor, [instructions or "", *_asked_for(before)])
    except ApiError as error:
        return NotCompacted(f"The conversation could not be compacted: {error}")
    await _summariser_stops(actor, summary)
    _start_over(actor, trigger, summary)
    actor.instruct(first_system_prompt(session, instructions_again(session)))
    await session_started(actor, "compact")
    after = await actor.fire(actor.event(PostCompact, trigger=trigger, compact_summary=summary))
    actor.dialogue.record_firing(after)
    return Compacted("\n".join(filter(None, (_printed(before, "PreCompact"), _printed(after, "PostCompact")))))


def _asked_for(before: Outcome) -> list[str]:
    """Return what PreCompact hooks printed: the summary follows it as it follows the words of the user."""
    return [_stdout(run) for run in before.runs if run.verdict.ending is Ending.SUCCESS]


async def _summary(actor: Actor, instructions: Sequence[str]) -> str:
    """Ask for the summary, with the instructions of the user and what PreCompact hooks printed."""
    given = "\n\n".join(filter(None, instructions))
    addition = f"\n\nAdditional instructions:\n{given}" if given else ""
    request = Request(
        messages=[*closed(actor.dialogue.messages), {"role": "user", "content": COMPACT + addition}],
        system=actor.system,
        tools=actor.offers,
        model=actor.role.model,
        purpose="compact",
    )
    response = await actor.session.model.complete(request)
    if not response.text.strip():
        raise ApiError("the model gave no summary")
    return response.text


async def _summariser_stops(actor: Actor, summary: str) -> None:
    """Fire SubagentStop for the writer of the summary, an agent without a type."""
    writer = Identity(f"a{uuid.uuid4().hex[:16]}", "")
    event = actor.session.event(
        SubagentStop,
        writer,
        agent_type=writer.agent_type,
        stop_hook_active=False,
        agent_transcript_path=subagent_path(actor.session.state.transcript_path, writer.agent_id),
        last_assistant_message=summary,
        background_tasks=actor.session.background_tasks(),
        session_crons=[],
    )
    actor.dialogue.record_unread(await actor.fire(event))


def _start_over(actor: Actor, trigger: str, summary: str) -> None:
    dialogue, model = actor.dialogue, actor.session.model
    dialogue.transcript.compact_boundary(trigger, model.context_tokens)
    model.forget_context()
    dialogue.messages.clear()
    dialogue.user(CONTINUED.format(summary=summary.strip()), isCompactSummary=True)


def _printed(outcome: Outcome, event: str) -> str:
    """Return how each hook ended: with what it printed, or why it failed."""
    return "\n".join(f"{event} [{run.handler.label}] {_end(run)}" for run in outcome.runs)


def _end(run: Run) -> str:
    if run.verdict.ending is Ending.SUCCESS:
        stdout = _stdout(run)
        return f"completed successfully: {stdout}" if stdout else "completed successfully"
    if run.verdict.ending is Ending.CANCELLED:
        return "failed: Hook cancelled"
    stderr = run.reply.stderr.decode("utf-8", "replace").strip() if isinstance(run.reply, Exited) else ""
    return f"failed: {stderr or run.verdict.error or ''}".rstrip()


def _stdout(run: Run) -> str:
    if not isinstance(run.reply, Exited) or run.verdict.suppress_output:
        return ""
    return run.reply.stdout.decode("utf-8", "replace").strip()
