"""Screens that lie over the conversation."""
