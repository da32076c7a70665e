#!/bin/bash
# Persist what a version manager changes, by comparing the environment before and after.
before=$(export -p | sort)
source "$CLAUDE_PROJECT_DIR/.claude/hooks/version-manager.sh"
after=$(export -p | sort)
comm -13 <(printf '%s\n' "$before") <(printf '%s\n' "$after") >> "$CLAUDE_ENV_FILE"
