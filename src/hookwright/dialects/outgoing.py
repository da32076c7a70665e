"""From an outcome of the engine to an answer in the agent's dialect. No translation weakens a decision."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec

from hookwright.dialects.incoming import Translated
from hookwright.dialects.model import AnswerEffect, AnswerForm, Dialect, Moment, Vocabulary
from hookwright.dialects.native import NativeAnswer
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Outcome, strictness


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent must be made to do, in words that it has."""

    #: Why the action is refused; at the end of a turn, why the agent continues.
    refusal: str | None = None
    #: The turn ends as well.
    ends: bool = False
    ask: str | None = None
    allow: bool = False
    rewrite: Mapping[str, Json] | None = None
    context: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    #: What the agent has no words for; it is reported.
    losses: tuple[str, ...] = ()


def join(outcomes: Sequence[Outcome]) -> Outcome:
    """Combine the outcomes of the events of one call.

    Law: the strictest decision is the decision, with all reasons of its kind; any end of the turn is kept, and so is
    every rewrite, which `settle` refuses, since no part of such a call can be rewritten alone.
    """
    strictest = max((outcome.decision for outcome in outcomes), key=strictness)
    same = [outcome for outcome in outcomes if type(outcome.decision) is type(strictest)]
    reasons = tuple(dict.fromkeys(reason for outcome in same for reason in outcome.reasons))
    if isinstance(strictest, Deny):
        interrupt = any(isinstance(each.decision, Deny) and each.decision.interrupt for each in same)
        strictest = Deny("\n".join(reasons) or strictest.reason, interrupt)
    return msgspec.structs.replace(
        outcomes[0],
        decision=strictest,
        reasons=reasons,
        stop=next((outcome.stop for outcome in outcomes if outcome.stop is not None), None),
        context=tuple(text for outcome in outcomes for text in outcome.context),
        plain=tuple(text for outcome in outcomes for text in outcome.plain),
        system_messages=tuple(text for outcome in outcomes for text in outcome.system_messages),
        updated_input=next((each.updated_input for each in outcomes if each.updated_input is not None), None),
        updated_output=next((each.updated_output for each in outcomes if each.updated_output is not None), None),
        fields={name: value for outcome in outcomes for name, value in outcome.fields.items()},
        runs=tuple(run for outcome in outcomes for run in outcome.runs),
        skips=tuple(skip for outcome in outcomes for skip in outcome.skips),
        diagnostics=tuple(note for outcome in outcomes for note in outcome.diagnostics),
    )


#: Events at which a refusal is feedback on a call that has run.
_AFTER_CALL = ("PostToolUse", "PostToolUseFailure")


def settle(dialect: Dialect, call: Translated, outcome: Outcome) -> Settled:
    """Return what the agent must do.

    Laws:
    1. What Claude Code would not run does not run: a refusal, an end of the turn and a deferred call are refusals; so
       is a question where the agent cannot be trusted to ask it, and a rewrite that the agent cannot apply.
    2. Nothing becomes stronger than it was: `allow` is said only where the agent gives it the same meaning.
    3. What has no words and guards nothing is reported as a loss, never dropped. After a call a refusal is feedback, so
       an agent that reads no refusal there gets it as context.
    """
    rules = CATALOGUE[call.moment.claude].rules
    if rules.opens_call:
        found = _before_call(dialect, call, outcome)
    elif rules.permission:
        found = _request(dialect, outcome)
    elif rules.ends_turn:
        found = Settled(refusal=_reason(outcome) if outcome.blocked else None)
    else:
        found = _elsewhere(dialect, call.moment, outcome)
    context = (*outcome.context, *outcome.plain)
    losses = [*found.losses]
    if context and not call.moment.context:
        losses.append(f"context for the model was dropped: {dialect.title} has no channel for it at {call.moment.name}")
    if found.refusal is not None and not call.moment.refused_by:
        losses.append(f"{dialect.title} cannot refuse at {call.moment.name}, so this had no effect: {found.refusal}")
        if call.moment.context and call.moment.claude in _AFTER_CALL:
            losses[-1] = f"{dialect.title} cannot refuse at {call.moment.name}, so the model reads this as context"
            context = (found.refusal, *context)
    unsaid = [name for name in outcome.fields if name != "classifier_context"]
    if unsaid:
        losses.append(f"{dialect.title} has no {', '.join(unsaid)}")
    refusal = found.refusal if call.moment.refused_by else None
    return msgspec.structs.replace(
        found,
        refusal=refusal,
        context=context if call.moment.context and refusal is None else (),
        messages=outcome.system_messages,
        losses=tuple(losses),
    )


def _reason(outcome: Outcome) -> str:
    decision = outcome.decision
    said = outcome.reason or (decision.reason if isinstance(decision, Deny | Block | Ask | Defer) else None)
    return said or "a hook refused this without a reason"


def _before_call(dialect: Dialect, call: Translated, outcome: Outcome) -> Settled:
    title = dialect.title
    ends = dialect.answers.stop is AnswerEffect.ENDS and outcome.stop is not None
    if outcome.blocked:
        return Settled(refusal=_reason(outcome), ends=ends)
    if outcome.stop is not None:
        return Settled(refusal=outcome.stop.reason or "a hook ended the turn before this call", ends=ends)
    if isinstance(outcome.decision, Defer):
        return Settled(refusal=f"a hook deferred this call, which {title} cannot do: {_reason(outcome)}")
    unchanged = len(call.events) == 1 and outcome.updated_input == call.given
    if outcome.updated_input is None or unchanged:
        return _opinion(dialect, outcome, None)
    rewrite = _rewrite(dialect, call, outcome.updated_input)
    if isinstance(rewrite, str):
        return Settled(refusal=f"a hook rewrote this call, which cannot be applied in {title}: {rewrite}")
    return _opinion(dialect, outcome, rewrite)


def _opinion(dialect: Dialect, outcome: Outcome, rewrite: Mapping[str, Json] | None) -> Settled:
    """Settle a question, an approval or no opinion on a call that may be rewritten."""
    answers = dialect.answers
    if not isinstance(outcome.decision, Ask):
        return Settled(allow=isinstance(outcome.decision, Allow) and answers.allows, rewrite=rewrite)
    if answers.asks and answers.ask in (AnswerEffect.REFUSED, AnswerEffect.ASKS):
        return Settled(ask=_reason(outcome), rewrite=rewrite)
    return Settled(refusal=f"a hook asks for confirmation, which {dialect.title} cannot give: {_reason(outcome)}")


def _rewrite(dialect: Dialect, call: Translated, updated: Mapping[str, Json]) -> Mapping[str, Json] | str:
    """Return a rewritten input in the agent's keys, or why it cannot be applied."""
    if not dialect.answers.rewrite:
        return "it has no rewrite. Let the hook refuse the call and name the better one."
    if len(call.events) != 1 or (call.tool is not None and call.tool.patch):
        return "the call is several calls for the hooks"
    unknown = [key for key in updated if key not in call.given]
    if unknown:
        return f"the call has no `{unknown[0]}`"
    left = [key for key in call.given if key not in updated and key != "description"]
    if left and dialect.answers.rewrite_merges:
        return f"it cannot remove `{left[0]}`"
    back = {claude: name for name, claude in reversed(call.tool.keys)} if call.tool is not None else {}
    return {back.get(key, key): value for key, value in updated.items()}


def _request(dialect: Dialect, outcome: Outcome) -> Settled:
    if outcome.blocked:
        return Settled(refusal=_reason(outcome))
    if outcome.updated_input is not None:
        return Settled(refusal=f"a hook rewrote this call, which {dialect.title} cannot apply to a request")
    if isinstance(outcome.decision, Ask | Defer):
        return Settled(refusal=_reason(outcome))
    return Settled(allow=isinstance(outcome.decision, Allow))


def _elsewhere(dialect: Dialect, moment: Moment, outcome: Outcome) -> Settled:
    """Settle prompts, results and everything that is only observed."""
    said = [] if not outcome.blocked else [_reason(outcome)]
    losses = []
    if outcome.updated_output is not None:
        new = outcome.updated_output
        text = new if isinstance(new, str) else json.dumps(new, ensure_ascii=False)
        if dialect.answers.block_replaces_output and moment.refused_by:
            said.insert(0, text)
        else:
            losses.append(f"{dialect.title} cannot replace a tool's output, so the model reads the original one")
    if outcome.stop is not None:
        said.append(outcome.stop.reason or "a hook ended the turn")
        if dialect.answers.stop is not AnswerEffect.ENDS and moment.claude != "UserPromptSubmit":
            losses.append(f"{dialect.title} cannot end the turn at {moment.name}")
    ends = outcome.stop is not None and dialect.answers.stop is AnswerEffect.ENDS
    return Settled(refusal="\n".join(said) if said else None, ends=ends, losses=tuple(losses))


# ── in the agent's words ────────────────────────────────────────────────────


def speak(dialect: Dialect, moment: Moment, settled: Settled) -> NativeAnswer:
    """Write what the agent must do as the answer of one hook."""
    notes = "".join(f"hookwright: {loss}\n" for loss in settled.losses)
    if settled.refusal is not None:
        refusal = _refused(moment, settled)
        return msgspec.structs.replace(refusal, stderr=refusal.stderr + notes)
    if dialect.answers.vocabulary is Vocabulary.PLUGIN:
        body: dict[str, Json] = {} if settled.rewrite is None else {"input": dict(settled.rewrite)}
        return NativeAnswer(0, _dumped(body | _messages(settled)), notes)
    if dialect.answers.plain_context:
        return NativeAnswer(0, "\n\n".join(settled.context), "".join(f"{text}\n" for text in settled.messages) + notes)
    specific = _specific(dialect, moment, settled)
    body = {"hookSpecificOutput": {"hookEventName": moment.name, **specific}} if specific else {}
    if settled.context and moment.context_at_top:
        body["additionalContext"] = "\n\n".join(settled.context)
    return NativeAnswer(0, _dumped(body | _messages(settled)), notes)


def _dumped(body: Mapping[str, Json]) -> str:
    return json.dumps(body, ensure_ascii=True)


def _messages(settled: Settled) -> dict[str, Json]:
    texts = [*settled.messages, *(f"hookwright: {loss}" for loss in settled.losses)]
    return {"systemMessage": "\n".join(texts)} if texts else {}


def _specific(dialect: Dialect, moment: Moment, settled: Settled) -> dict[str, Json]:
    claude = dialect.answers.vocabulary is Vocabulary.CLAUDE
    found: dict[str, Json] = {}
    if AnswerForm.BEHAVIOR in moment.refused_by:
        return {"decision": {"behavior": "allow"}} if settled.allow else {}
    if settled.ask is not None:
        found |= {"permissionDecision": "ask", "permissionDecisionReason": settled.ask}
    elif claude and (settled.allow or settled.rewrite is not None):
        found["permissionDecision"] = "allow"
    if settled.rewrite is not None:
        found[dialect.answers.rewrite] = dict(settled.rewrite)
    if settled.context and not moment.context_at_top:
        found["additionalContext"] = "\n\n".join(settled.context)
    return found


def _refused(moment: Moment, settled: Settled) -> NativeAnswer:
    """Write a refusal in the best form that the agent obeys at this moment; it always has a text."""
    text = (settled.refusal or "").strip() or "a hook refused this without a reason"
    name = moment.name
    match moment.refused_by[0]:
        case AnswerForm.DENY:
            inner = {"hookEventName": name, "permissionDecision": "deny", "permissionDecisionReason": text}
            body: dict[str, Json] = {"hookSpecificOutput": inner}
        case AnswerForm.BEHAVIOR:
            decision = {"behavior": "deny", "message": text}
            body = {"hookSpecificOutput": {"hookEventName": name, "decision": decision}}
        case AnswerForm.BLOCK:
            body = {"decision": "block", "reason": text}
            body |= {"continue": False, "stopReason": text} if settled.ends else {}
        case AnswerForm.END:
            body = {"continue": False, "stopReason": text}
        case AnswerForm.FLAT:
            body = {"permission": "deny", "user_message": text, "agent_message": text}
        case AnswerForm.THROW:
            body = {"deny": text}
        case AnswerForm.EXIT_2:
            return NativeAnswer(2, "", "\n".join((text, *settled.messages)) + "\n")
    return NativeAnswer(0, _dumped(body | _messages(settled)))


def refused_for_failure(dialect: Dialect, moment: Moment | None, problem: str, returning: bool) -> NativeAnswer:
    """Answer for a failure of our own, with the way to switch the export off.

    Law: what can be refused is refused; an agent that was already sent back to work once (`returning`) may stop, and
    what cannot be refused ends with status 1 and the text, which every agent takes for a failed hook.
    """
    text = (
        f"Hookwright could not run your hooks: {problem}. Until that is solved this is refused. "
        f"To switch the hooks off in {dialect.title}, run: hookwright export --to {dialect.name} --remove"
    )
    if moment is None:
        return NativeAnswer(2, "", text + "\n")
    if not moment.refused_by or (returning and CATALOGUE[moment.claude].rules.ends_turn):
        return NativeAnswer(1, "", text.replace(" Until that is solved this is refused.", "") + "\n")
    if AnswerForm.EXIT_2 in moment.refused_by:
        return NativeAnswer(2, "", text + "\n")
    return speak(dialect, moment, Settled(refusal=text))
