"""Start a process in its own group, read its pipes within bounds, and leave nothing of it running."""
