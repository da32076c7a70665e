#!/usr/bin/env bash
# Keep credentials out of prompts, files and commands (UserPromptSubmit and PreToolUse).
set -u

refuse() {
  printf '%s\n' "$1" >&2
  exit 2
}

command -v jq >/dev/null || refuse "secret-guard needs jq, which is not installed."

# What credentials look like; precise on purpose, because a guard that cries wolf is switched off.
found=$(jq -r '
  [(if .hook_event_name == "UserPromptSubmit" then .prompt else .tool_input end) | .. | strings] as $texts
  | [
      ["an AWS access key", "\\bAKIA[0-9A-Z]{16}\\b"],
      ["a GitHub token", "\\bgh[pousr]_[A-Za-z0-9]{36,}\\b"],
      ["a Slack token", "\\bxox[abprs]-[A-Za-z0-9-]{20,}"],
      ["an API key", "\\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}"],
      ["a Google API key", "\\bAIza[0-9A-Za-z_-]{35}\\b"],
      ["a private key", "-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"]
    ]
  | map(select(.[1] as $pattern | any($texts[]; test($pattern))))
  | first[0] // ""') || refuse "secret-guard cannot read the event."

if [ -n "$found" ]; then
  refuse "This contains $found. Put it in an environment variable and use its name."
fi
