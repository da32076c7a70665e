#!/bin/sh
# Only while the skill is active: refuse commands that reach production directly.
if jq -r '.tool_input.command' | grep -q 'production'; then
  echo "production is deployed by make deploy only" >&2
  exit 2
fi
