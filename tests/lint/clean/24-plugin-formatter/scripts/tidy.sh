#!/usr/bin/env bash
file=$(jq -r '.tool_input.file_path // empty')
case "$file" in
  *.go) gofmt -w "$file" ;;
  *.py) black --quiet "$file" ;;
esac
exit 0
