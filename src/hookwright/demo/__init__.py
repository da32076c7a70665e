"""The demo: its command, its project and its scripted model."""
