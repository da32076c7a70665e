"""Gemini CLI."""

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
    Vocabulary,
)
from hookwright.dialects.rows import absent_fields, own_moments, same_fields

VERSION = "0.61.0"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/gemini/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, "0.26", VERSION, "google-gemini/gemini-cli:docs/hooks, packages/core/src/hooks")

GEMINI = Dialect(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    package="@google/gemini-cli",
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=RUN, context=True),
        Moment(name="SessionEnd", claude="SessionEnd", proof=RUN, note="others report that it fires twice"),
        Moment(
            name="BeforeAgent",
            claude="UserPromptSubmit",
            proof=RUN,
            refused_by=(AnswerForm.BLOCK, AnswerForm.END, AnswerForm.EXIT_2),
            context=True,
        ),
        Moment(
            name="BeforeTool",
            claude="PreToolUse",
            proof=RUN,
            refused_by=(AnswerForm.BLOCK, AnswerForm.END, AnswerForm.EXIT_2),
            note="fires after the permission dialog, so `allow` cannot skip it",
        ),
        Moment(
            name="AfterTool",
            claude="PostToolUse",
            proof=RUN,
            refused_by=(AnswerForm.BLOCK, AnswerForm.END, AnswerForm.EXIT_2),
            context=True,
            note="also fires for a call that failed, with `tool_response.error`; a block replaces the result",
        ),
        Moment(name="AfterAgent", claude="Stop", proof=RUN, refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2)),
        *own_moments(READ, "BeforeModel", "BeforeToolSelection"),
        Moment(name="AfterModel", claude="", proof=READ, exported=False, note="fires for every chunk"),
        Moment(
            name="PreCompress",
            claude="PreCompact",
            proof=RUN,
            exported=False,
            note="fires before every request to the model, also when nothing is compressed",
        ),
        Moment(name="Notification", claude="Notification", proof=READ, note="documented for `ToolPermission` only"),
    ),
    fields=(
        *same_fields(RUN, "session_id", "cwd", "stop_hook_active"),
        *absent_fields(RUN, "permission_mode", "tool_use_id", "agent_id", "agent_type"),
        FieldMap("transcript_path", "transcript_path", RUN, "the file has Gemini's own format"),
        FieldMap("tool_name", "tool_name", RUN, "Gemini's names"),
        FieldMap("tool_input", "tool_input", RUN, "paths as the model wrote them, also relative ones"),
        FieldMap("tool_response", "tool_response", RUN, "`{llmContent, returnDisplay, error}`"),
        FieldMap("last_assistant_message", "prompt_response", RUN),
    ),
    tools=(
        ToolMap(name="run_shell_command", claude="Bash", proof=RUN, needs=("command",)),
        ToolMap(name="read_file", claude="Read", proof=RUN, needs=("file_path",)),
        ToolMap(name="write_file", claude="Write", proof=RUN, needs=("file_path",)),
        ToolMap(name="replace", claude="Edit", proof=RUN, needs=("file_path",)),
        ToolMap(name="glob", claude="Glob", proof=RUN),
        ToolMap(name="grep_search", claude="Grep", proof=RUN),
        ToolMap(name="web_fetch", claude="WebFetch", proof=READ),
        ToolMap(name="google_web_search", claude="WebSearch", proof=READ),
        ToolMap(name="invoke_agent", claude="Agent", proof=READ),
    ),
    matching=MatcherRules(
        rule=MatcherRule.SEARCH,
        proof=RUN,
        note="`shell` selects `run_shell_command`, `Bash` selects nothing; other events compare the whole value",
    ),
    answers=AnswerRules(
        proof=RUN,
        vocabulary=Vocabulary.GEMINI,
        exit_2_needs_text=True,
        json_beats_exit_2=True,
        permission_decision=False,
        stop=AnswerEffect.ENDS,
        ask=AnswerEffect.HANGS,
        asks=True,
        rewrite="tool_input",
        rewrite_merges=True,
        block_replaces_output=True,
        note="`permissionDecision` and `updatedInput` are not read; `ask` without a user waits without an end",
    ),
    clock=Clock(unit=Unit.MILLISECONDS, default=60.0, key="timeout", exported=600_000, proof=READ),
    files=(
        HookFile(
            path="/etc/gemini-cli/system-defaults.json", scope=FileScope.MANAGED, layout=Layout.GROUPS, proof=READ
        ),
        HookFile(path="~/.gemini/settings.json", scope=FileScope.USER, layout=Layout.GROUPS, proof=RUN),
        HookFile(path=".gemini/settings.json", scope=FileScope.PROJECT, layout=Layout.GROUPS, proof=RUN),
        HookFile(path="/etc/gemini-cli/settings.json", scope=FileScope.MANAGED, layout=Layout.GROUPS, proof=READ),
    ),
    unique_fields=("timestamp",),
    handler_keys=("type", "command", "name", "timeout", "description", "env"),
    unknown_event=UnknownEvent.SKIPPED,
    order="all at once, unless one group says `sequential`; then one after another",
    trust="folder trust: in an untrusted folder all hooks are off, the user's as well",
    mcp_name="mcp_{server}_{tool}",
    environment=(
        "GEMINI_PROJECT_DIR",
        "GEMINI_SESSION_ID",
        "GEMINI_CWD",
        "GEMINI_PLANS_DIR",
        "CLAUDE_PROJECT_DIR",
    ),
    traps=(
        "`hooksConfig.disabled` names hooks to switch off, and a project's list also applies to the user's hooks",
        "at the time limit only the direct child is killed",
        "hooks of other events than these eleven are skipped with a warning",
    ),
)
