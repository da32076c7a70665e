#!/usr/bin/env bash
# Format the file just written (PostToolUse); silent unless the formatter fails.
set -u

command -v jq >/dev/null || { echo "format-on-edit needs jq, which is not installed." >&2; exit 1; }
path=$(jq -r '.tool_input.file_path // ""') || exit 1
[ -f "$path" ] || exit 0
cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1
PATH=$PWD/node_modules/.bin:$PATH

case "$path" in
  *.py | *.pyi) format=(ruff format --quiet) ;;
  *.go) format=(gofmt -w) ;;
  *.rs) format=(rustfmt) ;;
  *.sh | *.bash) format=(shfmt -w) ;;
  *.js | *.jsx | *.ts | *.tsx | *.css | *.html | *.json | *.md | *.yaml | *.yml) format=(prettier --write) ;;
  *) exit 0 ;;
esac
command -v "${format[0]}" >/dev/null || exit 0

if ! said=$("${format[@]}" "$path" </dev/null 2>&1 >/dev/null); then
  jq -cn --arg path "$path" --arg name "${format[0]}" --arg said "$(tail -c 1500 <<<"$said")" '{hookSpecificOutput: {
    hookEventName: "PostToolUse", additionalContext: "\($name) could not format \($path):\n\($said)"}}'
fi
exit 0
