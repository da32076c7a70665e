#!/bin/sh
# Plain text at session start is context for the model.
cd "$CLAUDE_PROJECT_DIR" || exit 0
git rev-parse --git-dir > /dev/null 2>&1 || exit 0
echo "Branch: $(git branch --show-current)"
echo "Status:"
git status --short
