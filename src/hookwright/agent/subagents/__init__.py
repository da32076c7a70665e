"""Agents and tools that a session adds to the main agent: subagents, teammates, worktrees, MCP tools."""
