"""The answers that every agent is given: fourteen after which Claude Code does not run the call, and some others."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

#: The text of a refusal, found again in what the model is sent.
REASON = "refused-by-the-hook"
#: The command that a hook writes instead of the one that the model asks for.
REWRITTEN = "echo hi > other.txt"


def command(number: int) -> str:
    """Return the command that the model asks for; each one has a number, so one session tries several answers."""
    return f"echo hi > made-{number}.txt"


class Given(NamedTuple):
    """One answer of a PreToolUse hook, as Claude Code's documentation has it."""

    label: str
    status: int = 0
    stdout: str = ""
    stderr: str = ""

    def numbered(self, number: int) -> Given:
        """Return the answer to the command with a number."""
        texts = (self.stdout, self.stderr)
        marked = [
            text.replace("other.txt", f"other-{number}.txt").replace(REASON, f"{REASON}-{number}.") for text in texts
        ]
        return self._replace(stdout=marked[0], stderr=marked[1])


def _says(**decision: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}


_DENY = {"permissionDecision": "deny", "permissionDecisionReason": REASON}
_ALLOW = json.dumps(_says(permissionDecision="allow"))
_ASK = {"permissionDecision": "ask", "permissionDecisionReason": REASON}
_REWRITE = {"permissionDecision": "allow", "updatedInput": {"command": REWRITTEN}}


def _out(body: dict[str, Any]) -> str:
    return json.dumps(body)


MUST_STOP = (
    Given("exit 2 + stderr", 2, "", REASON),
    Given("exit 2, silent", 2),
    Given("exit 2 + allow JSON", 2, _ALLOW),
    Given("exit 2 + stderr + allow JSON", 2, _ALLOW, REASON),
    Given("exit 1 + deny JSON", 1, _out(_says(**_DENY))),
    Given("permissionDecision deny + reason", 0, _out(_says(**_DENY))),
    Given("deny without reason", 0, _out(_says(permissionDecision="deny"))),
    Given("deny + unknown field (inside)", 0, _out(_says(**_DENY, extra=1))),
    Given("deny + unknown field (top)", 0, _out({"extra": 1, **_says(**_DENY)})),
    Given("deny + suppressOutput", 0, _out({"suppressOutput": True, **_says(**_DENY)})),
    Given("deny + continue:false", 0, _out({"continue": False, **_says(**_DENY)})),
    Given("permissionDecision ask (headless)", 0, _out(_says(**_ASK))),
    Given("decision block + reason", 0, _out({"decision": "block", "reason": REASON})),
    Given("decision block", 0, _out({"decision": "block"})),
)
OTHERS = (
    Given("continue:false alone", 0, _out({"continue": False})),
    Given("allow + updatedInput", 0, _out(_says(**_REWRITE))),
    Given("decision ask", 0, _out({"decision": "ask"})),
    Given("exit 1 + stderr", 1, "", REASON),
    Given("broken JSON", 0, '{"decision": "bl'),
    Given("nothing"),
)
#: A file, and a guard of it as people write one; it is registered for `Write|Edit`.
PROTECTED = "protected.cfg"
GUARD = f"""if grep -q '"file_path" *: *"[^"]*/{PROTECTED}"'; then echo protected >&2; exit 2; fi"""
