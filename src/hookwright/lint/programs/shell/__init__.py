"""Read shell hook scripts into the linter's intermediate form."""
