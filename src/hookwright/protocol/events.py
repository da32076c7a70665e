"""The catalogue: one frozen class per event, with its rules next to its fields.

A field's name is its wire name. The order of the fields is the order in the payload.
"""

from __future__ import annotations

import enum
from typing import ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from hookwright.protocol.handlers import Kind
from hookwright.protocol.jsontext import Json


class Exit2(enum.Enum):
    """What exit status 2 does."""

    DENY = "denies the call"
    BLOCK = "blocks"
    FEEDBACK = "gives stderr to the model; nothing is undone"
    STOP = "ends the turn"
    FAIL = "fails, as every other non-zero status does"
    NOTHING = "changes nothing"


class Plain(enum.Enum):
    """What plain stdout at exit 0 becomes."""

    CONTEXT = "context for the model"
    PATH = "the path of the new worktree"
    DROPPED = "nothing; the verbose view shows it"


class Refusal(enum.Enum):
    """What a prompt hook's `ok: false` does."""

    DENY_AND_STOP = "denies the call and ends the turn"
    STOP = "ends the turn"
    BLOCK = "feeds the reason back"
    DENY = "denies the request"
    NOTHING = "changes nothing"


class Audience(enum.Enum):
    """Who reads the reason of a block."""

    MODEL = "model"
    USER = "user"
    NONE = "none"


class Under(enum.Enum):
    """What a host shows the hooks of an event under."""

    CALL = "the tool call"
    PROMPT = "the prompt"
    TURN = "the turn"


class Streamed(enum.Enum):
    """What a message stream reports of a hook run, for a caller that asked for hook events."""

    ALWAYS = "start and end, asked for or not"
    BOTH = "start and end"
    NOTHING = "nothing"


class TargetForm(enum.Enum):
    """How the target field becomes the value a matcher is compared with."""

    PLAIN = "as it is"
    BASENAME = "file name"
    MODEL = "canonical model name"


class Shape(enum.Enum):
    """The type of an output field."""

    STRING = "string"
    BOOLEAN = "boolean"
    NUMBER = "number"
    OBJECT = "object"
    STRINGS = "array of strings"
    ANY = "any value"
    PERMISSION = "allow | deny | ask | defer"
    MODEL_PERMISSION = "allow | deny | ask"
    REQUEST_DECISION = "{behavior: allow | deny, …}"
    ACTION = "accept | decline | cancel"

    __hash__ = object.__hash__  # as for Kind: the hash of Enum is slow Python code


CONTEXT = {"additional_context": Shape.STRING}
WITH_MODEL = frozenset({Kind.PROMPT, Kind.AGENT})
NO_MODEL: frozenset[Kind] = frozenset()
BLOCK_ONLY = frozenset({"block"})


class EventRules(msgspec.Struct, frozen=True, kw_only=True):
    """What an event allows, as data; code reads these rules and never the name of an event."""

    when: str
    #: The first Claude Code version with this event; older than 2.0.43 where it is None.
    since: tuple[int, int, int] | None = None
    target: str | None = None
    target_form: TargetForm = TargetForm.PLAIN
    #: Known values of the target, for warnings only: there may be others.
    values: tuple[str, ...] = ()
    #: Only letters, digits, `_` and `|` make a list of exact names, and only `|` separates them.
    narrow: bool = False
    model_kinds: frozenset[Kind] = NO_MODEL
    #: Kinds that are skipped without an error.
    skipped_kinds: frozenset[Kind] = frozenset()
    timeout: float = 600.0
    #: The environment variable that sets another default time limit, in milliseconds.
    timeout_variable: str = ""
    exit_2: Exit2 = Exit2.NOTHING
    #: Target values for which a block has no effect.
    unblockable: frozenset[str] = frozenset()
    audience: Audience = Audience.NONE
    #: The model reads the reason of a denial without the hook's name in front of it.
    bare_reason: bool = False
    #: Context carries the bare event name although the event has a matcher.
    bare_context: bool = False
    #: Each hook's context is a text of its own, after what else this hook said; elsewhere all of it is one text.
    context_apart: bool = False
    #: The name in `<label> hook feedback:`; the event's own where it is empty.
    feedback_label: str = ""
    #: Feedback is the result of the tool call that caused the event.
    feedback_is_result: bool = False
    #: Values of the target for which a `systemMessage` goes to the model instead of the user.
    message_to_model: frozenset[str] = frozenset()
    plain: Plain = Plain.DROPPED
    #: Top-level `decision` values that have an effect.
    decisions: frozenset[str] = frozenset()
    #: Fields of the event's own output object with their types; `discarded` ones are validated, then dropped.
    output: dict[str, Shape] = msgspec.field(default_factory=dict)
    discarded: frozenset[str] = frozenset()
    #: Required fields of the event's own output object.
    required: frozenset[str] = frozenset()
    #: `continue: false` ends the turn. With `stop_needs`, only when the event has that field.
    stops: bool = False
    stop_needs: str | None = None
    #: `continue: false` lifts a block of the same firing.
    stop_beats_block: bool = False
    system_message: bool = True
    refusal: Refusal = Refusal.NOTHING
    #: The permission decision of this event is the host's permission answer.
    permission: bool = False
    condition: bool = False
    env_file: bool = False
    on_failure: bool = False
    timeout_blocks: bool = False
    callback_timeout_blocks: bool = False
    #: Exit 2 with empty stdout and "No such file" on stderr is an error, not a block.
    missing_file_is_error: bool = False
    #: The same, for hooks of plugins alone.
    missing_plugin_file_is_error: bool = False
    block_drops_context: bool = False
    #: A hook that ends the turn adds no context.
    stop_drops_context: bool = False
    #: A model's answer that the condition is impossible lets the agent stop.
    impossible_lifts: bool = False
    #: The agent is about to stop: prompt hooks read its conversation, and function hooks may run.
    ends_turn: bool = False
    #: Fields of the event's own output object only have an effect at exit 0.
    fields_at_exit_0: bool = False
    managed_last: bool = False
    #: The host does not wait for these hooks.
    fire_and_forget: bool = False
    #: The payload carries the model's effort level during a turn.
    effort: bool = False
    #: The model also reads a blocking error next to the feedback, unless it is the bare stderr of exit 2.
    echoed: bool = False
    shown_under: Under = Under.TURN
    streamed: Streamed = Streamed.BOTH
    #: What a block did, in words for the user.
    block_effect: str = "blocked"
    #: The first event of a tool call: a session gives the call a new id if its host names none.
    opens_call: bool = False
    #: The event that hooks in an agent's frontmatter get instead; empty where it is the same.
    in_agent: str = ""


#: The fields of an event that are not keys of its payload.
UNSENT = frozenset({"extra", "also"})


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """A moment with its payload; these fields come first in every payload."""

    #: The wire name, which is the name of the class.
    event_name: ClassVar[str]
    rules: ClassVar[EventRules]

    session_id: str
    transcript_path: str
    cwd: str
    prompt_id: str | UnsetType = UNSET
    agent_id: str | UnsetType = UNSET
    agent_type: str | UnsetType = UNSET
    effort: dict[str, str] | UnsetType = UNSET
    #: Fields the catalogue does not know, passed on unchanged.
    extra: dict[str, Json] = msgspec.field(default_factory=dict)
    #: Other names of the event's target that matchers match, as the native name of a tool; hooks do not read them.
    also: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.event_name = cls.__name__


class ModeEvent(Event, frozen=True, kw_only=True):
    """An event that also carries the permission mode."""

    permission_mode: str | UnsetType = UNSET


McpServer = dict[str, str]


class SessionStart(Event, frozen=True, kw_only=True):
    """A session begins, resumes, is cleared, was compacted or forked."""

    rules: ClassVar[EventRules] = EventRules(
        when="a session begins, resumes, is cleared, was compacted or forked",
        bare_context=True,
        target="source",
        values=("startup", "resume", "clear", "compact", "fork"),
        skipped_kinds=frozenset({Kind.HTTP}),
        audience=Audience.USER,
        plain=Plain.CONTEXT,
        output={
            **CONTEXT,
            "initial_user_message": Shape.STRING,
            "session_title": Shape.STRING,
            "watch_paths": Shape.STRINGS,
            "reload_skills": Shape.BOOLEAN,
        },
        env_file=True,
        streamed=Streamed.ALWAYS,
    )
    source: str
    model: str | UnsetType = UNSET
    session_title: str | UnsetType = UNSET
    seconds_since_last_response: float | UnsetType = UNSET
    context_tokens: int | UnsetType = UNSET
    prompt_cache_likely_expired: bool | UnsetType = UNSET
    estimated_cache_write_usd: float | UnsetType = UNSET


class Setup(Event, frozen=True, kw_only=True):
    """The session was started for setup or maintenance."""

    rules: ClassVar[EventRules] = EventRules(
        when="`--init`, `--init-only` or `--maintenance` was given",
        since=(2, 1, 10),
        target="trigger",
        values=("init", "maintenance"),
        skipped_kinds=frozenset({Kind.HTTP, Kind.MCP_TOOL}),
        output=CONTEXT,
        discarded=frozenset(CONTEXT),
        system_message=False,
        env_file=True,
        streamed=Streamed.ALWAYS,
    )
    trigger: str


class InstructionsLoaded(Event, frozen=True, kw_only=True):
    """An instructions file enters the context."""

    rules: ClassVar[EventRules] = EventRules(
        when="a CLAUDE.md or rules file enters the context",
        since=(2, 1, 69),
        target="load_reason",
        values=("session_start", "nested_traversal", "path_glob_match", "include", "compact"),
        system_message=False,
        fire_and_forget=True,
        effort=True,
        streamed=Streamed.NOTHING,
    )
    file_path: str
    memory_type: str
    load_reason: str
    globs: list[str] | UnsetType = UNSET
    trigger_file_path: str | UnsetType = UNSET
    parent_file_path: str | UnsetType = UNSET


class UserPromptSubmit(ModeEvent, frozen=True, kw_only=True):
    """A prompt was submitted, before the model sees it."""

    rules: ClassVar[EventRules] = EventRules(
        when="a prompt was submitted, before the model sees it",
        model_kinds=WITH_MODEL,
        timeout=30.0,
        context_apart=True,
        exit_2=Exit2.BLOCK,
        audience=Audience.USER,
        plain=Plain.CONTEXT,
        decisions=BLOCK_ONLY,
        output={**CONTEXT, "session_title": Shape.STRING, "suppress_original_prompt": Shape.BOOLEAN},
        stops=True,
        refusal=Refusal.STOP,
        on_failure=True,
        callback_timeout_blocks=True,
        missing_plugin_file_is_error=True,
        block_drops_context=True,
        shown_under=Under.PROMPT,
    )
    prompt: str
    session_title: str | UnsetType = UNSET


class UserPromptExpansion(ModeEvent, frozen=True, kw_only=True):
    """A typed command expands to a prompt."""

    rules: ClassVar[EventRules] = EventRules(
        when="a typed `/command` expands to a prompt",
        bare_context=True,
        target="command_name",
        model_kinds=WITH_MODEL,
        context_apart=True,
        exit_2=Exit2.BLOCK,
        audience=Audience.USER,
        plain=Plain.CONTEXT,
        decisions=BLOCK_ONLY,
        output=CONTEXT,
        stops=True,
        refusal=Refusal.STOP,
        on_failure=True,
        callback_timeout_blocks=True,
        block_drops_context=True,
        shown_under=Under.PROMPT,
    )
    expansion_type: str
    command_name: str
    command_args: str
    command_source: str | UnsetType = UNSET
    prompt: str


class MessageDisplay(Event, frozen=True, kw_only=True):
    """Assistant text is about to be shown."""

    rules: ClassVar[EventRules] = EventRules(
        when="assistant text is about to be shown",
        since=(2, 1, 152),
        timeout=10.0,
        output={"display_content": Shape.STRING},
        system_message=False,
    )
    turn_id: str | UnsetType = UNSET
    message_id: str | UnsetType = UNSET
    index: int
    final: bool
    delta: str


class PreToolUse(ModeEvent, frozen=True, kw_only=True):
    """A tool call has its parameters and has not run."""

    rules: ClassVar[EventRules] = EventRules(
        when="a tool call has its parameters and has not run",
        target="tool_name",
        model_kinds=WITH_MODEL,
        exit_2=Exit2.DENY,
        audience=Audience.MODEL,
        decisions=frozenset({"approve", "block"}),
        output={
            "permission_decision": Shape.PERMISSION,
            "permission_decision_reason": Shape.STRING,
            "updated_input": Shape.OBJECT,
            **CONTEXT,
        },
        stops=True,
        refusal=Refusal.DENY_AND_STOP,
        permission=True,
        condition=True,
        on_failure=True,
        callback_timeout_blocks=True,
        effort=True,
        shown_under=Under.CALL,
        opens_call=True,
    )
    tool_name: str
    tool_input: dict[str, Json]
    tool_use_id: str
    mcp_server: McpServer | UnsetType = UNSET


class PermissionRequest(ModeEvent, frozen=True, kw_only=True):
    """A permission dialog is about to appear, or a call is about to be denied because no user is present."""

    rules: ClassVar[EventRules] = EventRules(
        when="a permission dialog is about to appear",
        since=(2, 0, 45),
        bare_reason=True,
        target="tool_name",
        model_kinds=frozenset({Kind.PROMPT}),
        exit_2=Exit2.DENY,
        audience=Audience.MODEL,
        decisions=BLOCK_ONLY,
        output={"decision": Shape.REQUEST_DECISION},
        required=frozenset({"decision"}),
        refusal=Refusal.DENY,
        permission=True,
        condition=True,
        on_failure=True,
        effort=True,
        shown_under=Under.CALL,
    )
    tool_name: str
    tool_input: dict[str, Json]
    permission_suggestions: list[dict[str, Json]] | UnsetType = UNSET
    mcp_server: McpServer | UnsetType = UNSET


class PermissionDenied(ModeEvent, frozen=True, kw_only=True):
    """Auto mode denied a call."""

    rules: ClassVar[EventRules] = EventRules(
        when="auto mode denied a call",
        since=(2, 1, 89),
        target="tool_name",
        model_kinds=WITH_MODEL,
        output={"retry": Shape.BOOLEAN},
        condition=True,
        effort=True,
        shown_under=Under.CALL,
    )
    tool_name: str
    tool_input: dict[str, Json]
    tool_use_id: str
    reason: str
    mcp_server: McpServer | UnsetType = UNSET


class PostToolUse(ModeEvent, frozen=True, kw_only=True):
    """A tool call succeeded."""

    rules: ClassVar[EventRules] = EventRules(
        when="a tool call succeeded",
        target="tool_name",
        model_kinds=WITH_MODEL,
        context_apart=True,
        exit_2=Exit2.FEEDBACK,
        audience=Audience.MODEL,
        decisions=BLOCK_ONLY,
        output={
            **CONTEXT,
            "updated_tool_output": Shape.ANY,
            "updated_mcp_tool_output": Shape.ANY,
            "classifier_context": Shape.STRING,
        },
        stops=True,
        stop_drops_context=True,
        refusal=Refusal.STOP,
        condition=True,
        on_failure=True,
        managed_last=True,
        effort=True,
        shown_under=Under.CALL,
        block_effect="gave feedback",
    )
    tool_name: str
    tool_input: dict[str, Json]
    tool_response: Json
    tool_use_id: str
    duration_ms: float | UnsetType = UNSET
    mcp_server: McpServer | UnsetType = UNSET


class PostToolUseFailure(ModeEvent, frozen=True, kw_only=True):
    """A started tool call failed."""

    rules: ClassVar[EventRules] = EventRules(
        when="a started tool call failed",
        target="tool_name",
        model_kinds=WITH_MODEL,
        context_apart=True,
        exit_2=Exit2.FEEDBACK,
        audience=Audience.MODEL,
        decisions=BLOCK_ONLY,
        output=CONTEXT,
        refusal=Refusal.BLOCK,
        condition=True,
        on_failure=True,
        effort=True,
        shown_under=Under.CALL,
        block_effect="gave feedback",
    )
    tool_name: str
    tool_input: dict[str, Json]
    tool_use_id: str
    error: str
    is_interrupt: bool | UnsetType = UNSET
    duration_ms: float | UnsetType = UNSET
    mcp_server: McpServer | UnsetType = UNSET


class PostToolBatch(ModeEvent, frozen=True, kw_only=True):
    """Every call of a turn is done, before the next model call."""

    rules: ClassVar[EventRules] = EventRules(
        when="every tool call of a turn is done, before the next model call",
        model_kinds=WITH_MODEL,
        context_apart=True,
        exit_2=Exit2.STOP,
        audience=Audience.USER,
        decisions=BLOCK_ONLY,
        output=CONTEXT,
        stops=True,
        refusal=Refusal.STOP,
        on_failure=True,
        effort=True,
    )
    tool_calls: list[dict[str, Json]]


class Notification(Event, frozen=True, kw_only=True):
    """The host sends a notification."""

    rules: ClassVar[EventRules] = EventRules(
        when="the host sends a notification",
        target="notification_type",
        values=(
            "permission_prompt",
            "idle_prompt",
            "auth_success",
            "elicitation_dialog",
            "elicitation_url_dialog",
            "elicitation_complete",
            "elicitation_response",
            "agent_needs_input",
            "agent_completed",
            "quota_auto_resume_fired",
            "quota_auto_resume_stale",
            "quota_auto_resume_disabled",
        ),
        output=CONTEXT,
        discarded=frozenset(CONTEXT),
        system_message=False,
        fire_and_forget=True,
        streamed=Streamed.NOTHING,
    )
    message: str
    title: str | UnsetType = UNSET
    notification_type: str


class SubagentStart(Event, frozen=True, kw_only=True):
    """A subagent is started."""

    rules: ClassVar[EventRules] = EventRules(
        when="a subagent is started",
        since=(2, 0, 43),
        target="agent_type",
        audience=Audience.USER,
        output=CONTEXT,
        bare_context=True,
    )
    agent_id: str
    agent_type: str


class SubagentStop(ModeEvent, frozen=True, kw_only=True):
    """A subagent finished responding."""

    rules: ClassVar[EventRules] = EventRules(
        when="a subagent finished responding",
        feedback_label="Stop",
        bare_context=True,
        target="agent_type",
        model_kinds=WITH_MODEL,
        exit_2=Exit2.BLOCK,
        audience=Audience.MODEL,
        decisions=BLOCK_ONLY,
        output=CONTEXT,
        stops=True,
        stop_beats_block=True,
        refusal=Refusal.BLOCK,
        missing_file_is_error=True,
        impossible_lifts=True,
        ends_turn=True,
        effort=True,
        echoed=True,
        block_effect="sent the agent back to work",
    )
    agent_id: str
    agent_type: str
    stop_hook_active: bool
    agent_transcript_path: str | UnsetType = UNSET
    last_assistant_message: str | UnsetType = UNSET
    background_tasks: list[dict[str, Json]] | UnsetType = UNSET
    session_crons: list[dict[str, Json]] | UnsetType = UNSET


class TaskCreated(Event, frozen=True, kw_only=True):
    """A task is being created."""

    rules: ClassVar[EventRules] = EventRules(
        when="a task is being created",
        since=(2, 1, 84),
        model_kinds=WITH_MODEL,
        exit_2=Exit2.BLOCK,
        audience=Audience.MODEL,
        feedback_is_result=True,
        decisions=BLOCK_ONLY,
        refusal=Refusal.BLOCK,
        on_failure=True,
    )
    task_id: str
    task_subject: str
    task_description: str | UnsetType = UNSET
    teammate_name: str | UnsetType = UNSET
    team_name: str | UnsetType = UNSET


class TaskCompleted(Event, frozen=True, kw_only=True):
    """A task is being marked completed."""

    rules: ClassVar[EventRules] = EventRules(
        when="a task is being marked completed",
        since=(2, 1, 33),
        model_kinds=WITH_MODEL,
        exit_2=Exit2.BLOCK,
        audience=Audience.MODEL,
        feedback_is_result=True,
        decisions=BLOCK_ONLY,
        stops=True,
        stop_needs="teammate_name",
        refusal=Refusal.BLOCK,
        missing_file_is_error=True,
    )
    task_id: str
    task_subject: str
    task_description: str | UnsetType = UNSET
    teammate_name: str | UnsetType = UNSET
    team_name: str | UnsetType = UNSET


class Stop(ModeEvent, frozen=True, kw_only=True):
    """The main agent finished responding."""

    rules: ClassVar[EventRules] = EventRules(
        when="the main agent finished responding",
        model_kinds=WITH_MODEL,
        exit_2=Exit2.BLOCK,
        audience=Audience.MODEL,
        decisions=BLOCK_ONLY,
        output=CONTEXT,
        stops=True,
        stop_beats_block=True,
        refusal=Refusal.BLOCK,
        missing_file_is_error=True,
        impossible_lifts=True,
        ends_turn=True,
        effort=True,
        echoed=True,
        block_effect="sent the model back to work",
        in_agent="SubagentStop",
    )
    stop_hook_active: bool
    last_assistant_message: str | UnsetType = UNSET
    background_tasks: list[dict[str, Json]] | UnsetType = UNSET
    session_crons: list[dict[str, Json]] | UnsetType = UNSET


class StopFailure(Event, frozen=True, kw_only=True):
    """A turn was ended by an API error."""

    rules: ClassVar[EventRules] = EventRules(
        when="an API error ended the turn (instead of Stop)",
        since=(2, 1, 78),
        target="error",
        values=(
            "rate_limit",
            "overloaded",
            "authentication_failed",
            "oauth_org_not_allowed",
            "account_on_hold",
            "billing_error",
            "invalid_request",
            "model_not_found",
            "server_error",
            "max_output_tokens",
            "cloud_credential_error",
            "unknown",
        ),
        narrow=True,
        system_message=False,
        fire_and_forget=True,
        effort=True,
        streamed=Streamed.NOTHING,
    )
    error: str
    error_details: str | UnsetType = UNSET
    last_assistant_message: str | UnsetType = UNSET


class TeammateIdle(ModeEvent, frozen=True, kw_only=True):
    """A teammate is about to go idle."""

    rules: ClassVar[EventRules] = EventRules(
        when="a teammate is about to go idle",
        since=(2, 1, 33),
        model_kinds=WITH_MODEL,
        exit_2=Exit2.BLOCK,
        audience=Audience.MODEL,
        decisions=BLOCK_ONLY,
        stops=True,
        stop_beats_block=True,
        refusal=Refusal.STOP,
    )
    teammate_name: str
    team_name: str | UnsetType = UNSET


class ConfigChange(Event, frozen=True, kw_only=True):
    """A settings file or skill changed during the session."""

    rules: ClassVar[EventRules] = EventRules(
        when="a settings file or skill changed during the session",
        since=(2, 1, 49),
        target="source",
        values=("user_settings", "project_settings", "local_settings", "policy_settings", "skills"),
        exit_2=Exit2.BLOCK,
        unblockable=frozenset({"policy_settings"}),
        decisions=BLOCK_ONLY,
        system_message=False,
        on_failure=True,
    )
    source: str
    file_path: str | UnsetType = UNSET


class CwdChanged(Event, frozen=True, kw_only=True):
    """The working directory changed."""

    rules: ClassVar[EventRules] = EventRules(
        when="the working directory changed",
        since=(2, 1, 83),
        audience=Audience.USER,
        output={"watch_paths": Shape.STRINGS},
        env_file=True,
        fire_and_forget=True,
        streamed=Streamed.NOTHING,
    )
    old_cwd: str
    new_cwd: str


class DirectoryAdded(Event, frozen=True, kw_only=True):
    """A directory was added to the session."""

    rules: ClassVar[EventRules] = EventRules(
        when="a directory was added to the session",
        since=(2, 1, 219),
        target="source",
        values=("slash_command", "register_repo_root"),
        message_to_model=frozenset({"slash_command"}),
        fire_and_forget=True,
    )
    directory: str
    source: str


class FileChanged(Event, frozen=True, kw_only=True):
    """A watched file changed on disk."""

    rules: ClassVar[EventRules] = EventRules(
        when="a watched file changed on disk",
        since=(2, 1, 83),
        target="file_path",
        target_form=TargetForm.BASENAME,
        narrow=True,
        audience=Audience.USER,
        output={"watch_paths": Shape.STRINGS},
        env_file=True,
        fire_and_forget=True,
    )
    file_path: str
    event: str


class WorktreeCreate(Event, frozen=True, kw_only=True):
    """A worktree is being created."""

    rules: ClassVar[EventRules] = EventRules(
        when="a worktree is being created (replaces git)",
        since=(2, 1, 50),
        exit_2=Exit2.FAIL,
        audience=Audience.USER,
        plain=Plain.PATH,
        output={"worktree_path": Shape.STRING},
        system_message=False,
        on_failure=True,
    )
    name: str


class WorktreeRemove(Event, frozen=True, kw_only=True):
    """A worktree is being removed."""

    rules: ClassVar[EventRules] = EventRules(
        when="a worktree is being removed",
        since=(2, 1, 50),
        exit_2=Exit2.FAIL,
        audience=Audience.USER,
        system_message=False,
        on_failure=True,
    )
    worktree_path: str


class PreCompact(Event, frozen=True, kw_only=True):
    """The conversation is about to be compacted."""

    rules: ClassVar[EventRules] = EventRules(
        when="the conversation is about to be compacted",
        target="trigger",
        values=("manual", "auto"),
        exit_2=Exit2.BLOCK,
        audience=Audience.USER,
        decisions=BLOCK_ONLY,
        system_message=False,
        on_failure=True,
        streamed=Streamed.NOTHING,
    )
    trigger: str
    custom_instructions: str | None


class PostCompact(Event, frozen=True, kw_only=True):
    """The conversation was compacted."""

    rules: ClassVar[EventRules] = EventRules(
        when="the conversation was compacted",
        since=(2, 1, 76),
        target="trigger",
        values=("manual", "auto"),
        audience=Audience.USER,
        system_message=False,
        streamed=Streamed.NOTHING,
    )
    trigger: str
    compact_summary: str


class ModelSwitch(Event, frozen=True, kw_only=True):
    """What both model-switch events carry."""

    from_model: str
    to_model: str
    requested_model: str | UnsetType | None = UNSET
    source: str
    context_tokens: int | UnsetType = UNSET
    prompt_cache_warm: bool | UnsetType = UNSET
    cache_ttl: str | UnsetType = UNSET
    estimated_cache_write_usd: float | UnsetType = UNSET
    pricing: str | UnsetType = UNSET


class PreModelSwitch(ModelSwitch, frozen=True, kw_only=True):
    """A switch of the model was asked for."""

    rules: ClassVar[EventRules] = EventRules(
        when="a switch of the model was asked for",
        since=(2, 1, 251),
        target="to_model",
        target_form=TargetForm.MODEL,
        timeout=30.0,
        exit_2=Exit2.BLOCK,
        audience=Audience.USER,
        decisions=BLOCK_ONLY,
        output={"permission_decision": Shape.MODEL_PERMISSION, "permission_decision_reason": Shape.STRING},
        on_failure=True,
        timeout_blocks=True,
    )


class PostModelSwitch(ModelSwitch, frozen=True, kw_only=True):
    """The session's model changed."""

    rules: ClassVar[EventRules] = EventRules(
        when="the session's model changed",
        since=(2, 1, 251),
        target="to_model",
        target_form=TargetForm.MODEL,
        timeout=30.0,
        audience=Audience.USER,
        plain=Plain.CONTEXT,
        output=CONTEXT,
    )


class Elicitation(Event, frozen=True, kw_only=True):
    """An MCP server asks for user input."""

    rules: ClassVar[EventRules] = EventRules(
        when="an MCP server asks for user input",
        since=(2, 1, 76),
        target="mcp_server_name",
        exit_2=Exit2.BLOCK,
        decisions=BLOCK_ONLY,
        output={"action": Shape.ACTION, "content": Shape.OBJECT},
        system_message=False,
        on_failure=True,
        fields_at_exit_0=True,
        streamed=Streamed.NOTHING,
    )
    mcp_server_name: str
    message: str
    mode: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    elicitation_id: str | UnsetType = UNSET
    requested_schema: dict[str, Json] | UnsetType = UNSET


class ElicitationResult(Event, frozen=True, kw_only=True):
    """The user answered an MCP server's question."""

    rules: ClassVar[EventRules] = EventRules(
        when="the user answered an MCP server's question",
        since=(2, 1, 76),
        target="mcp_server_name",
        exit_2=Exit2.BLOCK,
        decisions=BLOCK_ONLY,
        output={"action": Shape.ACTION, "content": Shape.OBJECT},
        system_message=False,
        on_failure=True,
        fields_at_exit_0=True,
        streamed=Streamed.NOTHING,
    )
    mcp_server_name: str
    action: str
    mode: str | UnsetType = UNSET
    elicitation_id: str | UnsetType = UNSET
    content: dict[str, Json] | UnsetType = UNSET


class SessionEnd(Event, frozen=True, kw_only=True):
    """The session terminates."""

    rules: ClassVar[EventRules] = EventRules(
        when="the session terminates",
        target="reason",
        values=("clear", "resume", "logout", "prompt_input_exit", "other"),
        timeout=1.5,
        timeout_variable="CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS",
        audience=Audience.USER,
        system_message=False,
        streamed=Streamed.NOTHING,
    )
    reason: str


CATALOGUE: dict[str, type[Event]] = {
    cls.__name__: cls
    for cls in (
        SessionStart,
        Setup,
        InstructionsLoaded,
        UserPromptSubmit,
        UserPromptExpansion,
        MessageDisplay,
        PreToolUse,
        PermissionRequest,
        PermissionDenied,
        PostToolUse,
        PostToolUseFailure,
        PostToolBatch,
        Notification,
        SubagentStart,
        SubagentStop,
        TaskCreated,
        TaskCompleted,
        Stop,
        StopFailure,
        TeammateIdle,
        ConfigChange,
        CwdChanged,
        DirectoryAdded,
        FileChanged,
        WorktreeCreate,
        WorktreeRemove,
        PreCompact,
        PostCompact,
        PreModelSwitch,
        PostModelSwitch,
        Elicitation,
        ElicitationResult,
        SessionEnd,
    )
}
