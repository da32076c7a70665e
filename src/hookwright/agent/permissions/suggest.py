"""Suggestions for a permission dialog: updates that would make the question unnecessary."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from hookwright.agent.permissions.call import ToolCall
from hookwright.agent.permissions.commands import only_moves_files, only_reads
from hookwright.agent.permissions.files import named_files
from hookwright.agent.permissions.workspace import Workspace
from hookwright.agent.tools.tool import Effect
from hookwright.matching.conditions import BadRule, compile_rule, host_of, matches_only
from hookwright.matching.shell import analyse_bash
from hookwright.protocol.jsontext import Json

Suggestion = Mapping[str, Json]

_PATTERN = re.compile(r"[*?\[\\]")
#: A longer list would approve more than a user reads.
_MOST_RULES = 5


def suggestions(call: ToolCall, workspace: Workspace) -> tuple[Suggestion, ...]:
    """Return the updates that would cover a call; none if a rule cannot cover it."""
    match call.effect:
        case Effect.SHELL:
            return _for_command(str(call.input.get("command", "")), call.cwd, workspace)
        case Effect.EDIT if workspace.sensitive(call.path):
            return ()
        case Effect.EDIT if workspace.writable(call.path):
            return (_mode("acceptEdits"),)
        case Effect.EDIT:
            return (_directory(os.path.dirname(call.path)), _mode("acceptEdits"))
        case Effect.READ:
            folder = call.path if os.path.isdir(call.path) else os.path.dirname(call.path)
            if _PATTERN.search(folder):
                return ()
            return (_rules("Read", f"/{folder.rstrip('/')}/**", "session"),)
        case Effect.SESSION:
            return ()
        case Effect.OTHER:
            return _for_other(call)


def _for_command(command: str, cwd: str, workspace: Workspace) -> tuple[Suggestion, ...]:
    """Cover a command by the mode that accepts edits if that is enough, else by a rule for each of its parts."""
    if only_moves_files(command, cwd, workspace) and not only_reads(command, cwd, workspace):
        changed = [named.path for named in named_files(command, cwd, workspace.home).files if named.changes]
        folders = list(dict.fromkeys(os.path.dirname(path) for path in changed))
        return (*(_directory(folder) for folder in folders[:1]), _mode("acceptEdits"))
    analysis = analyse_bash(command)
    texts = list(dict.fromkeys(part.source for part in analysis.commands))
    if analysis.problem is not None or not texts or len(texts) > _MOST_RULES:
        return ()
    if not all(_means_only(text) for text in texts):
        return ()
    rules = [{"toolName": "Bash", "ruleContent": text} for text in texts]
    return ({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"},)


def _means_only(text: str) -> bool:
    """Return whether a rule with this text means the text alone: a `*` in a rule matches anything, also beside it."""
    rule = compile_rule(f"Bash({text})")
    return not isinstance(rule, BadRule) and rule.parameter is None and matches_only(rule, text)


def _for_other(call: ToolCall) -> tuple[Suggestion, ...]:
    if call.tool == "WebFetch":
        host = host_of(call.input.get("url"))
        if host:
            return (_rules("WebFetch", f"domain:{host}", "localSettings"),)
    if call.tool == "Skill":
        name = call.input.get("skill")
        return tuple(_rules("Skill", content, "localSettings") for content in (name, f"{name}:*"))
    return (_rules(call.tool, None, "localSettings"),)


def _rules(tool: str, content: str | None, destination: str) -> Suggestion:
    rule = {"toolName": tool} if content is None else {"toolName": tool, "ruleContent": content}
    return {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": destination}


def _mode(mode: str) -> Suggestion:
    return {"type": "setMode", "mode": mode, "destination": "session"}


def _directory(path: str) -> Suggestion:
    return {"type": "addDirectories", "directories": [path], "destination": "session"}
