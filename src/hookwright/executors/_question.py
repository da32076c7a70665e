"""What prompt and agent hooks share: building the question and reading the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from hookwright.models.types import Message, NoModel, Response
from hookwright.protocol.jsontext import Json, parse_json
from hookwright.protocol.replies import Failed, Failure, Judged, Spent

#: The current conversation, in the neutral form of `hookwright.models.types`.
Conversation = Callable[[], Sequence[Message]]

#: A model's name, or a function that returns it, since a session may switch models.
ModelName = str | Callable[[], str]

_PLACEHOLDER = re.compile(r"\\\$|\$ARGUMENTS")
_FENCE = re.compile(r"```(?:[A-Za-z0-9_-]*\s)?(.*?)```", re.DOTALL)
_SHOWN = 200


def fill(prompt: str, payload: bytes) -> str:
    """Replace `$ARGUMENTS` with the event's JSON, or append it to the prompt; `\\$` is a plain dollar sign."""
    event = payload.decode("utf-8", "replace").rstrip("\n")
    filled = _PLACEHOLDER.sub(lambda found: "$" if found[0] == "\\$" else event, prompt)
    return filled if "$ARGUMENTS" in _PLACEHOLDER.findall(prompt) else f"{filled}\n\nARGUMENTS: {event}"


def named(model: str | None, default: ModelName) -> str:
    """Return the handler's own model, else the default."""
    if model is not None:
        return model
    return default if isinstance(default, str) else default()


def read_answer(text: str, spent: Spent) -> Judged | Failed:
    """Read `{ok, reason?, impossible?}`, or the older `{decision, reason, …}`, also inside a code fence."""
    text = text.strip()
    fenced = _FENCE.search(text)
    value, problem = parse_json(fenced[1] if fenced is not None and not text.startswith("{") else text)
    if problem is not None:
        return _unusable(f"is not JSON ({problem})", text, spent)
    if not isinstance(value, Mapping):
        return _unusable("has the wrong shape: expected an object", text, spent)
    if "ok" not in value and "decision" in value:
        return _read_older(value, text, spent)
    problems = judgement_problems(value)
    if problems:
        return _unusable(f"has the wrong shape: {problems}", text, spent)
    return Judged(value["ok"], value.get("reason"), bool(value.get("impossible")), spent=spent)


def judgement_problems(value: Mapping[str, Json]) -> str | None:
    """Return why an object is not `{ok, reason?, impossible?}`, or None if it is."""
    if "ok" not in value:
        return "`ok` is missing"
    if not isinstance(value["ok"], bool):
        return f"`ok` must be true or false, not {value['ok']!r}"
    if not isinstance(value.get("reason"), str | None):
        return f"`reason` must be a string, not {value['reason']!r}"
    if not isinstance(value.get("impossible"), bool | None):
        return f"`impossible` must be true or false, not {value['impossible']!r}"
    return None


def _read_older(value: Mapping[str, Json], text: str, spent: Spent) -> Judged | Failed:
    decision = value["decision"]
    if decision not in ("approve", "block"):
        return _unusable(f"has the wrong shape: `decision` must be approve or block, not {decision!r}", text, spent)
    for key in ("reason", "stopReason", "systemMessage"):
        if not isinstance(value.get(key), str | None):
            return _unusable(f"has the wrong shape: `{key}` must be a string, not {value[key]!r}", text, spent)
    continues = value.get("continue", True)
    if not isinstance(continues, bool):
        return _unusable(f"has the wrong shape: `continue` must be true or false, not {continues!r}", text, spent)
    reason, stop_reason = value.get("reason"), value.get("stopReason")
    return Judged(
        decision == "approve" and continues,
        reason if continues else stop_reason or reason,
        # `continue: false` ends the turn. A refusal also ends it, except at its end, where only `impossible` does.
        impossible=not continues,
        stop_reason=stop_reason,
        system_message=value.get("systemMessage"),
        spent=spent,
    )


def _unusable(problem: str, text: str, spent: Spent) -> Failed:
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return Failed(Failure.ANSWER, f"the model's answer {problem}: {shown or 'it is empty'}", spent=spent)


def counted(spent: Spent, response: Response) -> Spent:
    """Add the cost of one answer."""
    return Spent(
        spent.model,
        spent.requests + 1,
        spent.input_tokens + response.usage.context_tokens,
        spent.output_tokens + response.usage.output_tokens,
        spent.agent_id,
    )


def call_failed(error: Exception, spent: Spent) -> Failed:
    """Turn an exception of a model client into a reply."""
    if isinstance(error, NoModel):
        return Failed(Failure.MODEL, str(error), spent=spent)
    status = getattr(error, "status", None)
    text = str(error) or type(error).__name__
    return Failed(Failure.MODEL, f"the model call failed: {text}", status if isinstance(status, int) else None, spent)
