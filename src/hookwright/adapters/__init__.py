"""Claude Code hooks in other agent frameworks.

| module | contents |
|---|---|
| `bridge` | `Bridge`: one session of hooks for many conversations, from any thread; `Setup` |
| `turn` | `Turn`: one run of an agent, moment by moment, and the orders that hooks give |
| `orders` | what an adapter has to do: `Before`, `After`, `Prompted`, `Requested`, `Stopped` |
| `tools` | Claude's names, inputs and outputs of native tools, and the way back |
| `reconcile` | tool results that no hook was asked about |
| `portal` | the thread in which hooks run |
| `moments` | one law for the plain and the async form of a framework's methods |

An adapter is imported by its own name, as `hookwright.adapters.pydantic_ai`, and needs its framework.
"""

from hookwright.adapters.bridge import Bridge, BridgeSetup, Choices
from hookwright.adapters.orders import After, Before, NativeCall, Prompted, Requested, StartOrder, Stopped
from hookwright.adapters.portal import Pending
from hookwright.adapters.reconcile import SeenResult
from hookwright.adapters.tools import Tool, ToolTable
from hookwright.adapters.turn import Turn

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
