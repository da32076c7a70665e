"""Tools and their results."""

from __future__ import annotations

import enum
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from hookwright.agent.tools.context import ToolContext
from hookwright.agent.tools.schema import Schema, coerced, problems
from hookwright.protocol.jsontext import Json

#: Characters of a command's output passed to hooks and the model.
OUTPUT_LIMIT = 30_000

#: After a change to a file the model knows; Claude Code's own words.
IN_CONTEXT = " (file state is current in your context — no need to Read it back)"

#: The start of the words about an input that does not match its schema; Claude Code's own.
INVALID = "InputValidationError: "

Input = dict[str, Json]
#: What the model reads: a string or content blocks.
Text = str | list[dict[str, Json]]


class Effect(enum.Enum):
    """What a tool affects; permissions are decided by this, not by names."""

    READ = "reads files"
    EDIT = "changes the file it names"
    SHELL = "runs a command"
    SESSION = "affects only the session itself"
    OTHER = "does something that needs permission"


class ToolResult(msgspec.Struct, frozen=True):
    """The result of a call: for hooks (`response`) and for the model (`text`)."""

    response: Json
    text: Text
    is_error: bool = False
    #: The user stopped it.
    interrupted: bool = False
    #: Instructions the model reads after the result, such as the text of a skill; empty for most calls.
    instructions: str = ""


def failed(text: str) -> ToolResult:
    """Return the result of a call that ran and failed."""
    return ToolResult(f"Error: {text}", text, is_error=True)


def interrupted() -> ToolResult:
    """Return the result of a call the user stopped."""
    text = "The user stopped this tool call before it was finished."
    return ToolResult(f"Error: {text}", text, is_error=True, interrupted=True)


def never_ran(text: str) -> ToolResult:
    """Return the result of a call that did not run: its input is invalid or the tool is unknown."""
    return ToolResult(f"Error: {text}", f"<tool_use_error>{text}</tool_use_error>", is_error=True)


def unknown_tool(name: str) -> ToolResult:
    """Return the result of a call to a tool that does not exist."""
    return never_ran(f"Error: No such tool available: {name}")


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool: its description for the model, and how a call is checked, run and shown."""

    name: str
    description: str
    parameters: Schema
    effect: Effect
    run: Callable[[Input, ToolContext], Awaitable[ToolResult]]
    #: The schema of `ToolResult.response`; a hook that rewrites it must match it.
    output: Schema
    #: Returns a response as the model reads it, also one rewritten by a hook.
    render: Callable[[Any], Text]
    #: Returns why a well-formed call cannot run, before any hook runs.
    objection: Callable[[Input], str | None] | None = None
    #: Returns the effect of one call, where it depends on the input.
    effect_of: Callable[[Input], Effect] | None = None
    #: Input fields that are paths.
    paths: tuple[str, ...] = ()
    #: Where the response repeats the path of the file, as keys from the outside in; it is shown as it was written.
    echoes_path: tuple[str, ...] = ()
    #: Its calls change nothing, so they may run together; tools that only read files need not say so.
    concurrent: bool = False
    #: Returns the input with the paths it really names, for permission rules: (input, working directory) -> input.
    really: Callable[[Input, str], Input] | None = None
    #: Values for missing input fields.
    defaults: Mapping[str, Json] = msgspec.field(default_factory=dict)
    #: Offered to the model even if not enabled by name.
    by_default: bool = True

    def definition(self) -> dict[str, Json]:
        """Return the tool's definition for a model API."""
        return {"name": self.name, "description": self.description, "input_schema": dict(self.parameters)}

    def problem(self, arguments: Any) -> str | None:
        """Return why an input does not match the schema; None when it does."""
        found = list(problems(self.parameters, arguments))
        if not found:
            return None
        what = "issue" if len(found) == 1 else "issues"
        return f"{INVALID}{self.name} failed due to the following {what}:\n" + "\n".join(found)

    def coerced(self, arguments: Any) -> Any:
        """Return the input with the numbers and truth values that were written as text; MCP servers read their own."""
        return arguments if self.name.startswith("mcp__") else coerced(self.parameters, arguments)

    def with_defaults(self, arguments: Input) -> Input:
        """Fill in missing fields."""
        missing = {name: value for name, value in self.defaults.items() if name not in arguments}
        return {**missing, **arguments}

    def normalise(self, arguments: Input, cwd: str, home: str) -> Input:
        """Return the input hooks see: defaults filled in, `file_path` absolute; other paths stay as written."""
        return _resolved(self.with_defaults(arguments), (_FILE_PATH,), cwd, home)

    def resolve(self, arguments: Input, cwd: str, home: str) -> Input:
        """Return the input that permission rules see and the tool runs with: every path absolute."""
        return _resolved(arguments, self.paths, cwd, home)

    def without_unknown(self, arguments: Input) -> Input:
        """Return the arguments without keys the tool does not have."""
        known = self.parameters.get("properties", {})
        return {name: value for name, value in arguments.items() if name in known}

    def echoed(self, result: ToolResult, written: Input) -> ToolResult:
        """Return a result whose path is the one the caller wrote."""
        path = written.get(_FILE_PATH)
        if not self.echoes_path or result.is_error or not isinstance(path, str):
            return result
        response = _with_member(result.response, self.echoes_path, path)
        return ToolResult(response, self.render(response))

    def fits(self, response: Json) -> str | None:
        """Return why a rewritten response does not match the tool's output schema; None when it does."""
        found = list(problems(self.output, response))
        return f"the output does not match the schema of {self.name}: {'; '.join(found)}" if found else None


_FILE_PATH = "file_path"


def _resolved(arguments: Input, names: tuple[str, ...], cwd: str, home: str) -> Input:
    paths = {name: absolute(arguments[name], cwd, home) for name in names if isinstance(arguments.get(name), str)}
    return {**arguments, **paths}


def _with_member(value: Json, keys: tuple[str, ...], new: Json) -> Json:
    return {**value, keys[0]: _with_member(value[keys[0]], keys[1:], new)} if keys else new


def absolute(path: str, cwd: str, home: str) -> str:
    """Make a path absolute without following links, so hooks see what the model wrote."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(os.path.join(cwd, path))


def shape(required: Mapping[str, str | Schema], optional: Mapping[str, str | Schema] | None = None) -> Schema:
    """Return the schema of an object; a string is the name of a type."""
    fields = {**required, **(optional or {})}
    members = {name: {"type": value} if isinstance(value, str) else value for name, value in fields.items()}
    return {"type": "object", "properties": members, "required": list(required)}


def parameters(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Return the schema of an input; unknown keys are refused."""
    return {**shape(required, optional), "additionalProperties": False}
