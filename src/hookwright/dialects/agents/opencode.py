"""opencode, whose hooks are functions of a plugin."""

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
            refused_by=(Form.THROW, Form.EXIT_2),
            note="the plugin throws, and the model reads the message",
        ),
        Moment(name="tool.execute.after", claude="PostToolUse", proof=READ),
        Moment(
            name="chat.message",
            claude="UserPromptSubmit",
            proof=READ,
            refused_by=(Form.THROW, Form.EXIT_2),
        ),
        Moment(name="session.created", claude="SessionStart", proof=READ, note="observed only"),
        Moment(name="session.idle", claude="Stop", proof=READ, note="cannot be refused"),
    ),
    fields=(
        Field("session_id", "session_id", READ),
        Field("transcript_path", "", READ),
        Field("cwd", "cwd", READ),
        Field("permission_mode", "", READ),
        Field("tool_name", "tool_name", READ, "opencode's names"),
        Field("tool_input", "tool_input", READ, "camelCase keys"),
        Field("tool_use_id", "tool_use_id", READ),
        Field("tool_response", "tool_response", READ),
        Field("stop_hook_active", "", READ),
        Field("last_assistant_message", "", READ),
        Field("agent_id", "", READ),
        Field("agent_type", "", READ),
    ),
    tools=(
        Tool(name="bash", claude="Bash", proof=READ, needs=("command",)),
        Tool(name="read", claude="Read", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        Tool(name="write", claude="Write", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        Tool(name="edit", claude="Edit", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        Tool(name="glob", claude="Glob", proof=READ),
        Tool(name="grep", claude="Grep", proof=READ),
        Tool(name="webfetch", claude="WebFetch", proof=READ),
        Tool(name="task", claude="Agent", proof=READ),
        Tool(name="list", claude="", proof=READ),
        Tool(name="todowrite", claude="TodoWrite", proof=READ),
        Tool(name="todoread", claude="", proof=READ),
        Tool(name="patch", claude="Edit", proof=READ, patch=True),
    ),
    matching=Matching(rule=MatcherRule.NONE, proof=READ, note="the plugin passes every call on"),
    answers=Answers(
        proof=READ,
        vocabulary=Vocabulary.PLUGIN,
        rewrite="input",
        on_failure=Effect.REFUSED,
        on_timeout=Effect.REFUSED,
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
