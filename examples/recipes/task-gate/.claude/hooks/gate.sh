#!/bin/sh
# A task is done when its check passes.
subject=$(jq -r '.task_subject')
if [ -e "$CLAUDE_PROJECT_DIR/failing" ]; then
  echo "not done yet: the check for '$subject' fails" >&2
  exit 2
fi
