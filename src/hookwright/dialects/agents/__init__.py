"""The tables, one module per agent."""
