"""Which handlers an event is for: matchers, `if` conditions and the languages they are written in."""
