"""Cursor; read only."""

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
    Vocabulary,
)
from hookwright.dialects.rows import absent_fields, same_fields

VERSION = "3.9"
READ = Proof(Evidence.DOCUMENTED, "3.1", VERSION, "cursor.com/docs/hooks, cursor.com/docs/reference/third-party-hooks")

_GATES = ("beforeShellExecution", "beforeMCPExecution", "beforeReadFile")
_OBSERVED = (
    "afterShellExecution",
    "afterMCPExecution",
    "afterFileEdit",
    "afterAgentResponse",
    "afterAgentThought",
    "beforeTabFileRead",
    "afterTabFileEdit",
    "workspaceOpen",
)

CURSOR = Dialect(
    name="cursor",
    title="Cursor",
    program="cursor-agent",
    version=VERSION,
    proof=READ,
    moments=(
        Moment(name="sessionStart", claude="SessionStart", proof=READ, context=True, note="is not waited for"),
        Moment(name="sessionEnd", claude="SessionEnd", proof=READ),
        Moment(
            name="preToolUse",
            claude="PreToolUse",
            proof=READ,
            refused_by=(AnswerForm.FLAT, AnswerForm.EXIT_2),
            note="fires in addition to the event of the tool's kind; `ask` is not enforced",
        ),
        Moment(name="postToolUse", claude="PostToolUse", proof=READ, context=True),
        Moment(name="postToolUseFailure", claude="PostToolUseFailure", proof=READ, note="also fires for denials"),
        Moment(name="subagentStart", claude="SubagentStart", proof=READ),
        Moment(name="subagentStop", claude="SubagentStop", proof=READ),
        Moment(
            name="beforeSubmitPrompt",
            claude="UserPromptSubmit",
            proof=READ,
            refused_by=(AnswerForm.END,),
            note="does not fire with `-p`",
        ),
        Moment(name="preCompact", claude="PreCompact", proof=READ, note="observed only"),
        Moment(name="stop", claude="Stop", proof=READ, note="`followup_message`, at most 5; not with `-p`"),
        *(Moment(name=name, claude="", proof=READ, refused_by=(AnswerForm.FLAT, AnswerForm.EXIT_2)) for name in _GATES),
        *(Moment(name=name, claude="", proof=READ) for name in _OBSERVED),
    ),
    fields=(
        *absent_fields(READ, "permission_mode", "last_assistant_message"),
        *same_fields(READ, "tool_use_id"),
        FieldMap("session_id", "session_id", READ, "also `conversation_id`"),
        FieldMap("transcript_path", "transcript_path", READ, "may be null"),
        FieldMap("cwd", "cwd", READ, "also `workspace_roots`"),
        FieldMap("tool_name", "tool_name", READ, "Cursor's names"),
        FieldMap("tool_input", "tool_input", READ, "a JSON string for MCP tools"),
        FieldMap("tool_response", "tool_output", READ, "a JSON string"),
        FieldMap("stop_hook_active", "loop_count", READ),
        FieldMap("agent_id", "subagent_id", READ),
        FieldMap("agent_type", "subagent_type", READ),
    ),
    tools=(
        ToolMap(name="Shell", claude="Bash", proof=READ, needs=("command",)),
        ToolMap(name="Read", claude="Read", proof=READ),
        ToolMap(name="Write", claude="Write", proof=READ, note="also edits"),
        ToolMap(name="StrReplace", claude="Edit", proof=READ),
        ToolMap(name="Grep", claude="Grep", proof=READ),
        ToolMap(name="Delete", claude="", proof=READ),
        ToolMap(name="WebFetch", claude="WebFetch", proof=READ),
        ToolMap(name="Task", claude="Agent", proof=READ),
    ),
    matching=MatcherRules(
        rule=MatcherRule.SEARCH, proof=READ, note="on the tool's kind; on the command's text for the shell events"
    ),
    answers=AnswerRules(
        proof=READ,
        vocabulary=Vocabulary.CURSOR,
        rewrite="updated_input",
        note="`failClosed: true` on a handler makes its failure a refusal",
    ),
    clock=Clock(unit=Unit.SECONDS, default=60.0, key="timeout", exported=600, proof=READ),
    files=(
        HookFile(path="/etc/cursor/hooks.json", scope=FileScope.MANAGED, layout=Layout.FLAT, proof=READ),
        HookFile(path=".cursor/hooks.json", scope=FileScope.PROJECT, layout=Layout.FLAT, proof=READ),
        HookFile(path="~/.cursor/hooks.json", scope=FileScope.USER, layout=Layout.FLAT, proof=READ),
        HookFile(
            path=".claude/settings.local.json",
            scope=FileScope.CLAUDE,
            layout=Layout.GROUPS,
            proof=READ,
            note="if third-party hooks are switched on",
        ),
        HookFile(
            path=".claude/settings.json",
            scope=FileScope.CLAUDE,
            layout=Layout.GROUPS,
            proof=READ,
            note="if third-party hooks are switched on",
        ),
        HookFile(
            path="~/.claude/settings.json",
            scope=FileScope.CLAUDE,
            layout=Layout.GROUPS,
            proof=READ,
            note="if third-party hooks are switched on",
        ),
    ),
    handler_keys=("command", "type", "timeout", "matcher", "loop_limit", "failClosed"),
    unknown_event=UnknownEvent.VOIDS_FILE,
    order="all run; on conflict the higher source wins; equal commands run once",
    trust="workspace trust",
    mcp_name="MCP:{tool}",
    environment=("CURSOR_PROJECT_DIR", "CURSOR_VERSION", "CURSOR_TRANSCRIPT_PATH", "CLAUDE_PROJECT_DIR"),
    traps=(
        "one unknown event name voids the whole file silently",
        "empty stdout of a preToolUse hook was refused as invalid JSON by the command-line agent",
        "stdin begins with a byte order mark on Windows",
    ),
    exported=False,
)
