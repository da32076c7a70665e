"""MCP servers: their configuration, connections and values."""
