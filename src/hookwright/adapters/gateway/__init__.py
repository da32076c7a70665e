"""Hooks in front of an MCP server: a JSON-RPC proxy that fires them for the tool calls of any client."""
