"""What an agent does with the answer of a hook when it reads the answer itself, its faults included."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hookwright.dialects.model import AnswerEffect, AnswerForm, AnswerRules, Dialect, Moment, Vocabulary
from hookwright.protocol.jsontext import Json, parse_json


class NativeAnswer(msgspec.Struct, frozen=True):
    """What one process of a hook leaves: exit status, stdout, stderr."""

    status: int = 0
    stdout: str = ""
    stderr: str = ""


class NativeReading(msgspec.Struct, frozen=True):
    """What the agent does after an answer, and why."""

    effect: AnswerEffect
    why: str

    @property
    def stops(self) -> bool:
        """Whether the call, as the model wrote it, does not run."""
        return self.effect not in (AnswerEffect.RUNS, AnswerEffect.HANGS)


#: The keys that a strict agent knows, at the top and below `hookSpecificOutput`.
_KNOWN = frozenset(
    {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}
)
_KNOWN_INSIDE = frozenset(
    {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}
)
_UNSUPPORTED = ("stopReason", "suppressOutput")


def read_before_call(dialect: Dialect, answer: NativeAnswer) -> NativeReading:
    """Return what an agent does with a tool call after the one answer of a PreToolUse hook, without a user present.

    Law: the reading follows the agent, not Claude Code; every cell that was recorded reads as it was recorded.
    """
    rules = dialect.answers
    body = _object(answer.stdout)
    if rules.vocabulary is Vocabulary.PLUGIN:
        return _read_plugin(answer, body)
    if answer.status == 2 and not (rules.json_beats_exit_2 and body is not None):
        if answer.stderr.strip() or not rules.exit_2_needs_text:
            return NativeReading(AnswerEffect.REFUSED, "exit status 2")
        if not rules.json_at_any_status:
            return NativeReading(rules.on_failure, "exit status 2 without text on stderr is a failure")
    elif answer.status not in (0, 2) and not (rules.json_at_any_status and body is not None):
        return NativeReading(rules.on_failure, f"exit status {answer.status} is a failure, whatever stdout says")
    if body is None:
        return NativeReading(AnswerEffect.RUNS, "no answer")
    if rules.vocabulary is Vocabulary.CURSOR:
        return _read_flat(body)
    fault = _fault(rules, body) if rules.strict else ""
    return NativeReading(rules.on_failure, fault) if fault else _read_object(rules, body)


def _object(text: str) -> Mapping[str, Json] | None:
    stripped = text.strip()
    value, problem = parse_json(stripped) if stripped.startswith("{") else (None, "")
    return value if problem is None and isinstance(value, dict) else None


def _specific(body: Mapping[str, Json]) -> Mapping[str, Json]:
    specific = body.get("hookSpecificOutput")
    return specific if isinstance(specific, dict) else {}


def _fault(rules: AnswerRules, body: Mapping[str, Json]) -> str:
    """Return why a strict agent takes an answer for a failure; empty if it does not."""
    specific = _specific(body)
    unknown = [key for key in body if key not in _KNOWN] + [key for key in specific if key not in _KNOWN_INSIDE]
    if unknown:
        return f"the unknown field `{unknown[0]}` makes the answer a failure"
    for key in _UNSUPPORTED:
        if key in body:
            return f"the unsupported field `{key}` makes the answer a failure"
    if body.get("continue") is False:
        return "`continue: false` is not supported and makes the answer a failure"
    if "hookSpecificOutput" in body and "hookEventName" not in specific:
        return "`hookEventName` is missing, which makes the answer a failure"
    word = specific.get("permissionDecision")
    if word == "ask" or body.get("decision") == "ask":
        return "`ask` is not supported and makes the answer a failure"
    if word == "allow" and rules.rewrite not in specific:
        return "`allow` without a rewrite makes the answer a failure"
    return ""


def _read_object(rules: AnswerRules, body: Mapping[str, Json]) -> NativeReading:
    specific = _specific(body)
    if body.get("continue") is False and rules.stop is not AnswerEffect.RUNS:
        return NativeReading(rules.stop, "`continue: false`")
    words = [specific.get("permissionDecision")] if rules.permission_decision else []
    words += [body.get("decision")] if rules.decision else []
    if "deny" in words or "block" in words:
        reason = specific.get("permissionDecisionReason") or body.get("reason")
        if rules.reason_needed and not reason:
            return NativeReading(rules.on_failure, "a refusal without a reason is a failure")
        return NativeReading(AnswerEffect.REFUSED, "a refusal")
    if "ask" in words:
        return NativeReading(rules.ask, "`ask` where no user can answer")
    if rules.rewrite and isinstance(specific.get(rules.rewrite), dict):
        return NativeReading(AnswerEffect.REWRITTEN, f"`hookSpecificOutput.{rules.rewrite}`")
    unread = [key for key in ("permissionDecision", "updatedInput") if key in specific]
    return NativeReading(AnswerEffect.RUNS, f"`{unread[0]}` has no effect" if unread else "no opinion")


def _read_flat(body: Mapping[str, Json]) -> NativeReading:
    if body.get("permission") == "deny":
        return NativeReading(AnswerEffect.REFUSED, "`permission: deny`")
    if isinstance(body.get("updated_input"), dict):
        return NativeReading(AnswerEffect.REWRITTEN, "`updated_input`")
    return NativeReading(
        AnswerEffect.RUNS, "`permission: ask` is not enforced" if body.get("permission") == "ask" else "no denial"
    )


def _read_plugin(answer: NativeAnswer, body: Mapping[str, Json] | None) -> NativeReading:
    """Read as the generated plugin does: anything but an object at exit status 0 is thrown."""
    if answer.status != 0 or body is None:
        return NativeReading(AnswerEffect.REFUSED, "the plugin throws")
    if isinstance(body.get("deny"), str):
        return NativeReading(AnswerEffect.REFUSED, "the plugin throws the reason")
    return NativeReading(
        AnswerEffect.REWRITTEN if isinstance(body.get("input"), dict) else AnswerEffect.RUNS, "the plugin returns"
    )


def form_of(answer: NativeAnswer) -> AnswerForm | None:
    """Return the form of refusal that an answer has, by its text alone; None if it does not refuse."""
    body = _object(answer.stdout)
    if answer.status == 2 and answer.stderr.strip() and body is None:
        return AnswerForm.EXIT_2
    if answer.status != 0 or body is None:
        return None
    specific = _specific(body)
    decision = specific.get("decision")
    if specific.get("permissionDecision") == "deny" and specific.get("permissionDecisionReason"):
        return AnswerForm.DENY
    if isinstance(decision, dict) and decision.get("behavior") == "deny" and decision.get("message"):
        return AnswerForm.BEHAVIOR
    if body.get("decision") == "block" and body.get("reason"):
        return AnswerForm.BLOCK
    if body.get("continue") is False and body.get("stopReason"):
        return AnswerForm.END
    if body.get("permission") == "deny" and body.get("user_message"):
        return AnswerForm.FLAT
    return AnswerForm.THROW if isinstance(body.get("deny"), str) and body["deny"] else None


def obeyed(moment: Moment, answer: NativeAnswer) -> bool:
    """Return whether an answer is a refusal in a form that the agent obeys at this moment."""
    return form_of(answer) in moment.refused_by
