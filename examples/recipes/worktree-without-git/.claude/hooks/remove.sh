#!/bin/sh
path=$(jq -r '.worktree_path')
case $path in
  "$CLAUDE_PROJECT_DIR"/.worktrees/?*) rm -r -- "$path" ;;
  *) echo "not ours: $path" >&2; exit 1 ;;
esac
