"""GitHub Copilot CLI and its cloud agent."""

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

VERSION = "2026-08"
READ = Proof(Evidence.DOCUMENTED, VERSION, VERSION, "github/docs:content/copilot/reference/hooks-reference.md")
TOLD = Proof(Evidence.REPORTED, VERSION, VERSION, "github/copilot-cli issues 2540, 3874")

_OBSERVED = ("SessionStart", "SessionEnd", "PostToolUseFailure", "SubagentStart", "PreCompact", "Notification")
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
    version=VERSION,
    proof=READ,
    moments=(
        Moment(
            name="PreToolUse",
            claude="PreToolUse",
            proof=READ,
            refused_by=(AnswerForm.EXIT_2, AnswerForm.DENY),
            note="every exit status but 0 refuses; a time-out does not",
        ),
        Moment(
            name="UserPromptSubmit", claude="UserPromptSubmit", proof=READ, note="the answer of a command is dropped"
        ),
        Moment(
            name="PermissionRequest",
            claude="PermissionRequest",
            proof=READ,
            exported=False,
            note="fires before the agent's own rules",
        ),
        Moment(name="PostToolUse", claude="PostToolUse", proof=READ, context=True),
        Moment(name="Stop", claude="Stop", proof=READ, refused_by=(AnswerForm.BLOCK,), note="at most 8 times"),
        Moment(
            name="SubagentStop",
            claude="SubagentStop",
            proof=READ,
            refused_by=(AnswerForm.BLOCK,),
            note="not for the general-purpose agent",
        ),
        *(Moment(name=name, claude=name, proof=READ, note="observed only") for name in _OBSERVED),
        Moment(name="ErrorOccurred", claude="StopFailure", proof=READ, exported=False),
    ),
    fields=(
        FieldMap("session_id", "session_id", READ),
        FieldMap("transcript_path", "", READ),
        FieldMap("cwd", "cwd", READ),
        FieldMap("permission_mode", "", READ),
        FieldMap("tool_name", "tool_name", READ, "Claude Code's names for an event in PascalCase"),
        FieldMap("tool_input", "tool_input", READ, "its keys are not documented"),
        FieldMap("tool_use_id", "", READ),
        FieldMap("tool_response", "tool_result", READ, "`{result_type, text_result_for_llm}`"),
        FieldMap("stop_hook_active", "stop_hook_active", READ),
        FieldMap("last_assistant_message", "", READ),
        FieldMap("agent_id", "", READ),
        FieldMap("agent_type", "", READ),
    ),
    tools=(
        ToolMap(name="Bash", claude="Bash", proof=READ, needs=("command",)),
        ToolMap(name="Read", claude="Read", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="Write", claude="Write", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="Edit", claude="Edit", proof=READ, keys=_FILE_KEYS, needs=("file_path",)),
        ToolMap(name="Grep", claude="Grep", proof=READ),
        ToolMap(name="Glob", claude="Glob", proof=READ),
        ToolMap(name="WebFetch", claude="WebFetch", proof=READ),
        ToolMap(name="Agent", claude="Agent", proof=READ),
    ),
    matching=MatcherRules(rule=MatcherRule.ANCHORED, proof=READ),
    answers=AnswerRules(
        proof=READ,
        on_failure=AnswerEffect.REFUSED,
        decision=False,
        note="`ask` and a rewrite are documented for camelCase events only, so both become a refusal",
    ),
    clock=Clock(unit=Unit.SECONDS, default=30.0, key="timeoutSec", exported=600, proof=READ),
    files=(
        HookFile(path="/etc/github-copilot/policy.d/*.json", scope=FileScope.MANAGED, layout=Layout.FLAT, proof=READ),
        HookFile(path="~/.copilot/hooks/*.json", scope=FileScope.USER, layout=Layout.FLAT, proof=READ),
        HookFile(path="~/.copilot/settings.json", scope=FileScope.USER, layout=Layout.FLAT, proof=READ),
        HookFile(path=".github/hooks/*.json", scope=FileScope.PROJECT, layout=Layout.FLAT, proof=READ),
        HookFile(path=".github/copilot/settings.json", scope=FileScope.PROJECT, layout=Layout.FLAT, proof=READ),
        HookFile(path=".github/copilot/settings.local.json", scope=FileScope.PROJECT, layout=Layout.FLAT, proof=READ),
        HookFile(path=".claude/settings.json", scope=FileScope.CLAUDE, layout=Layout.GROUPS, proof=READ),
        HookFile(path=".claude/settings.local.json", scope=FileScope.CLAUDE, layout=Layout.GROUPS, proof=READ),
    ),
    handler_keys=("type", "bash", "powershell", "command", "cwd", "env", "timeoutSec", "matcher"),
    unknown_event=UnknownEvent.UNSEEN,
    order="one after another; any denial refuses",
    trust="folder trust for the hooks of a repository",
    traps=(
        "the spelling of an event chooses the payload: `preToolUse` gets camelCase fields and Copilot's tool names",
        "a `prompt` hook submits a text instead of judging one",
        "the cloud agent reads `.github/hooks` only, and `ask` is a denial there",
    ),
)
