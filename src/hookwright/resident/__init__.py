"""A daemon per user and installation that answers commands without the start of Python, and its client."""
