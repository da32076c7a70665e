"""The life of a prompt: submission, the model loop, tool calls, permission, compaction and what ends a turn."""
