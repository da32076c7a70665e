"""What a tool is, and what it gives back."""

from __future__ import annotations

import enum
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.schema import Schema, problems
from hookwright.protocol.jsontext import Json

#: Characters of a command's output that hooks and the model get.
OUTPUT_LIMIT = 30_000

Input = dict[str, Json]
#: What the model reads: a text, or content blocks.
Text = str | list[dict[str, Json]]


class Effect(enum.Enum):
    """What a call of a tool touches; permissions are decided by this, not by names."""

    READ = "reads files"
    EDIT = "changes the file that it names"
    SHELL = "runs a command"
    SESSION = "touches nothing but the session itself"
    OTHER = "does something that must be permitted"


class ToolResult(msgspec.Struct, frozen=True):
    """What came of a call: for hooks (`response`) and for the model (`text`)."""

    response: Json
    text: Text
    is_error: bool = False
    #: The user stopped it.
    interrupted: bool = False


def failed(text: str) -> ToolResult:
    """Make the result of a call that was carried out and went wrong."""
    return ToolResult(f"Error: {text}", text, is_error=True)


def interrupted() -> ToolResult:
    """Make the result of a call that the user stopped."""
    text = "The user stopped this tool call before it was finished."
    return ToolResult(f"Error: {text}", text, is_error=True, interrupted=True)


def never_ran(text: str) -> ToolResult:
    """Make the result of a call that was not carried out, because of its input or because the tool is unknown."""
    return ToolResult(f"Error: {text}", f"<tool_use_error>{text}</tool_use_error>", is_error=True)


def unknown_tool(name: str) -> ToolResult:
    """Make the result of a call of a tool that does not exist."""
    return never_ran(f"Error: No such tool available: {name}")


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool: what the model is told of it, how a call is checked, run and shown."""

    name: str
    description: str
    parameters: Schema
    effect: Effect
    run: Callable[[Input, ToolContext], Awaitable[ToolResult]]
    #: The shape of `ToolResult.response`; a hook that rewrites it must keep to it.
    output: Schema
    #: Shows a response to the model, the tool's own or one that a hook rewrote.
    render: Callable[[Any], Text]
    #: Objects to a well-formed call before any hook hears of it.
    objection: Callable[[Input], str | None] | None = None
    #: Input fields that are paths.
    paths: tuple[str, ...] = ()
    #: Input fields that are filled in.
    defaults: Mapping[str, Json] = msgspec.field(default_factory=dict)
    #: Offered without being asked for by name.
    by_default: bool = True

    def definition(self) -> dict[str, Json]:
        """Describe the tool as a model API wants it."""
        return {"name": self.name, "description": self.description, "input_schema": dict(self.parameters)}

    def problem(self, arguments: Any) -> str | None:
        """Say why an input does not fit the schema; None when it does."""
        found = list(problems(self.parameters, arguments))
        if not found:
            return None
        what = "issue" if len(found) == 1 else "issues"
        return f"InputValidationError: {self.name} failed due to the following {what}:\n" + "\n".join(found)

    def with_defaults(self, arguments: Input) -> Input:
        """Fill in what the model left out."""
        missing = {name: value for name, value in self.defaults.items() if name not in arguments}
        return {**missing, **arguments}

    def normalise(self, arguments: Input, cwd: str, home: str) -> Input:
        """Give the input that hooks and permission rules see: defaults filled in, paths absolute."""
        out = self.with_defaults(arguments)
        for name in self.paths:
            if isinstance(out.get(name), str):
                out[name] = absolute(out[name], cwd, home)
        return out

    def fits(self, response: Json) -> str | None:
        """Say why a rewritten response has not the tool's own shape; None when it has."""
        found = list(problems(self.output, response))
        return f"the output of {self.name} has another shape: {'; '.join(found)}" if found else None


def absolute(path: str, cwd: str, home: str) -> str:
    """Make a path absolute by text alone: links are not followed, so that hooks see what the model wrote."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(os.path.join(cwd, path))


def shape(required: Mapping[str, str | Schema], optional: Mapping[str, str | Schema] | None = None) -> Schema:
    """Write the schema of an object; a text stands for a type."""
    fields = {**required, **(optional or {})}
    members = {name: {"type": value} if isinstance(value, str) else value for name, value in fields.items()}
    return {"type": "object", "properties": members, "required": list(required)}


def parameters(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Write the schema of an input; keys that it does not name are refused."""
    return {**shape(required, optional), "additionalProperties": False}
