"""Replay: fire the events of past sessions at hooks, and compare what hooks say now with what happened then."""
