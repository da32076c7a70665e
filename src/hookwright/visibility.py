"""Who sees what: the same outcome read by the user, the model, the verbose view and the debug log."""

from __future__ import annotations

import enum

import msgspec

from hookwright.protocol.events import CATALOGUE, Audience, EventRules, Exit2
from hookwright.protocol.outcome import Allow, Ask, Block, Defer, Deny, Ending, Outcome, Run
from hookwright.protocol.replies import Exited, TimedOut


class Reader(enum.Enum):
    """The four readers of a hook's words."""

    USER = "user"
    MODEL = "model"
    VERBOSE = "verbose view"
    DEBUG = "debug log"


class Form(enum.Enum):
    """What a message is, so that a host can put it in its place."""

    TOOL_ERROR = "tool error"
    FEEDBACK = "feedback"
    CONTEXT = "context"
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


def messages(outcome: Outcome) -> tuple[Message, ...]:
    """Spread an outcome over its readers, in configuration order.

    Law (requirements 17):
    1. a refusal goes to the reader that the event names: its reason to the model as tool error or feedback, or to the
       user as a block; an event whose refusals nobody reads leaves a debug line.
    2. context and plain text that the event takes go to the model alone.
    3. a message of a hook goes to the user alone; so does the reason of a stop, which also stays in the conversation.
    4. an ask puts its reason, with the label of its source, into the user's prompt.
    5. the reason of an allow or defer goes to the debug log alone, never to the model.
    6. every failure is seen: as a notice by the user; in the verbose view if it is a timeout or if nobody waits for
       what the event's hooks say; all of it in the debug log.
    7. raw stdout goes to the verbose view, unless the hook suppressed it (D10).
    """
    rules = CATALOGUE[outcome.event].rules
    out: list[Message] = []
    for run in outcome.runs:
        out += _refusal(run, outcome, rules)
        out += _failure(run, outcome)
        out += _debug(run, outcome)
    out += _context(outcome)
    out += [Message(Reader.USER, Form.SAYS, f"{outcome.hook_name} says: {text}") for text in outcome.system_messages]
    if outcome.stop is not None:
        text = f"{outcome.hook_name} hook stopped continuation: {outcome.stop.reason or 'no reason given'}"
        out.append(Message(Reader.USER, Form.STOP, text))
    return tuple(out)


def for_reader(outcome: Outcome, reader: Reader) -> tuple[Message, ...]:
    """Keep what one reader sees."""
    return tuple(message for message in messages(outcome) if message.reader is reader)


def _refusal(run: Run, outcome: Outcome, rules: EventRules) -> list[Message]:
    decision = run.verdict.decision
    if isinstance(decision, Ask):
        text = f"{run.handler.source.label} {decision.reason}"
        return [Message(Reader.USER, Form.QUESTION, text)] if isinstance(outcome.decision, Ask) else []
    if not isinstance(decision, Deny | Block) or not outcome.blocked:
        return []
    name, reason = outcome.hook_name, decision.reason
    if rules.audience is Audience.NOBODY:
        return [Message(Reader.DEBUG, Form.NOTE, f"{name} blocked: {reason}")]
    if rules.audience is Audience.USER:
        return [Message(Reader.USER, Form.BLOCKED, f"{outcome.event} operation blocked by hook:\n{reason}")]
    if isinstance(decision, Deny):
        text = reason if rules.bare_reason else f"{name} hook error: {reason}"
        return [Message(Reader.MODEL, Form.TOOL_ERROR, text), Message(Reader.USER, Form.BLOCKED, text)]
    if rules.exit_2 is Exit2.FEEDBACK:
        text = f'{name} hook blocking error from command: "{run.handler.label}": {reason}'
    else:
        text = f"{rules.feedback_label or outcome.event} hook feedback:\n{reason}"
    return [Message(Reader.MODEL, Form.FEEDBACK, text), Message(Reader.USER, Form.BLOCKED, text)]


def _failure(run: Run, outcome: Outcome) -> list[Message]:
    if run.verdict.ending not in (Ending.ERROR, Ending.CANCELLED) or run.verdict.error is None:
        return []
    first, _, rest = run.verdict.error.partition("\n")
    text = f"{outcome.hook_name} hook error: {first}"
    rules = CATALOGUE[outcome.event].rules
    unheard = rules.audience is Audience.NOBODY and rules.exit_2 is Exit2.NOTHING
    quiet = unheard or (isinstance(run.reply, TimedOut) and not rules.block_drops_context)
    notes = [Message(Reader.VERBOSE if quiet else Reader.USER, Form.NOTICE, text)]
    if rest:
        notes.append(Message(Reader.DEBUG, Form.NOTE, run.verdict.error))
    return notes


def _context(outcome: Outcome) -> list[Message]:
    name = outcome.event if CATALOGUE[outcome.event].rules.bare_context else outcome.hook_name
    out = []
    if outcome.context:
        text = f"{name} hook additional context: " + "\n".join(outcome.context)
        out.append(Message(Reader.MODEL, Form.CONTEXT, text))
    out += [Message(Reader.MODEL, Form.CONTEXT, f"{outcome.hook_name} hook success: {text}") for text in outcome.plain]
    return out


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
