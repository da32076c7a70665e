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
from hookwright.matching.shell import SubCommand, analyse_bash
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


# ── as hooks read them ──────────────────────────────────────────────────────

#: Commands that change the files they name, and nothing else.
_FILE_COMMANDS = frozenset(("cp", "mkdir", "mv", "rm", "rmdir", "tee", "touch"))
#: The start of a command whose second word says what it does.
_SUBCOMMAND = re.compile(r"([a-z][\w.-]*) ([a-z][a-z0-9-]*)(?: .*)?", re.DOTALL)
_EXPANDED = re.compile(r"[$`]")


def hook_suggestions(call: ToolCall, workspace: Workspace) -> tuple[Suggestion, ...]:
    """Return the suggestions that a PermissionRequest hook reads, as Claude Code makes them.

    Law, for a command: only the parts that need approval have one. If that is one part, a redirection suggests the
    directory of its file, a command that changes files their directory and the mode that accepts edits (the mode alone
    after a `cd`), and any other command a rule; several parts suggest a rule each. A rule covers every command with
    the same first two words where the second is one word, else the command alone. What is only known at the run
    suggests nothing. Other tools have the suggestions that a person reads.
    """
    if call.effect is not Effect.SHELL:
        return suggestions(call, workspace)
    command = str(call.input.get("command", ""))
    analysis = analyse_bash(command)
    if analysis.problem is not None or _EXPANDED.search(command):
        return ()
    asking = [part for part in analysis.commands if _needs_approval(part, call.cwd, workspace)]
    if len(asking) == 1:
        moved = any(part.core and part.core[0].shape == "cd" for part in analysis.commands)
        return _for_part(asking[0], call.cwd, moved=moved)
    rules = [{"toolName": "Bash", "ruleContent": _pattern(part)} for part in asking]
    added = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"}
    return (added,) if 0 < len(rules) <= _MOST_RULES else ()


def _needs_approval(part: SubCommand, cwd: str, workspace: Workspace) -> bool:
    if not part.core or part.core[0].shape == "cd":
        return False
    return any(one.writes for one in part.redirections) or not only_reads(part.source, cwd, workspace)


def _for_part(part: SubCommand, cwd: str, *, moved: bool) -> tuple[Suggestion, ...]:
    written = [one.target.shape for one in part.redirections if one.writes]
    if written:
        return (_directory(_folder(written[0], cwd)),)
    name, *words = (word.shape for word in part.core)
    named = [word for word in words if not word.startswith("-")]
    in_place = name == "sed" and any(word.startswith("-i") for word in words)
    if named and (name in _FILE_COMMANDS or in_place):
        first = named[-1] if in_place else named[0]
        return (_mode("acceptEdits"),) if moved else (_directory(_folder(first, cwd)), _mode("acceptEdits"))
    return (_rules("Bash", _pattern(part), "localSettings"),)


def _folder(path: str, cwd: str) -> str:
    return os.path.dirname(os.path.normpath(os.path.join(cwd, path)))


def _pattern(part: SubCommand) -> str:
    text = part.source if not part.redirections else " ".join(word.raw for word in part.words)
    starts = _SUBCOMMAND.fullmatch(text)
    return text if starts is None else f"{starts[1]} {starts[2]} *"


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
