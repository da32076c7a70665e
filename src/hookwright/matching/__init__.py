"""Which handlers apply to an event: matchers, `if` conditions and the languages they are written in."""
