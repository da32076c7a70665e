"""MCP servers: their configuration, their connections and the values that cross them."""
