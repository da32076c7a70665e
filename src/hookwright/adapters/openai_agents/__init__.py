"""Hooks in the OpenAI Agents SDK: `install(".")`.

| module | contents |
|---|---|
| `runner` | `install`, `HookedRunner`: a runner of the SDK with hooks |
| `run` | one run of an agent, and what happens around each of its tool calls |
| `tools` | functions, shells and custom tools with hooks around them |
| `patches` | the SDK's own patch tool with hooks around it |
| `values` | between the items of the SDK and what hooks read |
"""

from hookwright.adapters.openai_agents.runner import HookedRunner, install, uninstall

__all__ = ["HookedRunner", "install", "uninstall"]
