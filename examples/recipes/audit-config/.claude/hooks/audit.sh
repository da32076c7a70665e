#!/bin/sh
# One line for every change of the configuration.
jq -c '{at: (now | todate), source, file: .file_path, session: .session_id}' >> "$CLAUDE_PROJECT_DIR/.claude/audit.jsonl"
