#!/usr/bin/env bash
# Run the tests in the background after an edit (PostToolUse, async); ten quick edits start one run, not ten.
#
# The tests are an executable `.claude/test`, else `make test`, else `npm test`, whichever the project has.
set -u

command -v jq >/dev/null || { echo "async-tests needs jq, which is not installed." >&2; exit 1; }
cat >/dev/null
cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1

if [ -x .claude/test ]; then
  tests=(.claude/test)
elif grep -Eqs '^test[[:space:]]*:' Makefile makefile; then
  tests=(make --no-print-directory test)
elif [ -f package.json ]; then
  tests=(npm test --silent)
else
  exit 0
fi

# The process with the lock waits a moment before it starts, so it includes this edit.
mkdir -p .claude/logs || exit 1
exec 9>.claude/logs/async-tests.lock
flock -n 9 || exit 0
sleep 1
if ! output=$("${tests[@]}" </dev/null 2>&1 9>&-); then
  tail -n 40 <<<"$output" | jq -cRs '{
    systemMessage: "tests fail",
    hookSpecificOutput: {
      hookEventName: "PostToolUse",
      additionalContext: "The tests fail after your last edits:\n\(rtrimstr("\n"))"
    }
  }'
fi
