#!/bin/sh
# Run the tests while the agent continues; the result reaches the model on a later turn.
cat > /dev/null
cd "$CLAUDE_PROJECT_DIR" || exit 0
if output=$(python3 -m unittest discover -q 2>&1); then
  result="tests pass"
else
  result="tests fail: $output"
fi
jq -n --arg text "$result" '{hookSpecificOutput: {hookEventName: "PostToolUse", additionalContext: $text}}'
