"""Screens that cover the conversation."""
