"""Gemini CLI."""

from __future__ import annotations

from hookwright.dialects.model import (
    Answers,
    Clock,
    Dialect,
    Effect,
    Evidence,
    Field,
    FileScope,
    Form,
    HookFile,
    Layout,
    MatcherRule,
    Matching,
    Moment,
    Proof,
    Tool,
    Unit,
    UnknownEvent,
    Vocabulary,
)

VERSION = "0.61.0"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/gemini/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, "0.26", VERSION, "google-gemini/gemini-cli:docs/hooks, packages/core/src/hooks")
TOLD = Proof(Evidence.REPORTED, "0.26", VERSION, "google-gemini/gemini-cli issue 18266")

GEMINI = Dialect(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=READ, context=True),
        Moment(name="SessionEnd", claude="SessionEnd", proof=TOLD, note="reported to fire twice"),
        Moment(
            name="BeforeAgent",
            claude="UserPromptSubmit",
            proof=READ,
            refused_by=(Form.BLOCK, Form.END, Form.EXIT_2),
            context=True,
        ),
        Moment(
            name="BeforeTool",
            claude="PreToolUse",
            proof=RUN,
            refused_by=(Form.BLOCK, Form.END, Form.EXIT_2),
            note="fires after the permission dialog, so `allow` cannot skip it",
        ),
        Moment(
            name="AfterTool",
            claude="PostToolUse",
            proof=READ,
            refused_by=(Form.BLOCK, Form.END, Form.EXIT_2),
            context=True,
            note="also fires for a call that failed, with `tool_response.error`; a block replaces the result",
        ),
        Moment(name="AfterAgent", claude="Stop", proof=READ, refused_by=(Form.BLOCK, Form.EXIT_2)),
        Moment(name="BeforeModel", claude="", proof=READ, exported=False),
        Moment(name="AfterModel", claude="", proof=READ, exported=False, note="fires for every chunk"),
        Moment(name="BeforeToolSelection", claude="", proof=READ, exported=False),
        Moment(
            name="PreCompress",
            claude="PreCompact",
            proof=RUN,
            exported=False,
            note="fires before every request to the model, also when nothing is compressed",
        ),
        Moment(name="Notification", claude="Notification", proof=READ, note="`ToolPermission` only"),
    ),
    fields=(
        Field("session_id", "session_id", RUN),
        Field("transcript_path", "transcript_path", RUN, "the file has Gemini's own format"),
        Field("cwd", "cwd", RUN),
        Field("permission_mode", "", RUN),
        Field("tool_name", "tool_name", RUN, "Gemini's names"),
        Field("tool_input", "tool_input", RUN, "paths as the model wrote them, also relative ones"),
        Field("tool_use_id", "", RUN),
        Field("tool_response", "tool_response", READ, "`{llmContent, returnDisplay, error}`"),
        Field("stop_hook_active", "stop_hook_active", READ),
        Field("last_assistant_message", "prompt_response", READ),
        Field("agent_id", "", READ),
        Field("agent_type", "", READ),
    ),
    tools=(
        Tool(name="run_shell_command", claude="Bash", proof=RUN, needs=("command",)),
        Tool(name="read_file", claude="Read", proof=RUN, needs=("file_path",)),
        Tool(name="write_file", claude="Write", proof=RUN, needs=("file_path",)),
        Tool(name="replace", claude="Edit", proof=READ, needs=("file_path",)),
        Tool(name="glob", claude="Glob", proof=READ),
        Tool(name="grep_search", claude="Grep", proof=READ),
        Tool(name="web_fetch", claude="WebFetch", proof=READ),
        Tool(name="google_web_search", claude="WebSearch", proof=READ),
        Tool(name="invoke_agent", claude="Agent", proof=READ),
    ),
    matching=Matching(
        rule=MatcherRule.SEARCH,
        proof=RUN,
        note="`shell` selects `run_shell_command`, `Bash` selects nothing; other events compare the whole value",
    ),
    answers=Answers(
        proof=RUN,
        vocabulary=Vocabulary.GEMINI,
        exit_2_needs_text=True,
        json_beats_exit_2=True,
        permission_decision=False,
        stop=Effect.ENDS,
        ask=Effect.HANGS,
        asks=True,
        rewrite="tool_input",
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
