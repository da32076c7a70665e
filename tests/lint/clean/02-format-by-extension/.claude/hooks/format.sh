#!/usr/bin/env bash
# Formats the file that was just edited, by its extension.
set -euo pipefail

input=$(cat)
file=$(jq -r '.tool_input.file_path // empty' <<<"$input")
[[ -n "$file" && -f "$file" ]] || exit 0

case "$file" in
  *.py) ruff format --quiet "$file" && ruff check --fix --quiet "$file" ;;
  *.ts | *.tsx | *.js | *.jsx | *.json | *.css | *.md) npx prettier --write --log-level warn "$file" ;;
  *.go) gofmt -w "$file" ;;
  *.rs) rustfmt "$file" ;;
  *.sh) shfmt -w "$file" ;;
esac
