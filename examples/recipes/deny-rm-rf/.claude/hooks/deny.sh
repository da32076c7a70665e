#!/bin/sh
# Deny a recursive forced removal, however its flags are spelled and ordered.
command=$(jq -r '.tool_input.command') || exit 1
set -f
removes='' recursive='' forced=''
for word in $(printf '%s' "$command" | tr ';&|()`' ' '); do
  case $word in
    rm | */rm) removes=yes ;;
    --recursive) recursive=yes ;;
    --force) forced=yes ;;
    --*) ;;
    -*[rR]*f* | -*f*[rR]*) recursive=yes forced=yes ;;
    -*[rR]*) recursive=yes ;;
    -*f*) forced=yes ;;
  esac
done
if [ "$removes$recursive$forced" = yesyesyes ]; then
  jq -n '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny",
          permissionDecisionReason: "rm -rf is not allowed here; delete named files one by one"}}'
fi
