"""What became of a call, by the result in the transcript."""

from __future__ import annotations

import re

import msgspec

from hookwright.protocol.jsontext import Json
from hookwright.replay.past import Fate
from hookwright.visibility import NOT_RUN

_ERROR_TAG = "<tool_use_error>"
#: Results of calls that a hook refused, in every version; also those of an administrator's hooks.
_BY_HOOK = re.compile(
    rf"(?:{_ERROR_TAG})?(?:(?:PreToolUse|PermissionRequest):\S+ hook (?:error|stopped)|\S+ operation blocked by hook)"
)
#: Results of calls that the person refused.
_BY_PERSON = ("The user doesn't want to proceed with this tool use", "The user denied this tool call")
#: Results of calls that were running or waiting when the person stopped the turn.
_STOPPED = ("[Request interrupted by user", "The user doesn't want to take this action right now")
#: Results of calls that a rule or a mode refused, where nothing but the text says so.
_BY_RULE = re.compile(
    r"Permission (?:to use \S+|for this action) (?:has been|was) denied"
    r"|\S+ requested permissions? to .{1,300}, but you haven't granted it yet"
    r"|(?!Exit code|Error)[^\n]{0,600}\b(?:requires?|needs) approval\b"
)


class CallResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a transcript says about the end of a call."""

    is_error: bool
    text: str
    #: Whether the tool's structured response says that it was stopped.
    interrupted: bool = False
    #: The structured response of a call that failed: a text in most versions.
    response: Json = None
    #: `toolDenialKind` and `permissionDecision`, which newer versions write.
    denial: str | None = None
    decision: Json = None


def fate_of(result: CallResult) -> Fate:
    """Return what became of a call.

    Law: a recorded decision is believed before a text; a call counts as refused by the person only if a person
    answered; `<tool_use_error>` means that no tool hook ran, unless the text inside names the hook that refused.
    """
    if not result.is_error:
        return Fate.INTERRUPTED if result.interrupted else Fate.SUCCEEDED
    if _BY_HOOK.match(result.text) or result.text == NOT_RUN:
        return Fate.REFUSED_BY_HOOK
    if result.text.startswith(_ERROR_TAG):
        return Fate.NEVER_STARTED
    return _refused(result) or Fate.FAILED


def _refused(result: CallResult) -> Fate | None:
    decision = result.decision if isinstance(result.decision, dict) else {}
    if decision.get("decision") == "reject":
        source = str(decision.get("source") or "")
        if source.startswith("hook"):
            return Fate.REFUSED_BY_HOOK
        return Fate.REJECTED if source.startswith("user") else Fate.REFUSED_BY_RULE
    if result.text.startswith(_STOPPED):
        return Fate.INTERRUPTED
    if decision.get("decision") == "accept":
        return None
    if result.text.startswith(_BY_PERSON) or result.response == "User rejected tool use":
        return Fate.REJECTED
    if result.denial is not None:
        return Fate.REJECTED if result.denial == "user-rejected" else Fate.REFUSED_BY_RULE
    return Fate.REFUSED_BY_RULE if _BY_RULE.match(result.text) else None
