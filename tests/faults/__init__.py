"""Hostile hooks and environments, each with what must come of it: `make faults` runs them all and prints a table."""
