"""VS Code agent hooks (preview); read only."""

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
)

VERSION = "2026-08"
READ = Proof(Evidence.DOCUMENTED, VERSION, VERSION, "microsoft/vscode-docs:docs/agent-customization/hooks.md")
TOLD = Proof(Evidence.REPORTED, VERSION, VERSION, "microsoft/vscode issue 303926")

_FILE_KEYS = (("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string"))

VSCODE = Dialect(
    name="vscode",
    title="VS Code",
    program="",
    version=VERSION,
    proof=READ,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=READ, context=True, note="`source` is always `new`"),
        Moment(
            name="UserPromptSubmit",
            claude="UserPromptSubmit",
            proof=READ,
            refused_by=(Form.BLOCK, Form.END, Form.EXIT_2),
            context=True,
        ),
        Moment(
            name="PreToolUse",
            claude="PreToolUse",
            proof=READ,
            refused_by=(Form.DENY, Form.END, Form.EXIT_2),
            context=True,
        ),
        Moment(
            name="PostToolUse",
            claude="PostToolUse",
            proof=READ,
            refused_by=(Form.BLOCK, Form.EXIT_2),
            context=True,
        ),
        Moment(name="PreCompact", claude="PreCompact", proof=READ),
        Moment(name="SubagentStart", claude="SubagentStart", proof=READ, context=True),
        Moment(name="SubagentStop", claude="SubagentStop", proof=READ, refused_by=(Form.EXIT_2,)),
        Moment(
            name="Stop",
            claude="Stop",
            proof=READ,
            refused_by=(Form.EXIT_2,),
            note="the block is read below `hookSpecificOutput`",
        ),
    ),
    fields=(
        Field("session_id", "session_id", READ, "optional"),
        Field("transcript_path", "transcript_path", READ, "optional"),
        Field("cwd", "cwd", READ, "optional"),
        Field("permission_mode", "", READ),
        Field("tool_name", "tool_name", READ, "VS Code's names"),
        Field("tool_input", "tool_input", READ, "camelCase keys"),
        Field("tool_use_id", "tool_use_id", READ),
        Field("tool_response", "tool_response", READ, "a string"),
        Field("stop_hook_active", "stop_hook_active", READ),
        Field("last_assistant_message", "", READ),
        Field("agent_id", "agent_id", READ),
        Field("agent_type", "agent_type", READ),
    ),
    tools=(
        Tool(name="run_in_terminal", claude="Bash", proof=READ, needs=("command",)),
        Tool(name="read_file", claude="Read", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        Tool(name="create_file", claude="Write", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        Tool(name="replace_string_in_file", claude="Edit", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        Tool(name="multi_replace_string_in_file", claude="MultiEdit", proof=READ),
        Tool(name="file_search", claude="Glob", proof=READ),
        Tool(name="grep_search", claude="Grep", proof=READ),
        Tool(name="fetch_webpage", claude="WebFetch", proof=READ),
        Tool(name="runSubagent", claude="Agent", proof=READ),
    ),
    matching=Matching(rule=MatcherRule.IGNORED, proof=READ),
    answers=Answers(
        proof=READ,
        stop=Effect.ENDS,
        ask=Effect.ASKS,
        asks=True,
        allows=True,
        rewrite="updatedInput",
        note="a rewrite that does not fit the tool's schema is dropped, and the original call runs",
    ),
    clock=Clock(unit=Unit.SECONDS, default=30.0, key="timeout", exported=600, proof=READ),
    files=(
        HookFile(path=".github/hooks/*.json", scope=FileScope.PROJECT, layout=Layout.GROUPS, proof=READ),
        HookFile(path=".claude/settings.json", scope=FileScope.CLAUDE, layout=Layout.GROUPS, proof=READ),
        HookFile(path=".claude/settings.local.json", scope=FileScope.CLAUDE, layout=Layout.GROUPS, proof=READ),
        HookFile(path="~/.claude/settings.json", scope=FileScope.CLAUDE, layout=Layout.GROUPS, proof=READ),
        HookFile(path="~/.copilot/hooks/*.json", scope=FileScope.USER, layout=Layout.GROUPS, proof=READ),
    ),
    handler_keys=("type", "command", "windows", "linux", "osx", "cwd", "env", "timeout"),
    unknown_event=UnknownEvent.SKIPPED,
    order="one after another; deny beats ask beats allow",
    trust="workspace trust",
    traps=(
        "a guard with `matcher: Write|Edit` that reads `tool_input.file_path` runs for every tool and sees nothing",
        "the same hook in `.claude` and `.github/hooks` runs twice",
    ),
    exported=False,
)
