"""Read JavaScript hook scripts into the linter's intermediate form."""
