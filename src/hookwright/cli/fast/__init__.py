"""The daemon's commands, and what it does for its callers."""
