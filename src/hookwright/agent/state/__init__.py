"""The state of a session: its options, its conversation, its model, its inbox and what it reports."""
