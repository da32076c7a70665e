#!/bin/sh
# Show a desktop notification, or write a line where there is no desktop.
message=$(jq -r '.message')
if command -v notify-send >/dev/null 2>&1 && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  notify-send "Agent $1" "$message"
else
  printf '%s: %s\n' "$1" "$message" >> "$CLAUDE_PROJECT_DIR/.claude/notices.log"
fi
