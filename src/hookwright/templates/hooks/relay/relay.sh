#!/usr/bin/env bash
# Post the event's name, tool and session to a dashboard on this machine; prints nothing, so it cannot interfere.
# Names and ids only: no input, no prompt, no output leaves the session.
set -u

command -v jq >/dev/null || { echo "relay needs jq, which is not installed." >&2; exit 1; }

jq -c 'with_entries(select(.key | IN("hook_event_name", "session_id", "tool_name", "agent_type", "cwd")))' |
  curl --silent --max-time 2 --header 'Content-Type: application/json' --data-binary @- \
    -- "${RELAY_URL:-http://127.0.0.1:4040/events}" >/dev/null 2>&1
exit 0
