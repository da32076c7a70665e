"""Commands about what already happened."""
