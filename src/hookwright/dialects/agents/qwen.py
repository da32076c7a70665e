"""Qwen Code."""

from __future__ import annotations

from hookwright.dialects.model import (
    AnswerEffect,
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
from hookwright.dialects.rows import observed, own_moments, same_fields

VERSION = "0.24.4"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/qwen/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, "0.20", VERSION, "QwenLM/qwen-code:docs/users/features/hooks.md")

_OBSERVED = ("SessionEnd", "PermissionDenied", "SubagentStart", "StopFailure", "PreCompact", "PostCompact")

QWEN = Dialect(
    name="qwen",
    title="Qwen Code",
    program="qwen",
    package="@qwen-code/qwen-code",
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=RUN, context=True),
        Moment(
            name="UserPromptSubmit",
            claude="UserPromptSubmit",
            proof=RUN,
            refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2),
            context=True,
            fires_without_prompt=True,
            note="also fires with an empty prompt after each tool call of a headless run; those are left alone",
        ),
        Moment(
            name="PreToolUse",
            claude="PreToolUse",
            proof=RUN,
            refused_by=(AnswerForm.DENY, AnswerForm.BLOCK, AnswerForm.END, AnswerForm.EXIT_2),
        ),
        Moment(
            name="PermissionRequest",
            claude="PermissionRequest",
            proof=READ,
            refused_by=(AnswerForm.BEHAVIOR, AnswerForm.EXIT_2),
        ),
        Moment(
            name="PostToolUse",
            claude="PostToolUse",
            proof=RUN,
            context=True,
            note="neither a block nor exit status 2 reaches the model; context does",
        ),
        Moment(
            name="SubagentStop", claude="SubagentStop", proof=READ, refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2)
        ),
        Moment(name="Stop", claude="Stop", proof=RUN, refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2)),
        *observed(RUN, "PostToolUseFailure", "Notification"),
        *observed(READ, *_OBSERVED),
        *own_moments(READ, "TodoCreated", "TodoCompleted", "SessionDelete"),
    ),
    fields=(
        *same_fields(RUN, "session_id", "transcript_path", "cwd", "tool_input", "tool_use_id"),
        *same_fields(RUN, "stop_hook_active", "last_assistant_message"),
        *same_fields(READ, "agent_id", "agent_type"),
        FieldMap("permission_mode", "permission_mode", RUN, "Qwen's own values"),
        FieldMap("tool_name", "tool_name", RUN, "Qwen's names"),
        FieldMap("tool_response", "tool_response", RUN, "`{llmContent, returnDisplay}`"),
    ),
    tools=(
        ToolMap(name="run_shell_command", claude="Bash", proof=RUN, needs=("command",)),
        ToolMap(name="read_file", claude="Read", proof=RUN, needs=("file_path",)),
        ToolMap(name="write_file", claude="Write", proof=RUN, needs=("file_path",)),
        ToolMap(name="edit", claude="Edit", proof=RUN, needs=("file_path",)),
        ToolMap(name="glob", claude="Glob", proof=RUN),
        ToolMap(name="grep_search", claude="Grep", proof=RUN),
        ToolMap(name="web_fetch", claude="WebFetch", proof=READ),
        ToolMap(name="web_search", claude="WebSearch", proof=READ),
        ToolMap(name="agent", claude="Agent", proof=READ),
    ),
    matching=MatcherRules(
        rule=MatcherRule.SEARCH,
        proof=RUN,
        aliases=(
            ("Bash", "run_shell_command"),
            ("Write", "write_file"),
            ("Edit", "edit"),
            ("Read", "read_file"),
        ),
        note="an alias selects a tool; the payload keeps Qwen's name",
    ),
    answers=AnswerRules(
        proof=RUN,
        exit_2_needs_text=True,
        json_at_any_status=True,
        stop=AnswerEffect.REFUSED,
        ask=AnswerEffect.REFUSED,
        asks=True,
        allows=True,
        note="`updatedInput` is accepted and ignored; with several hooks a later `allow` beats an earlier `deny`",
    ),
    clock=Clock(unit=Unit.MIXED, default=60.0, key="timeout", exported=600_000, proof=RUN),
    files=(
        HookFile(path="~/.qwen/settings.json", scope=FileScope.USER, layout=Layout.GROUPS, proof=RUN),
        HookFile(path=".qwen/settings.json", scope=FileScope.PROJECT, layout=Layout.GROUPS, proof=READ),
    ),
    unique_fields=("timestamp",),
    handler_keys=("type", "command", "name", "timeout", "description", "env", "url", "prompt"),
    unknown_event=UnknownEvent.UNSEEN,
    order="all at once, unless one group says `sequential`; a later `allow` beats an earlier `deny`",
    trust="folder trust",
    modes=(
        ("default", "default"),
        ("plan", "plan"),
        ("auto_edit", "acceptEdits"),
        ("auto-edit", "acceptEdits"),
        ("yolo", "bypassPermissions"),
    ),
    environment=("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "QWEN_CODE_SESSION_ID"),
    traps=(
        "SessionEnd did not fire in a headless run",
        "a file tool with a relative path fails before any hook is asked",
        "`disableAllHooks` switches all hooks off",
        "before 0.24 a time limit was in milliseconds, whatever its size",
    ),
)
