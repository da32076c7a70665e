#!/usr/bin/env bash
# Send the agent back to work while the checks fail (Stop), once per turn: it never loops.
#
# The check is an executable `.claude/check`, else `make check`, else `npm test`, whichever the project has.
set -u

command -v jq >/dev/null || { echo "stop-until-green needs jq, which is not installed." >&2; exit 1; }
event=$(cat)
cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1

if [ -x .claude/check ]; then
  check=(.claude/check)
elif grep -Eqs '^check[[:space:]]*:' Makefile makefile; then
  check=(make --no-print-directory check)
elif [ -f package.json ]; then
  check=(npm test --silent)
else
  exit 0
fi

if output=$("${check[@]}" </dev/null 2>&1); then
  exit 0
fi
if [ "$(jq -r '.stop_hook_active' <<<"$event")" = true ]; then
  jq -cn --arg check "${check[*]}" '{systemMessage: "`\($check)` still fails; the agent stopped anyway."}'
  exit 0
fi
tail -n 40 <<<"$output" | jq -cRs --arg check "${check[*]}" \
  '{decision: "block", reason: "`\($check)` fails. Fix it before you stop:\n\(rtrimstr("\n"))"}'
