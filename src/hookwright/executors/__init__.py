"""Run handlers: one module for each kind, and the processes beneath."""
