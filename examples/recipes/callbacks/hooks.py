"""Hooks in code: approve reads with a message, and refuse to stop after tool errors."""

from typing import Any

from hookwright import Allow, Answer, Hooks, PreToolUse

hooks = Hooks()


@hooks.on(PreToolUse, "Read|Glob|Grep")
async def approve_reading(event: PreToolUse) -> Answer:
    """Reading never needs a question."""
    return Answer(decision=Allow("reading is fine"), system_message=f"{event.tool_name} approved")


@hooks.until("The last tool call failed. Find out why before you stop.")
def no_open_error(messages: list[dict[str, Any]], signal: Any) -> bool:
    """Look at the newest tool result."""
    for message in reversed(messages):
        content = message["content"] if isinstance(message["content"], list) else []
        for block in reversed(content):
            if block.get("type") == "tool_result":
                return not block.get("is_error", False)
    return True
