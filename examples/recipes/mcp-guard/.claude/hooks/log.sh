#!/bin/sh
# Every call of one server leaves a line.
jq -c '{tool: .tool_name, input: .tool_input}' >> "$CLAUDE_PROJECT_DIR/mcp.jsonl"
