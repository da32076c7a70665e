"""The tool call that permissions decide about."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hookwright.agent.tools.tool import Effect, Tool
from hookwright.protocol.jsontext import Json


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call with its final input, and where it would run."""

    tool: str
    input: Mapping[str, Json]
    effect: Effect
    cwd: str
    #: The file or folder it reads or changes; empty if it names none.
    path: str = ""

    @classmethod
    def of(cls, tool: Tool, arguments: Mapping[str, Json], cwd: str) -> ToolCall:
        """Build the call of a tool from its normalised input."""
        named = [arguments[name] for name in tool.paths if isinstance(arguments.get(name), str)]
        path = named[0] if named else cwd if tool.paths else ""
        effect = tool.effect if tool.effect_of is None else tool.effect_of(dict(arguments))
        return cls(tool=tool.name, input=arguments, effect=effect, cwd=cwd, path=path)
