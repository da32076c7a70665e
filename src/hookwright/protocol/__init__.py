"""The nouns of the hooks protocol and its wire format: events, handlers, replies, outcomes, diagnostics."""
