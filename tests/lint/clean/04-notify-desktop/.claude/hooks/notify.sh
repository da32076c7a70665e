#!/usr/bin/env bash
# Desktop notification on Linux and macOS; silent anywhere else.
message=${1:-$(jq -r '.message // "Claude needs you"')}
if command -v notify-send >/dev/null; then
  notify-send "Claude Code" "$message"
elif command -v terminal-notifier >/dev/null; then
  terminal-notifier -title "Claude Code" -message "$message"
fi
exit 0
