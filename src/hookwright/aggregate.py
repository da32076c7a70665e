"""Fold the runs of one firing into one outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.events import Event
from hookwright.protocol.handlers import Handler, OnFailure
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import matched_value
from hookwright.protocol.outcome import (
    NO_OPINION,
    SILENT,
    Allow,
    Block,
    Decision,
    Deny,
    Ending,
    EndTurn,
    NoOpinion,
    Outcome,
    Run,
    Skip,
    Verdict,
    strictness,
)
from hookwright.protocol.replies import Failed, Failure


def aggregate(
    event: Event, runs: Sequence[Run], skips: Sequence[Skip] = (), notes: Sequence[Diagnostic] = ()
) -> Outcome:
    """Combine verdicts; `runs` are in configuration order, whichever finished first.

    Laws (D1, requirements 18):
    1. deny and block beat defer, defer beats ask, ask beats allow, allow beats no opinion.
    2. all reasons of the winning decision are kept, in order; equal reasons of equal handlers stay separate.
    3. the turn ends if any verdict stops it; the first stop that has a reason gives the reason.
    4. where a stop beats a block, a stop lifts the block of the same firing.
    5. all contexts, plain texts and messages are kept, in order; where a block drops context, none is.
    6. the last rewrite of input or output wins; every candidate stays in its run.
    7. a verdict that decides nothing changes nothing: no failing sibling adds, removes or weakens a decision.
    """
    verdicts = [
        run.verdict for run in runs if run.verdict is not SILENT
    ]  # most hooks are silent, and law 7 says they change nothing
    if not verdicts:
        return Outcome(
            event=event.event_name,
            matched=matched_value(event),
            runs=tuple(runs),
            skips=tuple(skips),
            diagnostics=tuple(notes),
        )
    rules = event.rules
    stop = _stop(verdicts)
    decision, reasons = _decision(verdicts)
    if stop is not None and rules.stop_beats_block and isinstance(decision, Block):
        decision, reasons = NO_OPINION, ()
    dropped = rules.block_drops_context and isinstance(decision, Block)
    return Outcome(
        event=event.event_name,
        matched=matched_value(event),
        decision=decision,
        stop=stop,
        reasons=reasons,
        context=() if dropped else tuple([v.context for v in verdicts if v.context is not None]),
        plain=() if dropped else tuple([v.plain for v in verdicts if v.plain is not None]),
        system_messages=tuple([v.system_message for v in verdicts if v.system_message is not None]),
        updated_input=_last([v.updated_input for v in verdicts if v.updated_input is not None]),
        updated_output=_last([v.updated_output for v in verdicts if v.updated_output is not None]),
        fields=_fields(verdicts),
        runs=tuple(runs),
        skips=tuple(skips),
        diagnostics=(*notes, *_diagnostics(verdicts)),
    )


def in_shadow(run: Run) -> Run:
    """Return the run of a handler in shadow mode: what it would have decided is kept, and has no effect.

    Law: the outcome of a firing with such runs is that of the firing without them, apart from the list of runs. A guard
    that was trusted to fail closed and has changed still refuses, whatever its mode is now.
    """
    if isinstance(run.reply, Failed) and run.reply.why is Failure.GUARD:
        return run
    return msgspec.structs.replace(run, verdict=SILENT, would=run.verdict)


def _decision(verdicts: Sequence[Verdict]) -> tuple[Decision, tuple[str, ...]]:
    opinions = [verdict.decision for verdict in verdicts if not isinstance(verdict.decision, NoOpinion)]
    if not opinions:
        return NO_OPINION, ()
    strictest: Decision = max(opinions, key=strictness)
    same = [opinion for opinion in opinions if type(opinion) is type(strictest)]
    reasons = tuple([opinion.reason for opinion in same if opinion.reason])
    if isinstance(strictest, Deny):
        interrupt = any(isinstance(d, Deny) and d.interrupt for d in same)
        strictest = Deny("\n".join(reasons), interrupt)
    return strictest, reasons


def _stop(verdicts: Sequence[Verdict]) -> EndTurn | None:
    stops = [verdict.stop for verdict in verdicts if verdict.stop is not None]
    if not stops:
        return None
    return next((stop for stop in stops if stop.reason), stops[0])


def _last(values: Sequence[Json]) -> Json:
    return values[-1] if values else None


def _either(one: Json, other: Json) -> Json:
    return one or other


def _joined(one: Sequence[Json], other: Sequence[Json]) -> tuple[Json, ...]:
    return (*one, *(item for item in other if item not in one))


def _declining(one: Json, other: Json) -> Json:
    return one if one == "decline" else other


#: How the event's own fields combine; for any other field the last hook wins.
_FOLDS: Mapping[str, Callable[[Json, Json], Json]] = {
    "watch_paths": _joined,
    "updated_permissions": _joined,
    "reload_skills": _either,
    "suppress_original_prompt": _either,
    "retry": _either,
    "action": _declining,
}


def _fields(verdicts: Sequence[Verdict]) -> dict[str, Json]:
    combined: dict[str, Json] = {}
    for verdict in verdicts:
        for name, value in verdict.fields.items():
            fold = _FOLDS.get(name)
            combined[name] = fold(combined[name], value) if fold and name in combined else value
    return combined


def _diagnostics(verdicts: Sequence[Verdict]) -> tuple[Diagnostic, ...]:
    return tuple([diagnostic for verdict in verdicts for diagnostic in verdict.diagnostics])


# ── the last word on an input ───────────────────────────────────────────────


def guards(handler: Handler) -> bool:
    """Return whether a handler must have seen an input before it is used.

    Law: it must, unless it runs in the background or in shadow mode, or comes with the project and is not declared to
    fail closed.
    """
    if handler.shadow:
        return False
    return not handler.background and (not handler.source.from_project or handler.on_failure is OnFailure.BLOCK)


def has_word_on(run: Run, seen: Mapping[str, Json], final: Mapping[str, Json]) -> bool:
    """Return whether a run is about the final input: its handler saw that input, or wrote it."""
    return seen == final or run.verdict.updated_input == final


def second_word(run: Run, final: Mapping[str, Json], rewrote: bool) -> Run:
    """Return a run on an input that was rewritten, with what of its verdict still has an effect.

    Law: it may refuse, ask and end the turn; what it says to people and to the model was said the first time. If it
    rewrites the input again, the call is refused, since nothing would see that input. A handler that `rewrote` the
    input the first time lost to a later one, and its second rewrite is ignored.
    """
    verdict = run.verdict
    again = verdict.updated_input is not None and verdict.updated_input != final
    kept = Verdict(
        ending=verdict.ending,
        decision=verdict.decision,
        stop=verdict.stop,
        error=verdict.error,
        diagnostics=verdict.diagnostics,
    )
    if again and not rewrote and not isinstance(verdict.decision, Deny | Block):
        reason = f"[{run.handler.label}]: rewrote an input that another hook had rewritten; the call does not run"
        kept = msgspec.structs.replace(kept, ending=Ending.BLOCKING, decision=Deny(reason))
    return msgspec.structs.replace(run, verdict=kept)


def on_final_input(outcome: Outcome, answered: Sequence[Run]) -> Outcome:
    """Return an outcome whose allow is about the final input: one for the input before the rewrite is not an allow."""
    allowed = any(isinstance(run.verdict.decision, Allow) for run in answered)
    if allowed or not isinstance(outcome.decision, Allow):
        return outcome
    return msgspec.structs.replace(outcome, decision=NO_OPINION, reasons=())
