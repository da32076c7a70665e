"""Declarative cases for hooks: what is fired, what must come of it, and how a run is told."""
