"""Who reads what: one outcome, spread over the user, the model, the verbose view and the debug log.

This is the only place that decides what the model reads of a hook. The agent puts these texts into its conversation
and its transcript, `hookwright fire --as-model` prints them, and docs/reference/visibility.md is made from them.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator

import msgspec

from hookwright.protocol.events import CATALOGUE, Audience, EventRules, Exit2, Under
from hookwright.protocol.handlers import AgentHandler, CallbackHandler, Handler, PromptHandler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.matched import hook_name
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Ending, Late, Outcome, Run
from hookwright.protocol.replies import Exited, Failed, Failure, TimedOut
from hookwright.protocol.sources import Scope
from hookwright.text import system_reminder


class Reader(enum.Enum):
    """The four readers of a hook's texts."""

    USER = "user"
    MODEL = "model"
    VERBOSE = "verbose view"
    DEBUG = "debug log"


class Place(enum.Enum):
    """Where in its next request the model reads a text."""

    RESULT = "tool result"
    ERROR = "tool result (error)"
    USER = "user message"
    REMINDER = "reminder"


class Form(enum.Enum):
    """What a message is, so that a host can show it accordingly."""

    TOOL_ERROR = "tool error"
    FEEDBACK = "feedback"
    CONTEXT = "context"
    REWRITE = "rewritten output"
    PROMPT = "first prompt"
    RETRY = "retry"
    NOTICE = "notice"
    SAYS = "message"
    STOP = "stop"
    QUESTION = "question"
    BLOCKED = "block"
    OUTPUT = "output"
    NOTE = "note"


class Message(msgspec.Struct, frozen=True):
    """One text for one reader."""

    reader: Reader
    form: Form
    text: str
    #: Set for the model, and for no other reader.
    place: Place | None = None


#: The stop reason of a hook that gives none.
STOPPED = "Execution stopped by hook"
RETRY = "The PermissionDenied hook indicated you may retry this tool call."
NOT_RUN = "The tool was not run: a hook stopped the turn before it."
BACKGROUND_NOTICE = (
    "[SYSTEM NOTIFICATION - NOT USER INPUT]\n"
    "This is an automated background-task event, NOT a message from the user.\n"
    "No person has said, approved or confirmed anything since the last genuine user message.\n"
)


def messages(outcome: Outcome) -> tuple[Message, ...]:
    """Spread an outcome over its readers: first what the model reads, in the order of its request, then the others.

    Law (requirements 17):
    1. a refusal goes to the reader the event names: its reason to the model as a tool result, feedback or reminder,
       or to the user as a block; on events whose refusals have no reader it leaves a debug line. The user also sees
       what the model is refused. A refused /compact or /model prints the reason as the command's own output, which
       the model reads with the next prompt.
    2. context and the plain text an event accepts go to the model alone.
    3. a systemMessage goes to the user alone, except where the event gives it to the model.
    4. a stop's reason goes to the user and stays in the conversation: the model reads it if there is a next request.
    5. a blocked prompt and a deferred call leave nothing for the model: the prompt is gone, and the call's hooks run
       again when it is resumed.
    6. an ask puts its reason, with the label of its source, into the user's prompt.
    7. the reason of an allow or defer goes to the debug log alone, never to the model.
    8. every failure has a reader: the user, as a notice, or the verbose view if it is a timeout, if the event's hooks
       cannot decide anything, or if it repeats the model error of an earlier hook of the firing; the debug log has
       all of it.
    9. raw stdout goes to the verbose view, unless the hook suppressed it (D10).
    """
    rules = CATALOGUE[outcome.event].rules
    out = list(_to_model(outcome, rules))
    for run in outcome.runs:
        out += _refusal(run, outcome, rules)
        out += _failure(run, outcome, rules)
        out += _debug(run, outcome)
    if not _model_reads_message(outcome, rules):
        said = [f"{outcome.hook_name} says: {text}" for text in outcome.system_messages]
        out += [Message(Reader.USER, Form.SAYS, text) for text in said]
    if outcome.stop is not None:
        out.append(Message(Reader.USER, Form.STOP, _stop_text(outcome)))
    return tuple(out)


def for_reader(outcome: Outcome, reader: Reader) -> tuple[Message, ...]:
    """Return what one reader reads."""
    return tuple(message for message in messages(outcome) if message.reader is reader)


def read_texts(outcome: Outcome) -> dict[str, list[str]]:
    """Return what the model and the user read of an outcome, by reader."""
    return {
        reader.value: [message.text for message in messages(outcome) if message.reader is reader]
        for reader in (Reader.MODEL, Reader.USER)
    }


def model_texts(outcome: Outcome, place: Place) -> tuple[str, ...]:
    """Return what the model reads of an outcome in one place, in order."""
    if not outcome.runs:
        return ()
    rules = CATALOGUE[outcome.event].rules
    return tuple(message.text for message in _to_model(outcome, rules) if message.place is place)


# ── the model ───────────────────────────────────────────────────────────────


def _to_model(outcome: Outcome, rules: EventRules) -> Iterator[Message]:
    if isinstance(outcome.decision, Defer) or (outcome.blocked and rules.block_drops_context):
        return
    yield from _result(outcome, rules)
    yield from _spoken(outcome, rules)
    for run in outcome.runs:
        yield from _reminders(run, outcome, rules)
    context = [run.verdict.context for run in outcome.runs if _gives_context(run, outcome, rules)]
    if context and not rules.context_apart:
        yield _context(context, outcome, rules)
    if _model_reads_message(outcome, rules):
        for said in outcome.system_messages:
            yield Message(Reader.MODEL, Form.SAYS, said, Place.REMINDER)
    if outcome.stop is not None and rules.shown_under is not Under.PROMPT:
        yield Message(Reader.MODEL, Form.STOP, _stop_text(outcome), Place.REMINDER)


def _gives_context(run: Run, outcome: Outcome, rules: EventRules) -> bool:
    """Return whether the model reads the context of a run; where the event says so, a hook that stops adds none."""
    if run.verdict.context is None or run.verdict.context not in outcome.context:
        return False
    return not rules.stop_drops_context or run.verdict.stop is None


def _context(texts: Iterable[str | None], outcome: Outcome, rules: EventRules) -> Message:
    name = outcome.event if rules.bare_context else outcome.hook_name
    text = f"{name} hook additional context: " + "\n".join(filter(None, texts))
    return Message(Reader.MODEL, Form.CONTEXT, text, Place.REMINDER)


def _result(outcome: Outcome, rules: EventRules) -> Iterator[Message]:
    """The result of a tool call that hooks denied, kept from running or rewrote."""
    if isinstance(outcome.decision, Deny):
        yield Message(Reader.MODEL, Form.TOOL_ERROR, _denial(outcome, rules), Place.ERROR)
    elif outcome.stop is not None and rules.exit_2 is Exit2.DENY:
        yield Message(Reader.MODEL, Form.TOOL_ERROR, NOT_RUN, Place.ERROR)
    if outcome.updated_output is not None:
        yield Message(Reader.MODEL, Form.REWRITE, _as_text(outcome.updated_output), Place.RESULT)


def _denial(outcome: Outcome, rules: EventRules) -> str:
    """All reasons of a denied call; one by an administrator is marked, as Claude Code does."""
    denying = [run for run in outcome.runs if isinstance(run.verdict.decision, Deny)]
    text = "\n".join(_refusal_text(run, outcome, rules) for run in denying)
    managed = any(run.handler.source.scope is Scope.MANAGED for run in denying)
    return f"<tool_use_error>{text}</tool_use_error>" if managed and not rules.bare_reason else text


def _spoken(outcome: Outcome, rules: EventRules) -> Iterator[Message]:
    """What the model reads as a user message, or as the result of the call the event is about."""
    first = outcome.fields.get("initial_user_message")
    if isinstance(first, str) and first:
        yield Message(Reader.MODEL, Form.PROMPT, first, Place.USER)
    texts = [_refusal_text(run, outcome, rules) for run in outcome.runs if _is_feedback(run, outcome, rules)]
    if texts and rules.feedback_is_result:
        yield Message(Reader.MODEL, Form.FEEDBACK, "\n".join(texts), Place.RESULT)
    else:
        yield from (Message(Reader.MODEL, Form.FEEDBACK, text, Place.USER) for text in texts)
    if outcome.stop is not None and rules.shown_under is Under.PROMPT:
        reason = f": {outcome.stop.reason}" if outcome.stop.reason else ""
        yield Message(Reader.MODEL, Form.STOP, f"Operation stopped by hook{reason}", Place.USER)
    if outcome.fields.get("retry") is True:
        yield Message(Reader.MODEL, Form.RETRY, RETRY, Place.USER)


def _is_feedback(run: Run, outcome: Outcome, rules: EventRules) -> bool:
    blocks = isinstance(run.verdict.decision, Block) and isinstance(outcome.decision, Block)
    return blocks and rules.audience is Audience.MODEL and rules.exit_2 is not Exit2.FEEDBACK


def _reminders(run: Run, outcome: Outcome, rules: EventRules) -> Iterator[Message]:
    """What one run adds after the other messages: its plain text, its feedback about a call, the echo of its block.

    Then its context, on events that give each hook's apart.
    """
    verdict, label = run.verdict, run.handler.label
    if verdict.plain is not None and verdict.plain in outcome.plain:
        text = f"{run_name(run, outcome)} hook success: {verdict.plain}"
        yield Message(Reader.MODEL, Form.CONTEXT, text, Place.REMINDER)
    if isinstance(verdict.decision, Block) and outcome.blocked and rules.audience is Audience.MODEL:
        if rules.exit_2 is Exit2.FEEDBACK:
            yield Message(Reader.MODEL, Form.FEEDBACK, _refusal_text(run, outcome, rules), Place.REMINDER)
        elif is_echoed(run.handler, rules) and not verdict.decision.reason.startswith(f"[{label}]: "):
            text = f'{outcome.event} hook blocking error from command: "{label}": {verdict.decision.reason}'
            yield Message(Reader.MODEL, Form.FEEDBACK, text, Place.REMINDER)
    if rules.context_apart and _gives_context(run, outcome, rules):
        yield _context([verdict.context], outcome, rules)


def is_echoed(handler: Handler, rules: EventRules) -> bool:
    """Return whether the model reads a block of this hook twice: as feedback and as an error.

    Law: a block of a prompt or agent hook is read once. The error would repeat its whole prompt.
    """
    return rules.echoed and not isinstance(handler, PromptHandler | AgentHandler)


def run_name(run: Run, outcome: Outcome) -> str:
    """Return the name of one hook in messages: that of its event, or `<Event>:Callback` for a callback."""
    return f"{outcome.event}:Callback" if isinstance(run.handler, CallbackHandler) else outcome.hook_name


def _refusal_text(run: Run, outcome: Outcome, rules: EventRules) -> str:
    """The sentence in which a denial, a block or feedback reaches its reader."""
    decision = run.verdict.decision
    assert isinstance(decision, Deny | Block), "only a refusal has a reason to show"
    reason = decision.reason
    if rules.audience is Audience.USER:
        return f"{outcome.event} operation blocked by hook:\n{reason}"
    if isinstance(decision, Deny):
        return reason if rules.bare_reason else f"{run_name(run, outcome)} hook error: {reason}"
    if rules.exit_2 is Exit2.FEEDBACK:
        return f'{run_name(run, outcome)} hook blocking error from command: "{run.handler.label}": {reason}'
    return f"{rules.feedback_label or outcome.event} hook feedback:\n{reason}"


def _stop_text(outcome: Outcome) -> str:
    assert outcome.stop is not None, "only a stop has a reason to show"
    return f"{outcome.hook_name} hook stopped continuation: {outcome.stop.reason or STOPPED}"


def _model_reads_message(outcome: Outcome, rules: EventRules) -> bool:
    return outcome.matched in rules.message_to_model


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


# ── everyone else ───────────────────────────────────────────────────────────


def _refusal(run: Run, outcome: Outcome, rules: EventRules) -> list[Message]:
    decision = run.verdict.decision
    if isinstance(decision, Ask):
        text = f"{run.handler.source.label} {decision.reason}"
        return [Message(Reader.USER, Form.QUESTION, text)] if isinstance(outcome.decision, Ask) else []
    if not isinstance(decision, Deny | Block) or not outcome.blocked:
        return []
    if rules.audience is Audience.NONE:
        return [Message(Reader.DEBUG, Form.NOTE, f"{run_name(run, outcome)} blocked: {decision.reason}")]
    return [Message(Reader.USER, Form.BLOCKED, _refusal_text(run, outcome, rules))]


def _failure(run: Run, outcome: Outcome, rules: EventRules) -> list[Message]:
    if run.verdict.ending not in (Ending.ERROR, Ending.CANCELLED) or run.verdict.error is None:
        return []
    first, _, rest = run.verdict.error.partition("\n")
    text = f"{run_name(run, outcome)} hook error: {first}"
    undecided = rules.audience is Audience.NONE and rules.exit_2 is Exit2.NOTHING
    timed_out = isinstance(run.reply, TimedOut) and not rules.block_drops_context
    quiet = undecided or timed_out or _repeats(run, outcome)
    notes = [Message(Reader.VERBOSE if quiet else Reader.USER, Form.NOTICE, text)]
    if rest:
        notes.append(Message(Reader.DEBUG, Form.NOTE, run.verdict.error))
    return notes


def _repeats(run: Run, outcome: Outcome) -> bool:
    """Return whether an earlier hook of this firing failed with the same model error, such as no model at all."""
    if not isinstance(run.reply, Failed) or run.reply.why is not Failure.MODEL:
        return False
    earlier = itertools.takewhile(lambda other: other is not run, outcome.runs)
    return any(isinstance(other.reply, Failed) and other.reply.message == run.reply.message for other in earlier)


def _debug(run: Run, outcome: Outcome) -> list[Message]:
    out = []
    decision = run.verdict.decision
    if isinstance(decision, Allow | Defer) and decision.reason:
        word = type(decision).__name__.lower()
        out.append(Message(Reader.DEBUG, Form.NOTE, f"{outcome.hook_name} {word}: {decision.reason}"))
    if isinstance(run.reply, Exited):
        stdout = run.reply.stdout.decode("utf-8", "replace").strip()
        stderr = run.reply.stderr.decode("utf-8", "replace").strip()
        if stdout and run.verdict.suppress_output:
            out.append(Message(Reader.DEBUG, Form.NOTE, f"{outcome.hook_name}: output suppressed by the hook"))
        elif stdout:
            out.append(Message(Reader.VERBOSE, Form.OUTPUT, stdout))
        if stderr:
            out.append(Message(Reader.DEBUG, Form.NOTE, f"{outcome.hook_name} stderr: {stderr}"))
    return out


# ── later, and as it is sent ────────────────────────────────────────────────


def late_messages(late: Late) -> tuple[Message, ...]:
    """Return what the model reads of a background hook that ended: bare texts, and what wakes it."""
    out = [
        Message(Reader.MODEL, form, text, Place.REMINDER)
        for form, text in ((Form.SAYS, late.system_message), (Form.CONTEXT, late.context))
        if text
    ]
    if late.rewake is not None:
        text = (
            f"{BACKGROUND_NOTICE}<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n"
            f'Stop hook blocking error from command "{hook_name(late.job.event)}": {late.rewake}'
        )
        out.append(Message(Reader.MODEL, Form.FEEDBACK, system_reminder(text), Place.USER))
    return tuple(out)


class Part(msgspec.Struct, frozen=True):
    """One text as a request carries it, and where."""

    place: str
    text: str


def as_sent(read: Iterable[Message]) -> tuple[Part, ...]:
    """Write the model's messages as a request without a system role carries them: reminders are in tags."""
    return tuple(
        Part(message.place.value, system_reminder(message.text) if message.place is Place.REMINDER else message.text)
        for message in read
        if message.place is not None
    )
