#!/usr/bin/env bash
# Puts the project's virtual environment on the PATH of later commands.
cat >/dev/null
if [ -n "${CLAUDE_ENV_FILE:-}" ] && [ -d "$CLAUDE_PROJECT_DIR/.venv" ]; then
  echo "export VIRTUAL_ENV=\"$CLAUDE_PROJECT_DIR/.venv\"" >> "$CLAUDE_ENV_FILE"
  echo "export PATH=\"$CLAUDE_PROJECT_DIR/.venv/bin:\$PATH\"" >> "$CLAUDE_ENV_FILE"
fi
exit 0
