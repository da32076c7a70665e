"""A session without a screen: one prompt, or as many as come in, and the background work they start."""

from __future__ import annotations

from collections.abc import Callable

from hookwright.agent.agent import Agent
from hookwright.agent.state.endings import Result
from hookwright.agent.state.inbox import Closed, Prompt

#: Receives the state of a session: `running`, `requires_action` or `idle`.
OnState = Callable[[str], None]


async def one_prompt(agent: Agent, prompt: str) -> Result | None:
    """Run one prompt and what it left running; return the last result."""
    if prompt and agent.first_message is not None:
        agent.session.inbox.put(Prompt(prompt, joins=True))
    last = await _before(agent)
    if agent.first_message is None and (prompt or last is None):
        last = await agent.run(prompt)
    while agent.busy:
        last = await agent.answer(await agent.session.inbox.get()) or last
    return last


async def every_prompt(agent: Agent, on_state: OnState) -> Result | None:
    """Run every prompt that comes in until the input ends and nothing is left running.

    Law: the state is `idle` only when no further turn is owed: no background work runs, and nothing waits. A host keeps
    its end of the input open until then, since later turns may have to ask it, too.
    """
    last = await _before(agent)
    closed = False
    while not closed or agent.busy:
        if not agent.busy:
            on_state("idle")
        item = await agent.session.inbox.get()
        if isinstance(item, Closed):
            closed = True
        else:
            on_state("running")
            last = await agent.answer(item) or last
    return last


async def _before(agent: Agent) -> Result | None:
    """Run deferred calls, then the first message of a SessionStart hook."""
    last = await agent.run_deferred()
    if agent.first_message is not None:
        last = await agent.run(agent.first_message)
    return last
