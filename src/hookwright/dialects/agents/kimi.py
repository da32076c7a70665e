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

VERSION = "2.1.0"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/kimi/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, "2.0", VERSION, "moonshotai.github.io/kimi-code/en/customization/hooks")

_OBSERVED = (
    "PostToolUse",
    "PostToolUseFailure",
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
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=READ, context=True),
        Moment(name="SessionEnd", claude="SessionEnd", proof=READ, note="did not fire with `-p`"),
        Moment(
            name="UserPromptSubmit",
            claude="UserPromptSubmit",
            proof=READ,
            refused_by=(AnswerForm.EXIT_2,),
            context=True,
            note="`prompt` is a list of parts",
        ),
        Moment(name="PreToolUse", claude="PreToolUse", proof=RUN, refused_by=(AnswerForm.EXIT_2, AnswerForm.DENY)),
        Moment(name="Stop", claude="Stop", proof=READ, refused_by=(AnswerForm.EXIT_2,), note="continues once"),
        *(Moment(name=name, claude=name, proof=READ, note="observed only") for name in _OBSERVED),
        *(Moment(name=name, claude="", proof=READ, exported=False) for name in _OWN),
    ),
    fields=(
        FieldMap("session_id", "session_id", RUN),
        FieldMap("transcript_path", "", RUN),
        FieldMap("cwd", "cwd", RUN),
        FieldMap("permission_mode", "", RUN),
        FieldMap("tool_name", "tool_name", RUN),
        FieldMap("tool_input", "tool_input", RUN, "`path` instead of `file_path`"),
        FieldMap("tool_use_id", "tool_call_id", RUN),
        FieldMap("tool_response", "tool_output", RUN),
        FieldMap("stop_hook_active", "stop_hook_active", READ),
        FieldMap("last_assistant_message", "", READ),
        FieldMap("agent_id", "", READ),
        FieldMap("agent_type", "", READ),
    ),
    tools=(
        ToolMap(name="Bash", claude="Bash", proof=RUN, needs=("command",)),
        ToolMap(name="Read", claude="Read", proof=RUN, keys=(("path", "file_path"),), needs=("file_path",)),
        ToolMap(name="Write", claude="Write", proof=RUN, keys=(("path", "file_path"),), needs=("file_path",)),
        ToolMap(name="Edit", claude="Edit", proof=RUN, keys=(("path", "file_path"),), needs=("file_path",)),
        ToolMap(name="Glob", claude="Glob", proof=READ),
        ToolMap(name="Grep", claude="Grep", proof=READ),
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
    handler_keys=("event", "matcher", "command", "timeout"),
    unknown_event=UnknownEvent.UNSEEN,
    order="not known",
    trust="none is needed: the file is the user's own",
    traps=("a Bash call that failed produced neither PostToolUse nor PostToolUseFailure",),
)
