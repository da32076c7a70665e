"""Kimi Code."""

from __future__ import annotations

from hookwright.dialects.model import (
    AnswerForm,
    AnswerRules,
    Clock,
    Dialect,
    Evidence,
    FieldMap,
    FileScope,
    HookFile,
    Layout,
    MatcherRule,
    MatcherRules,
    Moment,
    Proof,
    ToolMap,
    Unit,
    UnknownEvent,
)
from hookwright.dialects.rows import absent_fields, observed, own_moments, same_fields

VERSION = "2.1.0"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/kimi/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, "2.0", VERSION, "moonshotai.github.io/kimi-code/en/customization/hooks")

_OBSERVED = (
    "PermissionRequest",
    "StopFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
)
_OWN = ("PermissionResult", "Interrupt", "TurnStarted", "UserPromptQueued", "TaskStarted", "SessionHeartbeat")

KIMI = Dialect(
    name="kimi",
    title="Kimi Code",
    program="kimi",
    package="@moonshot-ai/kimi-code",
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=RUN, note="observed only"),
        Moment(name="SessionEnd", claude="SessionEnd", proof=READ, note="did not fire with `-p`"),
        Moment(
            name="UserPromptSubmit",
            claude="UserPromptSubmit",
            proof=RUN,
            refused_by=(AnswerForm.EXIT_2,),
            context=True,
            note="`prompt` is a list of parts",
        ),
        Moment(name="PreToolUse", claude="PreToolUse", proof=RUN, refused_by=(AnswerForm.EXIT_2, AnswerForm.DENY)),
        Moment(
            name="Stop", claude="Stop", proof=RUN, refused_by=(AnswerForm.EXIT_2,), note="documented: continues once"
        ),
        *observed(RUN, "PostToolUse", "PostToolUseFailure"),
        *observed(READ, *_OBSERVED),
        *own_moments(READ, *_OWN),
    ),
    fields=(
        *same_fields(RUN, "session_id", "cwd", "tool_name", "stop_hook_active"),
        *absent_fields(RUN, "transcript_path", "permission_mode", "last_assistant_message", "agent_id", "agent_type"),
        FieldMap("tool_input", "tool_input", RUN, "`path` instead of `file_path`"),
        FieldMap("tool_use_id", "tool_call_id", RUN),
        FieldMap("tool_response", "tool_output", RUN),
    ),
    tools=(
        ToolMap(name="Bash", claude="Bash", proof=RUN, needs=("command",)),
        ToolMap(name="Read", claude="Read", proof=RUN, keys=(("path", "file_path"),), needs=("file_path",)),
        ToolMap(name="Write", claude="Write", proof=RUN, keys=(("path", "file_path"),), needs=("file_path",)),
        ToolMap(name="Edit", claude="Edit", proof=RUN, keys=(("path", "file_path"),), needs=("file_path",)),
        ToolMap(name="Glob", claude="Glob", proof=RUN),
        ToolMap(name="Grep", claude="Grep", proof=RUN),
        ToolMap(name="FetchURL", claude="WebFetch", proof=READ),
        ToolMap(name="Agent", claude="Agent", proof=READ),
    ),
    matching=MatcherRules(
        rule=MatcherRule.SEARCH,
        proof=READ,
        note="on UserPromptSubmit the prompt's text; on an event without a target only an empty matcher matches",
    ),
    answers=AnswerRules(
        proof=RUN,
        decision=False,
        plain_context=True,
        note="only exit status 2 and `permissionDecision: deny` refuse",
    ),
    clock=Clock(unit=Unit.SECONDS, default=30.0, key="timeout", exported=600, proof=READ),
    files=(
        HookFile(
            path="~/.kimi-code/config.toml",
            scope=FileScope.USER,
            layout=Layout.TOML_TABLES,
            proof=RUN,
            note="the only file",
        ),
    ),
    unique_fields=("tool_call_id",),
    handler_keys=("event", "matcher", "command", "timeout"),
    unknown_event=UnknownEvent.UNSEEN,
    order="not known",
    trust="none is needed: the file is the user's own",
    traps=("`error` of PostToolUseFailure is an object with a message",),
)
