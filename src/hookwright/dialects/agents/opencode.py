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
from hookwright.dialects.rows import CAMEL_CASE, absent_fields, same_fields

VERSION = "1.18.33"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/opencode/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, VERSION, VERSION, "opencode.ai/docs/plugins")

OPENCODE = Dialect(
    name="opencode",
    title="opencode",
    program="opencode",
    package="opencode-ai",
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(
            name="tool.execute.before",
            claude="PreToolUse",
            proof=RUN,
            refused_by=(AnswerForm.THROW, AnswerForm.EXIT_2),
            note="the plugin throws, and the model reads the message",
        ),
        Moment(name="tool.execute.after", claude="PostToolUse", proof=RUN),
        Moment(
            name="chat.message",
            claude="UserPromptSubmit",
            proof=RUN,
            refused_by=(AnswerForm.THROW, AnswerForm.EXIT_2),
        ),
        Moment(name="session.created", claude="SessionStart", proof=RUN, note="observed only"),
        Moment(name="session.idle", claude="Stop", proof=RUN, note="cannot be refused"),
    ),
    fields=(
        *same_fields(RUN, "session_id", "cwd", "tool_use_id", "tool_response"),
        *absent_fields(
            RUN,
            "transcript_path",
            "permission_mode",
            "stop_hook_active",
            "last_assistant_message",
            "agent_id",
            "agent_type",
        ),
        FieldMap("tool_name", "tool_name", RUN, "opencode's names"),
        FieldMap("tool_input", "tool_input", RUN, "camelCase keys"),
    ),
    tools=(
        ToolMap(name="bash", claude="Bash", proof=RUN, needs=("command",)),
        ToolMap(name="read", claude="Read", proof=RUN, keys=CAMEL_CASE, needs=("file_path",)),
        ToolMap(name="write", claude="Write", proof=RUN, keys=CAMEL_CASE, needs=("file_path",)),
        ToolMap(name="edit", claude="Edit", proof=RUN, keys=CAMEL_CASE, needs=("file_path",)),
        ToolMap(name="glob", claude="Glob", proof=RUN),
        ToolMap(name="grep", claude="Grep", proof=RUN),
        ToolMap(name="webfetch", claude="WebFetch", proof=READ),
        ToolMap(name="task", claude="Agent", proof=READ),
        ToolMap(name="list", claude="", proof=READ),
        ToolMap(name="todowrite", claude="TodoWrite", proof=READ),
        ToolMap(name="todoread", claude="", proof=READ),
        ToolMap(name="patch", claude="Edit", proof=READ, patch=True),
    ),
    matching=MatcherRules(rule=MatcherRule.NONE, proof=RUN, note="the plugin passes every call on"),
    answers=AnswerRules(
        proof=RUN,
        vocabulary=Vocabulary.PLUGIN,
        rewrite="input",
        on_failure=AnswerEffect.REFUSED,
        on_timeout=AnswerEffect.REFUSED,
        note="the generated plugin throws for every answer that it cannot read",
    ),
    clock=Clock(unit=Unit.NONE, default=None, key="", exported=600, proof=RUN),
    files=(
        HookFile(path="~/.config/opencode/plugins/*", scope=FileScope.USER, layout=Layout.CODE, proof=RUN, wrapper=""),
        HookFile(path=".opencode/plugins/*", scope=FileScope.PROJECT, layout=Layout.CODE, proof=READ, wrapper=""),
    ),
    unique_fields=("tool_use_id",),
    handler_keys=(),
    unknown_event=UnknownEvent.SKIPPED,
    order="one plugin after another, in the agent's own process",
    trust="none: the plugins of a project load without consent",
    mcp_name="{server}_{tool}",
    traps=(
        "there are no hooks in settings files: Claude Code's own are not read, and a guard in them does nothing",
        "a slow plugin blocks the agent",
        "the names of MCP tools cannot be distinguished from others",
        "`opencode run` puts a prompt of several words in quotes, and hooks read them",
        "each first start installs a package for plugins from the registry, and waits for that",
    ),
)
