"""Declarative cases for hooks: the event, the expected result, and the report."""
