#!/bin/sh
# Then: test what was formatted.
grep -q formatted "$CLAUDE_PROJECT_DIR/order.log" || { echo "tested before it was formatted" >&2; exit 2; }
echo tested >> "$CLAUDE_PROJECT_DIR/order.log"
