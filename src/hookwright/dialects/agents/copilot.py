"""GitHub Copilot CLI and its cloud agent."""

from __future__ import annotations

import msgspec

from hookwright.dialects.agents.vscode import VSCODE
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
from hookwright.dialects.rows import absent_fields, observed, same_fields

VERSION = "1.0.102"
RUN = Proof(Evidence.RECORDED, VERSION, VERSION, f"tests/dialects/copilot/{VERSION}.jsonl")
READ = Proof(Evidence.DOCUMENTED, "2026-08", VERSION, "github/docs:content/copilot/reference/hooks-reference.md")

_OBSERVED = ("PostToolUseFailure", "SubagentStart", "PreCompact", "Notification")
_FILE_KEYS = (
    ("path", "file_path"),
    ("filePath", "file_path"),
    ("file_text", "content"),
    ("old_str", "old_string"),
    ("new_str", "new_string"),
)

COPILOT = Dialect(
    name="copilot",
    title="GitHub Copilot CLI",
    program="copilot",
    package="@github/copilot",
    version=VERSION,
    proof=RUN,
    moments=(
        Moment(name="SessionStart", claude="SessionStart", proof=RUN, note="`source` is `new`"),
        Moment(name="SessionEnd", claude="SessionEnd", proof=RUN),
        Moment(
            name="UserPromptSubmit",
            claude="UserPromptSubmit",
            proof=RUN,
            refused_by=(AnswerForm.BLOCK,),
            note="exit status 2 does not refuse a prompt",
        ),
        Moment(
            name="PreToolUse",
            claude="PreToolUse",
            proof=RUN,
            refused_by=(AnswerForm.DENY, AnswerForm.EXIT_2),
            context=True,
            note="every exit status but 0 refuses, and the model does not read why; a time-out does not refuse",
        ),
        Moment(
            name="PermissionRequest",
            claude="PermissionRequest",
            proof=READ,
            exported=False,
            note="fires before the agent's own rules, with the fields of a camelCase event",
        ),
        Moment(
            name="PostToolUse",
            claude="PostToolUse",
            proof=RUN,
            refused_by=(AnswerForm.BLOCK,),
            context=True,
            context_at_top=True,
            note="also fires for a command that failed; a block replaces the result",
        ),
        Moment(
            name="Stop", claude="Stop", proof=RUN, refused_by=(AnswerForm.BLOCK,), note="documented: at most 8 times"
        ),
        Moment(
            name="SubagentStop",
            claude="SubagentStop",
            proof=READ,
            refused_by=(AnswerForm.BLOCK,),
            note="not for the general-purpose agent",
        ),
        *observed(READ, *_OBSERVED),
        Moment(name="ErrorOccurred", claude="StopFailure", proof=READ, exported=False),
    ),
    fields=(
        *same_fields(RUN, "session_id", "cwd", "stop_hook_active"),
        *absent_fields(RUN, "permission_mode", "tool_use_id", "last_assistant_message", "agent_id", "agent_type"),
        FieldMap("transcript_path", "transcript_path", RUN, "at the end of a turn only, in Copilot's own format"),
        FieldMap("tool_name", "tool_name", RUN, "Claude Code's names for an event in PascalCase"),
        FieldMap("tool_input", "tool_input", RUN, "Copilot's keys: `path`, `file_text`, `old_str`, `new_str`"),
        FieldMap("tool_response", "tool_result", RUN, "`{result_type, text_result_for_llm}`"),
    ),
    tools=(
        ToolMap(name="Bash", claude="Bash", proof=RUN, needs=("command",)),
        ToolMap(name="Read", claude="Read", proof=RUN, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="Write", claude="Write", proof=RUN, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="Edit", claude="Edit", proof=RUN, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="Grep", claude="Grep", proof=RUN),
        ToolMap(name="Glob", claude="Glob", proof=RUN),
        ToolMap(name="WebFetch", claude="WebFetch", proof=READ),
        ToolMap(name="Agent", claude="Agent", proof=READ),
        *(
            msgspec.structs.replace(tool, note=f"VS Code, which also loads these files; {tool.note}".rstrip("; "))
            for tool in VSCODE.tools
        ),
    ),
    matching=MatcherRules(rule=MatcherRule.ANCHORED, proof=READ),
    answers=AnswerRules(
        proof=RUN,
        on_failure=AnswerEffect.REFUSED,
        decision=False,
        ask=AnswerEffect.REFUSED,
        asks=True,
        rewrite="updatedInput",
        block_replaces_output=True,
        note="`decision: block` does not refuse a call, and neither does `continue: false`",
    ),
    clock=Clock(unit=Unit.SECONDS, default=30.0, key="timeoutSec", exported=600, proof=READ),
    files=(
        HookFile(path="/etc/github-copilot/policy.d/*.json", scope=FileScope.MANAGED, layout=Layout.FLAT, proof=READ),
        HookFile(path="~/.copilot/hooks/*.json", scope=FileScope.USER, layout=Layout.FLAT, proof=RUN),
        HookFile(path="~/.copilot/settings.json", scope=FileScope.USER, layout=Layout.FLAT, proof=READ),
        HookFile(path=".github/hooks/*.json", scope=FileScope.PROJECT, layout=Layout.FLAT, proof=READ),
        HookFile(path=".github/copilot/settings.json", scope=FileScope.PROJECT, layout=Layout.FLAT, proof=READ),
        HookFile(path=".github/copilot/settings.local.json", scope=FileScope.PROJECT, layout=Layout.FLAT, proof=READ),
        HookFile(
            path=".claude/settings.json",
            scope=FileScope.CLAUDE,
            layout=Layout.GROUPS,
            proof=RUN,
            note="in a trusted folder",
        ),
        HookFile(path=".claude/settings.local.json", scope=FileScope.CLAUDE, layout=Layout.GROUPS, proof=READ),
    ),
    unique_fields=("timestamp",),
    handler_keys=("type", "bash", "powershell", "command", "cwd", "env", "timeoutSec", "matcher"),
    unknown_event=UnknownEvent.UNSEEN,
    order="one after another; any denial refuses",
    trust="folder trust for the hooks of a repository",
    environment=("COPILOT_PROJECT_DIR", "COPILOT_HOOK_DIR", "COPILOT_CLI", "CLAUDE_PROJECT_DIR"),
    traps=(
        "the spelling of an event chooses the payload: `preToolUse` gets camelCase fields and Copilot's tool names",
        "a `prompt` hook submits a text instead of judging one",
        "the cloud agent reads `.github/hooks` only, and `ask` is a denial there",
    ),
)
