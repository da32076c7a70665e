"""Python hooks without starting Python: forks of a held interpreter, and resident workers (docs/workers.md)."""
