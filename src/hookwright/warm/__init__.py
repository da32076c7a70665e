"""Python hooks without the start of Python: forks of a held interpreter, and workers that stay (docs/workers.md)."""
