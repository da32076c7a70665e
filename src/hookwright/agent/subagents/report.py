"""What a subagent leaves for the agent that started it: the response of the Agent tool."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from hookwright.agent.state.actor import Actor
from hookwright.agent.state.dialogue import Message
from hookwright.agent.state.endings import ApiFailed, Finished, StopPrevented, TurnEnd
from hookwright.agent.tools import Text, ToolResult, failed
from hookwright.agent.transcript import tool_uses
from hookwright.protocol.jsontext import Json


def final_text(ending: TurnEnd) -> str:
    """Return the text a subagent leaves for the agent that started it."""
    if isinstance(ending, Finished | StopPrevented):
        return ending.text
    if isinstance(ending, ApiFailed):
        return ending.text
    return "(The subagent ended before it gave an answer.)"


def launched(actor: Actor, description: str, prompt: str) -> ToolResult:
    """Return the result of a call whose subagent works in the background."""
    response = {
        "isAsync": True,
        "status": "async_launched",
        "agentId": _id(actor),
        "description": description,
        "resolvedModel": _model(actor),
        "prompt": prompt,
        "outputFile": actor.dialogue.transcript.path,
        "canReadOutputFile": True,
        "canContinueAgent": False,
    }
    return ToolResult(response, render(response))


def finished(actor: Actor, prompt: str, started: float, ending: TurnEnd, before: Sequence[Message]) -> ToolResult:
    """Return the result of a call whose subagent has ended.

    Law: `toolsUsed` has every tool the subagent called. Its report names those that the agent which started it had not
    called in the messages `before`.
    """
    if isinstance(ending, ApiFailed):
        return failed(ending.text)
    used = _used(actor.dialogue.messages)
    known = _used(before)
    response = {
        "status": "completed",
        "prompt": prompt,
        "agentId": _id(actor),
        "agentType": actor.identity.agent_type if actor.identity is not None else "",
        **({"toolsUsed": used} if used else {}),
        "content": [*_note([name for name in used if name not in known]), {"type": "text", "text": final_text(ending)}],
        "totalDurationMs": round((time.monotonic() - started) * 1000),
        "totalTokens": actor.usage.context_tokens + actor.usage.output_tokens,
        "totalToolUseCount": actor.tool_calls,
        "usage": msgspec.structs.asdict(actor.usage),
        "resolvedModel": _model(actor),
        "canContinueAgent": False,
    }
    return ToolResult(response, render(response))


def render(response: Json) -> Text:
    """Return a response as the model reads it."""
    return [{"type": "text", "text": _report(response)}]


def _id(actor: Actor) -> str:
    return actor.identity.agent_id if actor.identity is not None else ""


def _model(actor: Actor) -> str:
    return actor.role.model or actor.session.model.main_model


def _used(messages: Sequence[Message]) -> list[str]:
    """Return the tools that messages call, each once."""
    return list(dict.fromkeys(call["name"] for message in messages for call in tool_uses(message)))


def _note(names: list[str]) -> list[Json]:
    """Return the names of tools as a block before the report; none if there are none."""
    text = f"<tools-used-before-summary>{', '.join(names)}</tools-used-before-summary>\n"
    return [{"type": "text", "text": text}] if names else []


def _report(response: Json) -> str:
    if not isinstance(response, dict) or response.get("status") == "async_launched":
        return (
            f"The agent works in the background as {response.get('agentId')}. You will be notified when it is done; "
            f"its conversation is recorded in {response.get('outputFile')}."
        )
    content = response.get("content", ())
    return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
