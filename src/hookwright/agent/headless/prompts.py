"""A session without a screen: one prompt, or as many as come in, and everything that they set going."""

from __future__ import annotations

from hookwright.agent.agent import Agent
from hookwright.agent.state.endings import Result
from hookwright.agent.state.inbox import Closed


async def one_prompt(agent: Agent, prompt: str) -> Result | None:
    """Deal with one prompt and with what it left running; give the last result."""
    last = await _before(agent)
    if prompt or last is None:
        last = await agent.run(prompt)
    while agent.busy:
        last = await agent.answer(await agent.session.inbox.get()) or last
    return last


async def every_prompt(agent: Agent) -> Result | None:
    """Deal with whatever comes in until nobody says anything more and nothing is left running."""
    last = await _before(agent)
    closed = False
    while not closed or agent.busy:
        letter = await agent.session.inbox.get()
        if isinstance(letter, Closed):
            closed = True
        else:
            last = await agent.answer(letter) or last
    return last


async def _before(agent: Agent) -> Result | None:
    """Take up deferred calls, then say what a SessionStart hook wants to be said first."""
    last = await agent.take_up()
    if agent.first_message is not None:
        last = await agent.run(agent.first_message)
    return last
