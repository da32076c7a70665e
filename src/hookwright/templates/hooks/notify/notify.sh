#!/usr/bin/env bash
# Show a desktop notification (Notification and Stop); without a notifier, ring the terminal bell.
# The message is passed to the notifier as an argument and never becomes part of a script.
set -u

command -v jq >/dev/null || { echo "notify needs jq, which is not installed." >&2; exit 1; }
message=$(jq -r '.message // "The agent is done."') || exit 1
project=${CLAUDE_PROJECT_DIR:-$PWD}
title="Claude Code: ${project##*/}"

if command -v notify-send >/dev/null; then
  notify-send -- "$title" "$message" >/dev/null 2>&1
elif command -v osascript >/dev/null; then
  osascript -e 'on run argv' -e 'display notification (item 2 of argv) with title (item 1 of argv)' -e 'end run' \
    "$title" "$message" >/dev/null 2>&1
else
  printf '{"terminalSequence": "\\u0007"}\n'
fi
exit 0
