"""Small changes to the pure core, each of which some test must notice."""
