"""What the events read and may leave out, as far as an author's answer depends on it."""

from __future__ import annotations

#: Event → the field that it can be narrowed by (`-` for none), then what of an answer it reads. A test keeps this equal
#: to the catalogue, which costs too much to import here.
EVENTS: dict[str, str] = {
    "SessionStart": "source context message",
    "Setup": "trigger",
    "InstructionsLoaded": "load_reason",
    "UserPromptSubmit": "- block stop context message",
    "UserPromptExpansion": "command_name block stop context message",
    "MessageDisplay": "-",
    "PreToolUse": "tool_name permission defer block stop context message updated_input",
    "PermissionRequest": "tool_name request block message updated_input",
    "PermissionDenied": "tool_name message",
    "PostToolUse": "tool_name block stop context message updated_tool_output",
    "PostToolUseFailure": "tool_name block context message",
    "PostToolBatch": "- block stop context message",
    "Notification": "notification_type",
    "SubagentStart": "agent_type context message",
    "SubagentStop": "agent_type block stop context message",
    "TaskCreated": "- block message",
    "TaskCompleted": "- block stop message",
    "Stop": "- block stop context message",
    "StopFailure": "error",
    "TeammateIdle": "- block stop message",
    "ConfigChange": "source block",
    "CwdChanged": "- message",
    "DirectoryAdded": "source message",
    "FileChanged": "file_path message",
    "WorktreeCreate": "-",
    "WorktreeRemove": "-",
    "PreCompact": "trigger block",
    "PostCompact": "trigger",
    "PreModelSwitch": "to_model permission block message",
    "PostModelSwitch": "to_model context message",
    "Elicitation": "mcp_server_name block",
    "ElicitationResult": "mcp_server_name block",
    "SessionEnd": "reason",
}

_MAY_BE_MISSING = """
    prompt_id agent_id agent_type effort permission_mode model session_title seconds_since_last_response
    context_tokens prompt_cache_likely_expired estimated_cache_write_usd globs trigger_file_path parent_file_path
    command_source turn_id message_id mcp_server permission_suggestions duration_ms is_interrupt title
    agent_transcript_path last_assistant_message background_tasks session_crons task_description teammate_name
    team_name error_details file_path requested_model prompt_cache_warm cache_ttl pricing mode url elicitation_id
    requested_schema content
"""

#: Fields that an event may leave out; reading one that is not there gives None. A test keeps this equal, too.
OPTIONAL = frozenset(_MAY_BE_MISSING.split())
