#!/bin/sh
# One JSON line for each event.
dir="$CLAUDE_PROJECT_DIR/.claude/logs"
mkdir -p "$dir"
jq -c '{at: (now | todate), event: .hook_event_name, session: .session_id, tool: .tool_name, input: .tool_input}' \
  >> "$dir/audit.jsonl"
exit 0
