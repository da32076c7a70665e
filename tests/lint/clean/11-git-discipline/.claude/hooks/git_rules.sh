#!/usr/bin/env bash
set -uo pipefail
command=$(jq -r '.tool_input.command')

deny() {
  jq -n --arg reason "$1" '{
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: $reason
    }
  }'
  exit 0
}

branch=$(git -C "$CLAUDE_PROJECT_DIR" branch --show-current 2>/dev/null || true)
if [[ "$command" =~ git[[:space:]]+commit && "$branch" =~ ^(main|master)$ ]]; then
  deny "Commits on $branch are made by pull request. Create a branch first: git switch -c topic"
fi
if [[ "$command" =~ [[:space:]]--no-verify([[:space:]]|$) ]]; then
  deny "The pre-commit checks must run. Leave out --no-verify."
fi
