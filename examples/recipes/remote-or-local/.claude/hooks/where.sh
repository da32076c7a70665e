#!/bin/sh
# The same hook in the cloud and on a desk.
if [ "${CLAUDE_CODE_REMOTE:-}" = true ]; then
  echo "Remote session: dependencies must be installed first."
else
  echo "Local session: use the developer's own environment."
fi
