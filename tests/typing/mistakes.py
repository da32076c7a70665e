"""Mistakes a host could make: each line with `error` in its comment must be refused by both type checkers."""

from __future__ import annotations

from hookwright import Answer, Deny, Hooks, PreToolUse, fire_sync, open_session
from hookwright.protocol.samples import sample

hooks = Hooks()
Deny()  # error: a refusal has a reason
Answer(decision="deny")  # error: a decision is a value
fire_sync("PreToolUse")  # error: an event is an object
fire_sync(sample("Stop"), prompt_id="1")  # error: a complete event takes no fields
open_session(hooks=[])  # error: hooks are registered with `Hooks`
fire_sync(sample("Stop"), hooks=hooks).blocked = True  # error: an outcome is frozen
PreToolUse(session_id="", transcript_path="", cwd="", tool_name="Bash", tool_input={})  # error: an id is missing
