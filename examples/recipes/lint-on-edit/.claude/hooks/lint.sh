#!/bin/sh
# Lint the file that was just written; findings go back to the model.
file=$(jq -r '.tool_input.file_path // empty')
case $file in
  *.py) ;;
  *) exit 0 ;;
esac
if ! findings=$(python3 -m py_compile "$file" 2>&1); then
  printf '%s\n' "$findings" >&2
  exit 2
fi
