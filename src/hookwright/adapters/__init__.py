"""Claude Code hooks in other agent frameworks."""
