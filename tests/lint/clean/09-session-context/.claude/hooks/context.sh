#!/usr/bin/env bash
# What every session should know about the repository.
cd "$CLAUDE_PROJECT_DIR" || exit 0
echo "Branch: $(git branch --show-current 2>/dev/null)"
echo "Recent commits:"
git log --oneline -5 2>/dev/null
echo
if [ -f TODO.md ]; then
  echo "Open tasks (TODO.md):"
  grep -E '^- \[ \]' TODO.md | head -20
fi
exit 0
