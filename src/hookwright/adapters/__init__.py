"""Claude Code hooks in other agent frameworks.

| module | contents |
|---|---|
| `bridge/` | `Bridge`, and what it needs for conversations, turns, orders and reconciliation |
| `tools` | Claude's names, inputs and outputs of native tools, and the way back |
| `catalogue` | the adapters there are, with the versions tried |
| `gateway/` | hooks in front of an MCP server |

An adapter is imported by its own name, as `hookwright.adapters.pydantic_ai`, and needs its framework.
"""

from hookwright.adapters.bridge.bridge import Bridge, BridgeSetup, Choices
from hookwright.adapters.bridge.orders import After, Before, NativeCall, Prompted, Requested, StartOrder, Stopped
from hookwright.adapters.bridge.portal import Pending
from hookwright.adapters.bridge.reconcile import SeenResult
from hookwright.adapters.bridge.turn import Turn
from hookwright.adapters.tools import Tool, ToolTable

__all__ = [
    "After",
    "Before",
    "Bridge",
    "BridgeSetup",
    "Choices",
    "NativeCall",
    "Pending",
    "Prompted",
    "Requested",
    "SeenResult",
    "StartOrder",
    "Stopped",
    "Tool",
    "ToolTable",
    "Turn",
]
