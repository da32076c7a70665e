#!/usr/bin/env bash
# Runs the tests beside the work; the result comes with the next turn.
cd "$CLAUDE_PROJECT_DIR" || exit 0
if output=$(timeout 100 pytest -q -x 2>&1); then
  message="Tests pass."
else
  message=$(tail -n 20 <<<"$output")
fi
jq -n --arg message "$message" '{
  hookSpecificOutput: {hookEventName: "PostToolUse", additionalContext: $message}
}'
