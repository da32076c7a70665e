"""Reports of a replay: for terminals, pages, programs and pull requests."""
