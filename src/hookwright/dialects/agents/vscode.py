"""VS Code agent hooks (preview); read only."""

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
from hookwright.dialects.rows import CAMEL_CASE, absent_fields, same_fields

VERSION = "2026-08"
READ = Proof(Evidence.DOCUMENTED, VERSION, VERSION, "microsoft/vscode-docs:docs/agent-customization/hooks.md")

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
            refused_by=(AnswerForm.BLOCK, AnswerForm.END, AnswerForm.EXIT_2),
            context=True,
        ),
        Moment(
            name="PreToolUse",
            claude="PreToolUse",
            proof=READ,
            refused_by=(AnswerForm.DENY, AnswerForm.END, AnswerForm.EXIT_2),
            context=True,
        ),
        Moment(
            name="PostToolUse",
            claude="PostToolUse",
            proof=READ,
            refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2),
            context=True,
        ),
        Moment(name="PreCompact", claude="PreCompact", proof=READ),
        Moment(name="SubagentStart", claude="SubagentStart", proof=READ, context=True),
        Moment(name="SubagentStop", claude="SubagentStop", proof=READ, refused_by=(AnswerForm.EXIT_2,)),
        Moment(
            name="Stop",
            claude="Stop",
            proof=READ,
            refused_by=(AnswerForm.EXIT_2,),
            note="the block is read below `hookSpecificOutput`",
        ),
    ),
    fields=(
        *absent_fields(READ, "permission_mode", "last_assistant_message"),
        *same_fields(READ, "tool_use_id", "stop_hook_active", "agent_id", "agent_type"),
        FieldMap("session_id", "session_id", READ, "optional"),
        FieldMap("transcript_path", "transcript_path", READ, "optional"),
        FieldMap("cwd", "cwd", READ, "optional"),
        FieldMap("tool_name", "tool_name", READ, "VS Code's names"),
        FieldMap("tool_input", "tool_input", READ, "camelCase keys"),
        FieldMap("tool_response", "tool_response", READ, "a string"),
    ),
    tools=(
        ToolMap(name="run_in_terminal", claude="Bash", proof=READ, needs=("command",)),
        ToolMap(name="read_file", claude="Read", proof=READ, keys=CAMEL_CASE, needs=("file_path",)),
        ToolMap(name="create_file", claude="Write", proof=READ, keys=CAMEL_CASE, needs=("file_path",)),
        ToolMap(name="replace_string_in_file", claude="Edit", proof=READ, keys=CAMEL_CASE, needs=("file_path",)),
        ToolMap(
            name="multi_replace_string_in_file",
            claude="MultiEdit",
            proof=READ,
            needs=("file_path",),
            note="its paths are in a list, which guards do not read: refused through a bridge",
        ),
        ToolMap(name="file_search", claude="Glob", proof=READ),
        ToolMap(name="grep_search", claude="Grep", proof=READ),
        ToolMap(name="fetch_webpage", claude="WebFetch", proof=READ),
        ToolMap(name="runSubagent", claude="Agent", proof=READ),
    ),
    matching=MatcherRules(rule=MatcherRule.IGNORED, proof=READ),
    answers=AnswerRules(
        proof=READ,
        stop=AnswerEffect.ENDS,
        ask=AnswerEffect.ASKS,
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
