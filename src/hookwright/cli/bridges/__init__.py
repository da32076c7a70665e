"""Commands that connect other coding agents to the hooks of Claude Code."""
