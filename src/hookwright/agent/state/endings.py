"""How a prompt can end, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import msgspec

from hookwright.models.prices import total_usd
from hookwright.models.types import Usage
from hookwright.protocol.jsontext import Json
from hookwright.visibility import STOPPED

#: The start of what `/compact` answers when it compacted.
COMPACTED = "Compacted"


class Finished(msgspec.Struct, frozen=True):
    """The model finished, and no hook objected or had objected too often."""

    text: str
    #: Whether a hook objected too often, so that its words are the last of the turn.
    overridden: bool = False


class TurnAnswered(msgspec.Struct, frozen=True):
    """A command ran without the model."""

    text: str
    #: Its name, without the slash.
    command: str = ""

    @property
    def compacted(self) -> bool:
        """Whether the command compacted the conversation, so that the text is about that and not an answer."""
        return self.command == "compact" and self.text.startswith(COMPACTED)


class TurnRefused(msgspec.Struct, frozen=True):
    """A hook kept the prompt from the model."""

    text: str


class HookStopped(msgspec.Struct, frozen=True):
    """A hook ended the turn."""

    reason: str | None = None


class StopPrevented(msgspec.Struct, frozen=True):
    """A stop hook ended the turn for good."""

    text: str
    reason: str | None = None


class Deferred(msgspec.Struct, frozen=True):
    """A hook deferred a call until the session is resumed."""

    call: Mapping[str, Json]


class Interrupted(msgspec.Struct, frozen=True):
    """The user, the host or a hook's denial interrupted the turn."""

    reason: str = "interrupted"
    #: The ending in one word, by what was running: `aborted_tools` or `aborted_streaming`.
    word: str = "aborted_tools"


class OutOfTurns(msgspec.Struct, frozen=True):
    """The limit of model turns was reached."""

    limit: int


class OutOfBudget(msgspec.Struct, frozen=True):
    """The session has cost as much as it may."""

    limit: float


class SchemaUnmet(msgspec.Struct, frozen=True):
    """The model gave no value for the schema of the options, however often it was reminded."""

    reminders: int


class ApiFailed(msgspec.Struct, frozen=True):
    """The model could not be asked."""

    kind: str
    text: str
    #: The HTTP status, if the API answered with one.
    status: int | None = None


TurnEnd = (
    Finished
    | TurnAnswered
    | TurnRefused
    | HookStopped
    | StopPrevented
    | Deferred
    | Interrupted
    | OutOfTurns
    | OutOfBudget
    | SchemaUnmet
    | ApiFailed
)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one prompt, complete however the prompt ended."""

    ending: TurnEnd
    session_id: str
    #: Model answers of this prompt.
    turns: int = 0
    #: Tool calls of this prompt.
    tool_calls: int = 0
    #: Seconds in total, and in model calls.
    duration: float = 0.0
    api_duration: float = 0.0
    usage: Usage = Usage()
    #: What the whole session has used so far, by model.
    model_usage: Mapping[str, Usage] = msgspec.field(default_factory=dict)
    #: What it has cost so far by model, in US dollars; None where the price is not known.
    model_costs: Mapping[str, float | None] = msgspec.field(default_factory=dict)
    #: The value the model gave for the schema of the options; None if there is none.
    structured: Json = None
    #: The conversation so far, as the model reads it.
    messages: tuple[Mapping[str, Json], ...] = ()
    denials: tuple[Mapping[str, Json], ...] = ()
    #: The last text as hooks display it; None where that is the text itself.
    displayed: str | None = None

    @property
    def cost(self) -> float | None:
        """What the whole session has cost so far, in US dollars; None if the price of a model is not known."""
        return total_usd(self.model_costs.values())

    @property
    def success(self) -> bool:
        """Whether the agent finished by itself."""
        return isinstance(self.ending, Finished | TurnAnswered)

    @property
    def stop_reason(self) -> str | None:
        """Why a hook, a limit or an error ended the prompt; None if none did."""
        match self.ending:
            case Finished() | TurnAnswered():
                return None
            case HookStopped(reason=reason) | StopPrevented(reason=reason):
                return reason or STOPPED
            case TurnRefused(text=text) | ApiFailed(text=text):
                return text
            case Deferred(call=call):
                return f"a hook deferred {call['name']}"
            case Interrupted(reason=reason):
                return reason
            case OutOfTurns(limit=limit):
                return f"Reached maximum number of turns ({limit})"
            case OutOfBudget(limit=limit):
                return f"Reached maximum budget (${limit:g})"
            case SchemaUnmet(reminders=reminders):
                return f"No structured output after {reminders} reminders"
        assert_never(self.ending)

    @property
    def text(self) -> str:
        """The answer as the user reads it."""
        match self.ending:
            case Finished(text=text) | StopPrevented(text=text):
                return self.displayed if self.displayed is not None else text
            case TurnAnswered(text=text) | TurnRefused(text=text) | ApiFailed(text=text):
                return text
            case HookStopped() | Deferred() | Interrupted() | OutOfTurns() | OutOfBudget() | SchemaUnmet():
                return ""
        assert_never(self.ending)

    @property
    def terminal_reason(self) -> str:
        """The ending in one word, as in the result line."""
        return self.ending.word if isinstance(self.ending, Interrupted) else _WORDS[type(self.ending)]

    @property
    def is_error(self) -> bool:
        """Whether a headless run exits with a status other than 0."""
        return isinstance(self.ending, ApiFailed | Interrupted | OutOfTurns | OutOfBudget | SchemaUnmet)


_WORDS: dict[type[Any], str] = {
    Finished: "completed",
    TurnAnswered: "completed",
    TurnRefused: "prompt_blocked",
    HookStopped: "hook_stopped",
    StopPrevented: "stop_hook_prevented",
    Deferred: "tool_deferred",
    OutOfTurns: "max_turns",
    OutOfBudget: "max_budget_usd",
    SchemaUnmet: "max_structured_output_retries",
    ApiFailed: "api_error",
}
