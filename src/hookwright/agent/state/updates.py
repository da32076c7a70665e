"""Updates an agent sends while it works, for a screen, a stream or a program: small frozen values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from hookwright.agent.state.endings import Result
from hookwright.models.types import Retrying
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Late


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A session starts, or starts over after a clear."""

    session_id: str
    cwd: str
    model: str
    permission_mode: str
    tools: tuple[str, ...]
    mcp_servers: tuple[tuple[str, str], ...] = ()
    agents: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()


class TurnBegan(msgspec.Struct, frozen=True):
    """A turn starts: a prompt, a notice about background work or a hook's wake-up."""

    #: The session as it is now.
    session: Opened


class Typed(msgspec.Struct, frozen=True):
    """Some more of the model's text, as it arrives."""

    text: str
    parent_tool_use_id: str | None = None


class CallTyped(msgspec.Struct, frozen=True):
    """Some more of a tool call, as it arrives; the first piece is empty."""

    id: str
    name: str
    partial_json: str = ""
    parent_tool_use_id: str | None = None


class Said(msgspec.Struct, frozen=True):
    """The model's message is complete; `shown` is its text as hooks display it."""

    message: Mapping[str, Json]
    shown: str
    parent_tool_use_id: str | None = None
    #: The uuids of its lines on disk, one per block.
    uuids: tuple[str, ...] = ()
    #: Where the agent works, for paths in its calls.
    cwd: str = ""


class ToolEnded(msgspec.Struct, frozen=True):
    """A tool call has its result."""

    name: str
    block: Mapping[str, Json]
    response: Json = None
    parent_tool_use_id: str | None = None
    #: The uuid of its line on disk.
    uuid: str | None = None
    #: Instructions the model reads after the result, such as the text of a skill.
    instructions: str = ""


class CallDenied(msgspec.Struct, frozen=True, kw_only=True):
    """A rule, the mode, a hook's answer to a permission request or the classifier refused a call."""

    tool_name: str
    tool_use_id: str
    #: What refused: `rule`, `mode`, `hook`, `classifier` or `other`.
    by: str
    message: str
    agent_id: str | None = None


class TaskStarted(msgspec.Struct, frozen=True, kw_only=True):
    """A subagent, or a command in the background, starts."""

    task_id: str
    tool_use_id: str
    description: str
    #: `local_agent` or `local_bash`.
    task_type: str
    in_background: bool
    agent_type: str | None = None
    prompt: str | None = None


class TaskEnded(msgspec.Struct, frozen=True, kw_only=True):
    """A subagent, or a command in the background, ended."""

    task_id: str
    tool_use_id: str
    #: completed, failed or stopped.
    status: str
    summary: str
    output_file: str = ""
    #: Tokens, tool calls and milliseconds of a subagent.
    usage: Mapping[str, int] | None = None


class Compacting(msgspec.Struct, frozen=True):
    """The conversation is being compacted."""


class CompactionEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation was compacted, or stays as it is because of an `error`."""

    trigger: str
    pre_tokens: int = 0
    #: The first message of the new conversation.
    summary: str = ""
    error: str | None = None


class Added(msgspec.Struct, frozen=True):
    """A text not written by a person entered the conversation: a hook's context or feedback, a reminder."""

    text: str
    #: The hook that added it, as messages name it; empty for the agent's own reminders.
    hook_name: str = ""
    parent_tool_use_id: str | None = None


class Note(msgspec.Struct, frozen=True):
    """A line for the user: a hook's message, why something was blocked, what failed."""

    text: str
    level: str = "info"
    tag: str | None = None
    #: The hook it is about; empty for other notes.
    about: str = ""


class Diagnosed(msgspec.Struct, frozen=True):
    """A finding about the configuration, a rule or a hook's file."""

    diagnostic: Diagnostic


class HookEnded(msgspec.Struct, frozen=True):
    """A hook that ran in the background ended."""

    late: Late


class Titled(msgspec.Struct, frozen=True):
    """The session has a new title."""

    title: str


class ModeChanged(msgspec.Struct, frozen=True):
    """The permission mode changed."""

    mode: str


class Ended(msgspec.Struct, frozen=True):
    """A prompt is finished."""

    result: Result


class Retried(msgspec.Struct, frozen=True):
    """A request to the model failed and is sent again after a pause."""

    retry: Retrying


#: What only a machine-readable stream reports; a screen has shown it already.
StreamOnly = TurnBegan | CallTyped | CallDenied | TaskStarted | TaskEnded | Compacting | CompactionEnded
Update = (
    Opened
    | Typed
    | Said
    | ToolEnded
    | Added
    | Note
    | Diagnosed
    | HookEnded
    | Titled
    | ModeChanged
    | Retried
    | Ended
    | StreamOnly
)

#: An exception in a listener is the host's mistake and raises out of the agent.
Listener = Callable[[Update], None]
