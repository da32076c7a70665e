"""One tool call on its way from the model to its result, and what hooks say to the model about it."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from hookwright.agent.permissions import ToolCall
from hookwright.agent.state.actor import Actor
from hookwright.agent.tools import Tool
from hookwright.agent.transcript import CallContext
from hookwright.models.types import Block
from hookwright.protocol.events import Event
from hookwright.protocol.jsontext import Json
from hookwright.protocol.outcome import Outcome

E = TypeVar("E", bound=Event)


class ToolRequest(msgspec.Struct, frozen=True):
    """A call whose input fits its tool. Hooks and the user may replace the arguments, never the call."""

    actor: Actor
    tool: Tool
    #: The call as the model made it.
    call: Block
    #: The input the tool would run with.
    arguments: dict[str, Json]
    #: What hooks say to the model, in order. Requests made with `using` share this list, so it is complete whatever
    #: rewrites the arguments.
    texts: list[str] = msgspec.field(default_factory=list)

    @property
    def id(self) -> str:
        """The id of the call."""
        return str(self.call["id"])

    def using(self, arguments: dict[str, Json]) -> ToolRequest:
        """Return the request with other arguments, paths absolute and defaults filled in."""
        normal = self.tool.normalise(arguments, self.actor.context.cwd, self.actor.session.home)
        return msgspec.structs.replace(self, arguments=normal)

    def record(self, outcome: Outcome, context: CallContext | None = None) -> None:
        """Write a firing to disk and collect what it says to the model."""
        self.texts.extend(self.actor.dialogue.record_firing(outcome, self.id, context))

    def event(self, cls: type[E], **fields: Any) -> E:
        """Build an event about this call."""
        return self.actor.event(
            cls,
            tool_name=self.tool.name,
            tool_input=dict(self.arguments),
            mcp_server=self.actor.session.server_of(self.tool.name) or UNSET,
            **({"tool_use_id": self.id} if "tool_use_id" in cls.__struct_fields__ else {}),
            **fields,
        )

    def for_rules(self) -> ToolCall:
        """Return the call as permission rules see it."""
        return ToolCall.of(self.tool, self.arguments, self.actor.context.cwd)
