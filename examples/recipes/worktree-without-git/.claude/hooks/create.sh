#!/bin/sh
# Any version control will do: the last line on stdout is the path of the new worktree.
name=$(jq -r '.name')
target="$CLAUDE_PROJECT_DIR/.worktrees/$name"
mkdir -p "$target" || exit 1
cp "$CLAUDE_PROJECT_DIR"/*.txt "$target"/ 2>/dev/null
echo "created from a copy" >&2
echo "$target"
