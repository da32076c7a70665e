"""The reference agent: a small, real coding agent with hooks at every point."""
