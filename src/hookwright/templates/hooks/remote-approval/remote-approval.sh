#!/usr/bin/env bash
# Ask a web service whether a command may run (PreToolUse); any failure means no.
#
# `.claude/approval-url` holds the address. The event is posted to it, and the answer must be a JSON object with
# `approved` (true or false) and, optionally, `reason`. Set the pattern for the commands that need approval below.
set -u
needed='\b(deploy|publish|release|terraform apply|kubectl delete)\b'
seconds=90

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

command -v jq >/dev/null || refuse "remote-approval needs jq, which is not installed."
event=$(cat)
wanted=$(jq -r --arg needed "$needed" '.tool_input.command // "" | test($needed)' <<<"$event") ||
  refuse "remote-approval cannot read the event."
[ "$wanted" = true ] || exit 0

url=$(cat "${CLAUDE_PROJECT_DIR:-.}/.claude/approval-url" 2>/dev/null) ||
  refuse "This needs approval, but .claude/approval-url does not contain an address to ask."
answer=$(jq -c '{tool: .tool_name, input: .tool_input, cwd}' <<<"$event" |
  curl --silent --show-error --fail --max-time "$seconds" --proto '=https,http' \
    --header 'Content-Type: application/json' --data-binary @- -- "$url" 2>&1) ||
  refuse "The request for approval got no answer: $answer"

verdict=$(jq -r 'if .approved == true then "yes" else .reason // "no reason was given" end' <<<"$answer" 2>/dev/null) ||
  verdict="the answer was not understood"
[ "$verdict" = yes ] || refuse "Not approved: ${verdict:-no reason was given}"
