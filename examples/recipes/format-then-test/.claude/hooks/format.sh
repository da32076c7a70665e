#!/bin/sh
# First: format. Run with the engine's sequential order.
sleep 0.2
echo formatted >> "$CLAUDE_PROJECT_DIR/order.log"
