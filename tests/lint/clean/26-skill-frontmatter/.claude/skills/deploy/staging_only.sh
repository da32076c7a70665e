#!/usr/bin/env bash
command=$(jq -r '.tool_input.command')
if [[ "$command" =~ ENV=prod ]]; then
  echo "This skill deploys to staging only." >&2
  exit 2
fi
