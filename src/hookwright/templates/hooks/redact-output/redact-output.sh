#!/usr/bin/env bash
# Redact credentials in a tool's result (PostToolUse); the result keeps its shape, only strings change.
set -u

command -v jq >/dev/null || { echo "redact-output needs jq, which is not installed." >&2; exit 1; }

exec jq -c '
  def secret: "\\bAKIA[0-9A-Z]{16}\\b|\\bgh[pousr]_[A-Za-z0-9]{36,}\\b|\\bxox[abprs]-[A-Za-z0-9-]{20,}"
    + "|\\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}|\\bAIza[0-9A-Za-z_-]{35}\\b"
    + "|-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\\s\\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)";
  .tool_response as $before
  | ($before | walk(if type == "string" then gsub(secret; "[redacted]") else . end)) as $after
  | if $before == $after then empty
    else {hookSpecificOutput: {hookEventName: "PostToolUse", updatedToolOutput: $after}} end'
