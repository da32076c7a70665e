#!/usr/bin/env bash
# Give the model its context (SessionStart): git facts, then `.claude/context.md`; again after a compaction.
# On this event all output becomes context for the model.
set -u

cat >/dev/null
cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1

facts() {
  if branch=$(git symbolic-ref --short -q HEAD 2>/dev/null || git rev-parse --short HEAD 2>/dev/null); then
    printf 'Git branch: %s\n' "$branch"
    changes=$(git --no-optional-locks status --short | head -n 20)
    if [ -n "$changes" ]; then
      printf '\nUncommitted changes:\n%s\n' "$changes"
    fi
    commits=$(git log --oneline -5 2>/dev/null)
    if [ -n "$commits" ]; then
      printf '\nLast commits:\n%s\n' "$commits"
    fi
  fi
  if [ -f .claude/context.md ]; then
    printf '\n'
    cat .claude/context.md
  fi
}

# Above 10,000 characters the model would only see a preview.
facts | head -c 8000
