"""Fields that a script reads and another agent sends under another name, or never."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.dialects.model import ToolMap
from hookwright.lint.agents.hook import AgentHook
from hookwright.lint.agents.matching import counterparts
from hookwright.lint.guards import questions
from hookwright.lint.model import Finding
from hookwright.lint.programs.ir import Asks, FieldRead, Program


def check_fields(hook: AgentHook) -> Iterator[Finding]:
    """HK914: a field that the agent does not send, a key with another name, a tool name that never comes."""
    if not hook.borrowed or hook.moment is None or hook.rules is None:
        return
    tools = counterparts(hook.dialect, hook.matcher) if hook.rules.target == "tool_name" else ()
    for program in hook.launch.programs:
        seen: set[tuple[str, ...]] = set()
        for read in program.fields:
            if read.path and read.path[:2] not in seen and not read.fallback:
                seen.add(read.path[:2])
                yield from (
                    _key(hook, program, read, tools) if read.path[0] == "tool_input" else _top(hook, program, read)
                )
        yield from _names(hook, program)


def _key(hook: AgentHook, program: Program, read: FieldRead, tools: tuple[ToolMap, ...]) -> Iterator[Finding]:
    key = read.path[1] if len(read.path) > 1 else ""
    at = hook.position(program, read.place)
    for tool in tools if key else ():
        theirs = next((their for their, ours in tool.keys if ours == key), "")
        if tool.patch and key != "command":
            what = f"`{tool.name}` of {hook.title} sends a patch in `tool_input.command` and no `{key}`."
        elif theirs:
            what = f"`{tool.name}` of {hook.title} sends `{theirs}` instead of `{key}`: the script sees nothing."
        else:
            continue
        write = "Read both and refuse if neither is there, or use `hookwright export`, which translates the input."
        yield hook.found("HK914", at, tool.proof, (what, write))
        return


def _top(hook: AgentHook, program: Program, read: FieldRead) -> Iterator[Finding]:
    name = read.path[0]
    field = hook.dialect.field(name)
    if field is None or field.name == name:
        return
    instead = f"sends `{field.name}` instead of" if field.name else "does not send"
    at = hook.position(program, read.place)
    write = f"Also read `{field.name}`." if field.name else "Do without the field, or refuse if it is missing."
    yield hook.found("HK914", at, field.proof, (f"{hook.title} {instead} `{name}`.", write))


def _names(hook: AgentHook, program: Program) -> Iterator[Finding]:
    """Find comparisons of `tool_name` with a name that this agent never sends."""
    for test, _ in questions(program):
        if test.kind is not Asks.EQUALS or "event.tool_name" not in test.origins:
            continue
        for tool in hook.dialect.tools:
            if tool.claude in test.patterns and tool.name not in test.patterns and tool.name != tool.claude:
                what = f"The script compares `tool_name` with `{tool.claude}`; {hook.title} sends `{tool.name}`."
                at = hook.position(program, test.place)
                yield hook.found("HK914", at, tool.proof, (what, f"Also compare with `{tool.name}`."))
                return
