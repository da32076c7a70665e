#!/usr/bin/env bash
# Let subagents write only inside the project (PreToolUse); the main agent is not affected.
set -u

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

command -v jq >/dev/null || refuse "subagent-scope needs jq, which is not installed."
event=$(cat)
agent=$(jq -r '.agent_id // ""' <<<"$event") || refuse "subagent-scope cannot read the event."
[ -n "$agent" ] || exit 0

cwd=$(jq -r .cwd <<<"$event")
given=$(jq -r '.tool_input.file_path // .tool_input.notebook_path // ""' <<<"$event")
who=$(jq -r '.agent_type // "A subagent"' <<<"$event")
project=$(realpath -m -- "${CLAUDE_PROJECT_DIR:-$cwd}")
case "$given" in /*) path=$(realpath -m -- "$given") ;; *) path=$(realpath -m -- "$cwd/$given") ;; esac

case "$path" in
  "$project"/.claude/*) refuse "$who may not change .claude; report what should change instead." ;;
  "$project"/*) exit 0 ;;
esac
refuse "$who may only write inside the project, and $path is outside."
