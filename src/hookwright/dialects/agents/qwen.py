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

VERSION = "0.24.4"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/qwen/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, "0.20", VERSION, "QwenLM/qwen-code:docs/users/features/hooks.md")

_OBSERVED = (
    "SessionEnd",
    "PostToolUseFailure",
    "PermissionDenied",
    "Notification",
    "SubagentStart",
    "StopFailure",
    "PreCompact",
    "PostCompact",
)

QWEN = Dialect(
    name="qwen",
    title="Qwen Code",
    program="qwen",
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=READ, context=True),
        Moment(
            name="UserPromptSubmit",
            claude="UserPromptSubmit",
            proof=READ,
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
            proof=READ,
            refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2),
            context=True,
        ),
        Moment(
            name="SubagentStop", claude="SubagentStop", proof=READ, refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2)
        ),
        Moment(name="Stop", claude="Stop", proof=READ, refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2)),
        *(Moment(name=name, claude=name, proof=READ, note="observed only") for name in _OBSERVED),
        Moment(name="TodoCreated", claude="", proof=READ, exported=False),
        Moment(name="TodoCompleted", claude="", proof=READ, exported=False),
        Moment(name="SessionDelete", claude="", proof=READ, exported=False),
    ),
    fields=(
        FieldMap("session_id", "session_id", RUN),
        FieldMap("transcript_path", "transcript_path", RUN),
        FieldMap("cwd", "cwd", RUN),
        FieldMap("permission_mode", "permission_mode", RUN, "Qwen's own values"),
        FieldMap("tool_name", "tool_name", RUN, "Qwen's names"),
        FieldMap("tool_input", "tool_input", RUN),
        FieldMap("tool_use_id", "tool_use_id", RUN),
        FieldMap("tool_response", "tool_response", RUN, "`{llmContent, returnDisplay}`"),
        FieldMap("stop_hook_active", "stop_hook_active", READ),
        FieldMap("last_assistant_message", "last_assistant_message", READ),
        FieldMap("agent_id", "agent_id", READ),
        FieldMap("agent_type", "agent_type", READ),
    ),
    tools=(
        ToolMap(name="run_shell_command", claude="Bash", proof=RUN, needs=("command",)),
        ToolMap(name="read_file", claude="Read", proof=RUN, needs=("file_path",)),
        ToolMap(name="write_file", claude="Write", proof=RUN, needs=("file_path",)),
        ToolMap(name="edit", claude="Edit", proof=RUN, needs=("file_path",)),
        ToolMap(name="glob", claude="Glob", proof=READ),
        ToolMap(name="grep_search", claude="Grep", proof=READ),
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
        "`disableAllHooks` switches all hooks off",
        "before 0.24 a time limit was in milliseconds, whatever its size",
    ),
)
