"""opencode, whose hooks are functions of a plugin."""

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

VERSION = "1.18.33"
READ = Proof(Evidence.DOCUMENTED, VERSION, VERSION, "opencode.ai/docs/plugins")

_FILE_KEYS = (("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string"))

OPENCODE = Dialect(
    name="opencode",
    title="opencode",
    program="opencode",
    version=VERSION,
    proof=READ,
    moments=(
        Moment(
            name="tool.execute.before",
            claude="PreToolUse",
            proof=READ,
            refused_by=(AnswerForm.THROW, AnswerForm.EXIT_2),
            note="the plugin throws, and the model reads the message",
        ),
        Moment(name="tool.execute.after", claude="PostToolUse", proof=READ),
        Moment(
            name="chat.message",
            claude="UserPromptSubmit",
            proof=READ,
            refused_by=(AnswerForm.THROW, AnswerForm.EXIT_2),
        ),
        Moment(name="session.created", claude="SessionStart", proof=READ, note="observed only"),
        Moment(name="session.idle", claude="Stop", proof=READ, note="cannot be refused"),
    ),
    fields=(
        FieldMap("session_id", "session_id", READ),
        FieldMap("transcript_path", "", READ),
        FieldMap("cwd", "cwd", READ),
        FieldMap("permission_mode", "", READ),
        FieldMap("tool_name", "tool_name", READ, "opencode's names"),
        FieldMap("tool_input", "tool_input", READ, "camelCase keys"),
        FieldMap("tool_use_id", "tool_use_id", READ),
        FieldMap("tool_response", "tool_response", READ),
        FieldMap("stop_hook_active", "", READ),
        FieldMap("last_assistant_message", "", READ),
        FieldMap("agent_id", "", READ),
        FieldMap("agent_type", "", READ),
    ),
    tools=(
        ToolMap(name="bash", claude="Bash", proof=READ, needs=("command",)),
        ToolMap(name="read", claude="Read", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="write", claude="Write", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="edit", claude="Edit", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="glob", claude="Glob", proof=READ),
        ToolMap(name="grep", claude="Grep", proof=READ),
        ToolMap(name="webfetch", claude="WebFetch", proof=READ),
        ToolMap(name="task", claude="Agent", proof=READ),
        ToolMap(name="list", claude="", proof=READ),
        ToolMap(name="todowrite", claude="TodoWrite", proof=READ),
        ToolMap(name="todoread", claude="", proof=READ),
        ToolMap(name="patch", claude="Edit", proof=READ, patch=True),
    ),
    matching=MatcherRules(rule=MatcherRule.NONE, proof=READ, note="the plugin passes every call on"),
    answers=AnswerRules(
        proof=READ,
        vocabulary=Vocabulary.PLUGIN,
        rewrite="input",
        on_failure=AnswerEffect.REFUSED,
        on_timeout=AnswerEffect.REFUSED,
        note="the generated plugin throws for every answer that it cannot read",
    ),
    clock=Clock(unit=Unit.NONE, default=None, key="", exported=600, proof=READ),
    files=(
        HookFile(path="~/.config/opencode/plugins/*", scope=FileScope.USER, layout=Layout.CODE, proof=READ, wrapper=""),
        HookFile(path=".opencode/plugins/*", scope=FileScope.PROJECT, layout=Layout.CODE, proof=READ, wrapper=""),
    ),
    handler_keys=(),
    unknown_event=UnknownEvent.SKIPPED,
    order="one plugin after another, in the agent's own process",
    trust="none: the plugins of a project load without consent",
    mcp_name="{server}_{tool}",
    traps=("a slow plugin blocks the agent", "the names of MCP tools cannot be distinguished from others"),
)
