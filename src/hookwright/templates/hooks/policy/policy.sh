#!/usr/bin/env bash
# Apply the rules of `.claude/policy.json` to a tool call (PreToolUse).
#
# A rule has `tool` (pattern for the whole name), `field` (of the input; without it the whole input), `pattern`,
# `decision` (deny or ask) and `reason`. The first deny wins, then the first ask. A broken file refuses everything, so
# that a typo never switches the policy off.
set -u

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

command -v jq >/dev/null || refuse "policy needs jq, which is not installed."
rules=${CLAUDE_PROJECT_DIR:-.}/.claude/policy.json
[ -e "$rules" ] || exit 0

answer=$(jq -c --slurpfile rules "$rules" '
  . as $event
  | [$rules[0][] | . as $rule
      | select($event.tool_name | test("^(?:\($rule.tool // ".*"))$"))
      | (if $rule.field then $event.tool_input[$rule.field] // "" else $event.tool_input end) as $value
      | select(($value | if type == "string" then . else tojson end) | test($rule.pattern))]
  | (map(select(.decision == "deny")) + map(select(.decision != "deny")))[0] // empty
  | {hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision: (if .decision == "deny" then "deny" else "ask" end),
      permissionDecisionReason: (.reason // "the policy has a rule for \(.pattern)")
    }}' 2>&1) || refuse ".claude/policy.json is not valid ($answer); everything is refused until it is fixed."
printf '%s\n' "$answer"
