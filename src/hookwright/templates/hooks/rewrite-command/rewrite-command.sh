#!/usr/bin/env bash
# Replace `npm` with the project's package manager (PreToolUse, Bash), in commands that only call it.
# `updatedInput` replaces the whole input, so the other fields are returned unchanged.
set -u

command -v jq >/dev/null || { echo "rewrite-command needs jq, which is not installed." >&2; exit 1; }
project=${CLAUDE_PROJECT_DIR:-.}
manager=""
if [ -e "$project/pnpm-lock.yaml" ]; then
  manager=pnpm
elif [ -e "$project/yarn.lock" ]; then
  manager=yarn
elif [ -e "$project/bun.lockb" ] || [ -e "$project/bun.lock" ]; then
  manager=bun
else
  exit 0
fi

exec jq -c --arg manager "$manager" '
  .tool_input as $given
  | (($given.command // "") | gsub("^\\s+|\\s+$"; "")
      | capture("^npm (?<verb>install|i|add|run|test)\\b(?<rest>[^;&|<>`$\\n]*)$")) // empty
  | (if (.verb | IN("install", "i")) and (.rest | test("\\S")) then "add" else .verb end) as $verb
  | {hookSpecificOutput: {
      hookEventName: "PreToolUse",
      updatedInput: ($given + {command: "\($manager) \($verb)\(.rest)"}),
      additionalContext: "This project uses \($manager); the command was changed from npm."
    }}'
