"""The result line of a prompt: how it ended, what it used and what it cost."""

from __future__ import annotations

import msgspec

from hookwright.agent.headless.hook_lines import new_id
from hookwright.agent.state.endings import (
    ApiFailed,
    Deferred,
    Finished,
    HookStopped,
    Interrupted,
    OutOfBudget,
    OutOfTurns,
    Result,
    SchemaUnmet,
    StopPrevented,
    TurnAnswered,
    TurnRefused,
)
from hookwright.agent.state.updates import Added, Said, ToolEnded, TurnBegan, Update
from hookwright.protocol.jsontext import Json

#: The start of what a Stop hook says to the model.
STOP_FEEDBACK = "Stop hook feedback:"


def is_stop_feedback(update: Added) -> bool:
    """Return whether a text is what a Stop hook sends the main agent back to work with."""
    return update.parent_tool_use_id is None and update.text.startswith(STOP_FEEDBACK)


class ResultLines:
    """Writes the result line of each prompt.

    Law: `num_turns` is 1 for the model's first answer and 1 for every user message after it: each tool result, the
    text of a skill, each text of a Stop hook, and an interruption. It is 0 where the model was not asked.
    """

    def __init__(self) -> None:
        self._turns = 0

    def count(self, update: Update) -> None:
        """Count an update of the main agent."""
        match update:
            case TurnBegan():
                self._turns = 0
            case Said(parent_tool_use_id=None):
                self._turns = max(self._turns, 1)
            case ToolEnded(parent_tool_use_id=None, instructions=instructions):
                self._turns += 2 if instructions else 1
            case Added() if is_stop_feedback(update):
                self._turns += 1

    def line(self, result: Result) -> dict[str, Json]:
        """Return a result as the last line of its prompt."""
        turns = self._turns
        match result.ending:
            case Interrupted():
                turns += 1
            case ApiFailed():
                turns = max(turns, 1)
        return {**_line(result), "num_turns": turns, "uuid": new_id()}


def _line(result: Result) -> dict[str, Json]:
    ending = result.ending
    line: dict[str, Json] = {
        "type": "result",
        "subtype": _subtype(result),
        "is_error": result.is_error,
        "duration_ms": round(result.duration * 1000),
        "duration_api_ms": round(result.api_duration * 1000),
        "num_turns": 0,
        "result": _text(result),
        "stop_reason": _stop_reason(result),
        "session_id": result.session_id,
        "total_cost_usd": result.cost,
        "usage": msgspec.structs.asdict(result.usage),
        "modelUsage": {name: _used(result, name) for name in result.model_usage},
        "permission_denials": list(result.denials),
        "terminal_reason": result.terminal_reason,
    }
    if isinstance(ending, TurnRefused | TurnAnswered):
        del line["terminal_reason"]
    if isinstance(ending, TurnAnswered) and ending.command:
        line["local_command"] = ending.command
    if line["subtype"].startswith("error"):
        del line["result"]
        line["errors"] = [result.stop_reason or ""]
    if isinstance(ending, ApiFailed):
        line["api_error_status"] = ending.status
    if isinstance(ending, Deferred):
        line["deferred_tool_use"] = {key: ending.call[key] for key in ("id", "name", "input")}
    if result.structured is not None:
        line["structured_output"] = result.structured
    return line


def _used(result: Result, name: str) -> dict[str, Json]:
    used = result.model_usage[name]
    return {
        "inputTokens": used.input_tokens,
        "outputTokens": used.output_tokens,
        "cacheReadInputTokens": used.cache_read_input_tokens,
        "cacheCreationInputTokens": used.cache_creation_input_tokens,
        "webSearchRequests": 0,
        "costUSD": result.model_costs.get(name),
    }


def _text(result: Result) -> str:
    """Return the model's last words, unless a command or a hook had the last word."""
    match result.ending:
        case TurnAnswered(compacted=True) | Finished(overridden=True):
            return ""
        case _:
            return result.text


def _subtype(result: Result) -> str:
    match result.ending:
        case OutOfTurns():
            return "error_max_turns"
        case OutOfBudget():
            return "error_max_budget_usd"
        case SchemaUnmet():
            return "error_max_structured_output_retries"
        case Interrupted():
            return "error_during_execution"
        case _:
            return "success"


def _stop_reason(result: Result) -> str | None:
    match result.ending:
        case Finished() | StopPrevented() | SchemaUnmet():
            return "end_turn"
        case Deferred():
            return "tool_deferred"
        case ApiFailed():
            return "stop_sequence"
        case HookStopped() | OutOfTurns() | OutOfBudget() | Interrupted():
            return "tool_use"
        case TurnAnswered() | TurnRefused():
            return None
