#!/usr/bin/env bash
# Write one JSON line for every event to `.claude/logs/audit.jsonl`; it records and never decides anything.
set -u
umask 077

command -v jq >/dev/null || { echo "audit-log needs jq, which is not installed." >&2; exit 1; }
folder=${CLAUDE_PROJECT_DIR:-.}/.claude/logs
mkdir -p "$folder" || exit 1
if [ ! -e "$folder/.gitignore" ]; then
  echo '*' >"$folder/.gitignore"
fi

jq -c '
  def short:
    (if type == "string" then . else tojson end)
    | gsub("AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|sk-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{20,}"; "[redacted]")
    | gsub("(?i)(password|token|secret|api[_-]?key)[\"\u0027]?\\s*[:=]\\s*[\"\u0027]?[^\\s\"\u0027]{6,}"; "[redacted]")
    | .[:2000];
  {time: (now | todate), session: .session_id, event: .hook_event_name}
  + with_entries(select(.key | IN("agent_type", "tool_name", "permission_mode", "duration_ms")))
  + (with_entries(select(.key | IN("prompt", "tool_input", "error"))) | map_values(short))
' >>"$folder/audit.jsonl"
