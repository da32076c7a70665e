"""Which tools a matcher selects in another agent."""

from __future__ import annotations

from collections.abc import Iterator

from hookwright.dialects.model import Dialect, MatcherRule, ToolMap
from hookwright.dialects.portability import modest
from hookwright.dialects.reading.selecting import selected
from hookwright.lint.agents.hook import AgentHook
from hookwright.lint.model import Finding
from hookwright.lint.tools import INPUTS, matched
from hookwright.matching.matchers import MatchAll, MatchNames, compile_matcher

#: Claude Code's tools whose absence in another agent means an unguarded action.
_MAIN = frozenset(INPUTS) - {"PowerShell", "NotebookEdit"}
#: What one patch means.
_PATCHED = frozenset(["Write", "Edit", "MultiEdit"])


def counterparts(dialect: Dialect, matcher: str | None) -> tuple[ToolMap, ...]:
    """Return the agent's tools that a matcher of Claude Code means."""
    meant = matched(compile_matcher(matcher))
    return tuple(tool for tool in dialect.tools if tool.claude in meant or (tool.patch and meant & _PATCHED))


def reached(hook: AgentHook) -> tuple[ToolMap, ...]:
    """Return the agent's tools for which a hook runs, of those its author means."""
    if hook.rules is None or hook.rules.target != "tool_name":
        return ()
    chosen = set(selected(hook.dialect, hook.matcher))
    meant = counterparts(hook.dialect, hook.matcher) if hook.borrowed else hook.dialect.tools
    return tuple(tool for tool in meant if tool.name in chosen)


def check_matching(hook: AgentHook) -> Iterator[Finding]:
    """Compare the tools that a hook of Claude Code's file means with those that run it there."""
    if hook.rules is None or hook.rules.target != "tool_name" or hook.moment is None:
        return
    compiled = compile_matcher(hook.matcher)
    if isinstance(compiled, MatchAll):
        return
    chosen = selected(hook.dialect, hook.matcher)
    if hook.borrowed:
        yield from _names(hook, frozenset(chosen))
    elif not chosen and "mcp" not in (hook.matcher or ""):
        known = ", ".join(tool.name for tool in hook.dialect.tools)
        what = f"`{hook.matcher}` selects none of the tools of {hook.title}; the hook never runs."
        yield hook.found(
            "HK903", hook.matcher_spot, hook.dialect.matching.proof, (what, f"Use names of its tools: {known}.")
        )
    yield from _others(hook, frozenset(chosen))


def _names(hook: AgentHook, chosen: frozenset[str]) -> Iterator[Finding]:
    """HK903: tools that have another name there, or none."""
    matching = hook.dialect.matching
    meant = counterparts(hook.dialect, hook.matcher)
    missed = [tool for tool in meant if tool.name not in chosen]
    if missed:
        names = ", ".join(f"`{tool.claude}` is `{tool.name}`" for tool in missed)
        what = f"The tools have other names in {hook.title}: {names}. `{hook.matcher}` does not select them there."
        if hook.dialect.loads_claude:
            what += " That a matcher of Claude Code's file is translated is not proven."
        write = f"Match `{'|'.join(dict.fromkeys(tool.name for tool in missed))}` in a file for {hook.title}."
        yield hook.found("HK903", hook.matcher_spot, matching.proof, (what, write))
    compiled = compile_matcher(hook.matcher)
    there = {tool.claude for tool in hook.dialect.tools} | (
        _PATCHED if any(t.patch for t in hook.dialect.tools) else set()
    )
    absent = sorted(compiled.names & _MAIN - there) if isinstance(compiled, MatchNames) else []
    if absent:
        listed = ", ".join(f"`{name}`" for name in absent)
        what = f"{hook.title} has no tool for {listed}, so no event: what those do in Claude Code is not seen there."
        write = "Guard the tool that does the same there, mostly the shell."
        yield hook.found("HK903", hook.matcher_spot, modest(hook.dialect), (what, write))


def _others(hook: AgentHook, chosen: frozenset[str]) -> Iterator[Finding]:
    """HK908: tools for which the hook was not meant."""
    matching = hook.dialect.matching
    if matching.rule in (MatcherRule.IGNORED, MatcherRule.NONE):
        what = f"{hook.title} ignores matchers: this hook runs for every tool, not only for `{hook.matcher}`."
        write = "Compare `tool_name` in the script, with the agent's names and Claude Code's."
        yield hook.found("HK908", hook.matcher_spot, matching.proof, (what, write))
        return
    meant = {tool.name for tool in counterparts(hook.dialect, hook.matcher)}
    more = sorted(chosen - meant) if hook.borrowed else []
    if more:
        names = ", ".join(f"`{name}`" for name in more)
        what = f"In {hook.title} `{hook.matcher}` also selects {names}: {matching.rule.value}."
        yield hook.found("HK908", hook.matcher_spot, matching.proof, (what, f"Write `^({hook.matcher})$`."))
