"""What came back from a handler, before it is interpreted."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec

from hookwright.protocol.jsontext import Json


class Exited(msgspec.Struct, frozen=True):
    """A process ended; `status` is its exit code, or 128+n when signal n ended it."""

    status: int
    stdout: bytes = b""
    stderr: bytes = b""
    signal: int | None = None
    #: Bytes that were printed and dropped, because the stream exceeded its memory limit.
    dropped: int = 0
    #: stdout and stderr as they arrived, for the stream of hook events; empty when nothing was printed.
    interleaved: bytes = b""
    #: What the hook author should know about the call: an empty variable, an omitted header.
    notes: tuple[str, ...] = ()
    #: Which file of the hook was not found because the working directory moved; empty if none was missed.
    lost: str = ""

    def with_lost(self, name: str, base: str, cwd: str) -> Exited:
        """Return the reply with the file that was not found in the working directory."""
        way_out = f'write "$CLAUDE_PROJECT_DIR/{name.removeprefix("./")}"'
        lost = f"names {name}, which is in {base} but not in {cwd}, where the session moved; {way_out}"
        return msgspec.structs.replace(self, lost=lost)


class Answered(msgspec.Struct, frozen=True):
    """A handler answered with the output object itself (HTTP body, callback)."""

    output: Mapping[str, Json]
    #: The HTTP status, for the record; None for other kinds.
    status: int | None = None
    notes: tuple[str, ...] = ()
    #: The HTTP body as it came, for the stream of hook events; empty for other kinds.
    body: str = ""


class Spent(msgspec.Struct, frozen=True):
    """The cost of asking a model."""

    model: str
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    #: The id of the verifying agent, if there was one.
    agent_id: str | None = None


class Judged(msgspec.Struct, frozen=True):
    """A model, a verifying agent or a function answered yes or no."""

    ok: bool
    reason: str | None = None
    impossible: bool = False
    #: `{decision, reason, continue, stopReason, systemMessage}` of the older answer form, if it was used.
    stop_reason: str | None = None
    system_message: str | None = None
    spent: Spent | None = None


class TimedOut(msgspec.Struct, frozen=True):
    """The handler was stopped at its time limit; its output up to then is ignored."""

    limit: float


class Failure(enum.Enum):
    """Why there is no reply to interpret."""

    LAUNCH = "could not be started"
    CONNECTION = "could not be reached"
    STATUS = "answered with an error status"
    ANSWER = "gave an unusable answer"
    MODEL = "model call failed"
    EXCEPTION = "raised an exception"
    UNSUPPORTED = "is not supported here"
    FORBIDDEN = "is not allowed"
    INTERRUPTED = "was interrupted"
    CHANGED = "changed since it was trusted"
    GUARD = "was trusted to fail closed and changed since"


class Failed(msgspec.Struct, frozen=True):
    """The handler could not be called, or broke during the call."""

    why: Failure
    message: str
    status: int | None = None
    spent: Spent | None = None
    notes: tuple[str, ...] = ()
    #: The HTTP body that could not be used, or the error of an MCP tool, for the stream of hook events.
    body: str = ""


class Backgrounded(msgspec.Struct, frozen=True):
    """The handler continues in the background; its later output belongs to a later turn."""

    id: str
    stdout: bytes = b""


class NoAnswer(msgspec.Struct, frozen=True):
    """A verifying agent ended without an answer: cancelled, without a decision."""

    message: str
    spent: Spent | None = None


Reply = Exited | Answered | Judged | TimedOut | Failed | Backgrounded | NoAnswer
