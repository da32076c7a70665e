"""Logs of other agents, read as the payloads that the agents would have sent to hooks."""
