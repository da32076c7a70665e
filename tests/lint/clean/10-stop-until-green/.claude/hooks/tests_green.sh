#!/usr/bin/env bash
# Keep going until the tests pass, once per turn.
input=$(cat)
if [ "$(jq -r '.stop_hook_active' <<<"$input")" = "true" ]; then
  exit 0
fi
cd "$CLAUDE_PROJECT_DIR" || exit 0
if ! output=$(npm test --silent 2>&1); then
  {
    echo "The tests fail. Fix them before you stop:"
    echo "$output" | tail -40
  } >&2
  exit 2
fi
