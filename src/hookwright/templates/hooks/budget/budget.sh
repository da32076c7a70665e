#!/usr/bin/env bash
# Count the calls of expensive tools in one session (PreToolUse) and refuse those over the budget.
set -u
umask 077

command -v jq >/dev/null || { echo "budget needs jq, which is not installed." >&2; exit 1; }
event=$(cat)
tool=$(jq -r .tool_name <<<"$event") || exit 1
session=$(jq -r '.session_id | gsub("[^A-Za-z0-9_-]"; "_")' <<<"$event")

case "$tool" in
  WebSearch) budget=20 ;;
  WebFetch) budget=40 ;;
  Agent) budget=10 ;;
  *) exit 0 ;;
esac

folder=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/budget
mkdir -p "$folder" || exit 1
exec 9<>"$folder/$session-$tool"
flock 9
read -r used <&9 || true
case "${used:=0}" in *[!0-9]*) used=0 ;; esac
if [ "$used" -ge "$budget" ]; then
  echo "The budget of $budget $tool calls for this session is used up." >&2
  exit 2
fi
printf '%s\n' "$((used + 1))" >"$folder/$session-$tool"
