"""Codex CLI."""

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
)
from hookwright.dialects.rows import same_fields

VERSION = "0.166.0"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/codex/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, "0.150", VERSION, "openai/codex:codex-rs/hooks, learn.chatgpt.com/docs/hooks")

CODEX = Dialect(
    name="codex",
    title="Codex CLI",
    program="codex",
    package="@openai/codex",
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=RUN, context=True),
        Moment(name="SessionEnd", claude="SessionEnd", proof=RUN, limit=3.0, note="limited to 3 seconds"),
        Moment(
            name="UserPromptSubmit",
            claude="UserPromptSubmit",
            proof=RUN,
            refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2),
            context=True,
        ),
        Moment(
            name="PreToolUse",
            claude="PreToolUse",
            proof=RUN,
            refused_by=(AnswerForm.DENY, AnswerForm.BLOCK, AnswerForm.EXIT_2),
            context=True,
            note="reading, searching and web search have no tool, so no event",
        ),
        Moment(
            name="PermissionRequest",
            claude="PermissionRequest",
            proof=READ,
            refused_by=(AnswerForm.BEHAVIOR, AnswerForm.EXIT_2),
            note="`updatedInput` and `interrupt` refuse the request",
        ),
        Moment(
            name="PostToolUse",
            claude="PostToolUse",
            proof=RUN,
            refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2),
            context=True,
            note="also fires for a command that failed; a block replaces the result",
        ),
        Moment(name="PreCompact", claude="PreCompact", proof=READ, note="a refusal has no effect"),
        Moment(name="PostCompact", claude="PostCompact", proof=READ),
        Moment(name="SubagentStart", claude="SubagentStart", proof=READ, context=True),
        Moment(
            name="SubagentStop", claude="SubagentStop", proof=READ, refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2)
        ),
        Moment(name="Stop", claude="Stop", proof=RUN, refused_by=(AnswerForm.BLOCK, AnswerForm.EXIT_2)),
    ),
    fields=(
        *same_fields(
            RUN,
            "session_id",
            "cwd",
            "permission_mode",
            "tool_name",
            "tool_input",
            "tool_use_id",
            "stop_hook_active",
            "last_assistant_message",
        ),
        *same_fields(READ, "agent_id", "agent_type"),
        FieldMap("transcript_path", "transcript_path", RUN, "the file has Codex's own format"),
        FieldMap("tool_response", "tool_response", RUN, "a string"),
    ),
    tools=(
        ToolMap(name="Bash", claude="Bash", proof=RUN, needs=("command",), note="`exec_command` and the older shells"),
        ToolMap(
            name="apply_patch",
            claude="Edit",
            proof=RUN,
            patch=True,
            note="`tool_input.command` is a patch with several files: one event per path, Write for a new file",
        ),
        ToolMap(name="spawn_agent", claude="Agent", proof=READ),
    ),
    matching=MatcherRules(
        rule=MatcherRule.CLAUDE_NARROW,
        proof=RUN,
        aliases=(("Write", "apply_patch"), ("Edit", "apply_patch"), ("Agent", "spawn_agent")),
        note="an alias selects a tool; the payload keeps Codex's name",
    ),
    answers=AnswerRules(
        proof=RUN,
        exit_2_needs_text=True,
        reason_needed=True,
        strict=True,
        rewrite="updatedInput",
        block_replaces_output=True,
        note="an answer with an unknown or unsupported field fails and the call runs; the model reads nothing of it",
    ),
    clock=Clock(unit=Unit.SECONDS, default=600.0, key="timeout", exported=600, proof=READ),
    files=(
        HookFile(
            path="/etc/codex/hooks.json", scope=FileScope.MANAGED, layout=Layout.GROUPS, proof=READ, note="the system's"
        ),
        HookFile(
            path="~/.codex/hooks.json",
            scope=FileScope.USER,
            layout=Layout.GROUPS,
            proof=RUN,
            folder_variable="CODEX_HOME",
            note="an unknown key at the top rejects the file",
        ),
        HookFile(
            path="~/.codex/config.toml",
            scope=FileScope.USER,
            layout=Layout.GROUPS,
            proof=READ,
            folder_variable="CODEX_HOME",
            note="`[hooks]`",
        ),
        HookFile(
            path=".codex/hooks.json",
            scope=FileScope.PROJECT,
            layout=Layout.GROUPS,
            proof=READ,
            note="in trusted projects; an unknown key at the top rejects the file",
        ),
        HookFile(
            path=".codex/config.toml", scope=FileScope.PROJECT, layout=Layout.GROUPS, proof=READ, note="`[hooks]`"
        ),
    ),
    unique_fields=("tool_use_id",),
    handler_keys=(
        "type",
        "command",
        "timeout",
        "async",
        "statusMessage",
        "commandWindows",
        "additionalContextLimit",
    ),
    unknown_event=UnknownEvent.UNSEEN,
    order="all at once; of several rewrites the last one to finish is applied",
    trust="a hash of each handler, approved in `/hooks`; an untrusted hook is skipped without a word in `codex exec`",
    traps=(
        "`prompt` and `agent` handlers are parsed and never run",
        "a hook runs in a login shell: what the profile prints on stderr belongs to the hook",
    ),
)
