"""What each event reads of an answer, and what a payload may omit.

Written by tools/generate.py from the catalogue of events; do not edit.
"""

from __future__ import annotations

#: Event → the field it can be narrowed by (`-` for none), then the parts of an answer it reads. The catalogue itself
#: takes too long to import for a hook.
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

#: Events narrowed by the file name of a path.
BASENAMES = frozenset({"FileChanged"})

_MAY_BE_MISSING = """
    prompt_id agent_id agent_type effort model session_title seconds_since_last_response context_tokens
    prompt_cache_likely_expired estimated_cache_write_usd globs trigger_file_path parent_file_path permission_mode
    command_source turn_id message_id mcp_server permission_suggestions duration_ms is_interrupt title
    agent_transcript_path last_assistant_message background_tasks session_crons task_description teammate_name
    team_name error_details file_path requested_model prompt_cache_warm cache_ttl pricing mode url elicitation_id
    requested_schema content
"""

#: Fields a payload may omit; reading one that is missing returns None.
OPTIONAL = frozenset(_MAY_BE_MISSING.split())
