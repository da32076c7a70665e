"""Read Python hook scripts into the linter's intermediate form."""
