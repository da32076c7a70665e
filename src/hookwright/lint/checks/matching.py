"""HK2xx: does the matcher match what was intended?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from hookwright.config.jsonfile import Broken, parse_json
from hookwright.lint.edits import replace_value
from hookwright.lint.found import finding
from hookwright.lint.guards import guards, program_refusals, tool_guards
from hookwright.lint.model import Finding, Fix
from hookwright.lint.programs.ir import Program
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.targets import COMMA_LISTS, KEY_SINCE, TYPE_SINCE, dotted
from hookwright.lint.tools import FOREIGN, SHELL_TOOLS, STALE, TOOLS, WRITE_TOOLS, matched
from hookwright.matching.conditions import InvalidRule, parse_rule
from hookwright.matching.matchers import MatchNames, MatchNothing, MatchPattern
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.jsontext import Json
from hookwright.text import closest

_TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RULE_SYNTAX = re.compile(r"\|?([A-Za-z]\w*)\(.*\)\|?")
_COMBINED = re.compile(r"\)\s*(?:\|\|?|&&|,|\bor\b|\band\b)\s*[A-Za-z_]\w*\(")
_GLOB = re.compile(r"(?<=[A-Za-z0-9_])\*")
_SERVER = re.compile(r"mcp__[^_]+(?:_[^_]+)*")


def check_matching(subject: Subject) -> Iterator[Finding]:
    """Check every matcher once per group, and every `if`."""
    seen: set[tuple[str, str]] = set()
    for hook in subject.hooks:
        yield from _condition(hook)
        yield from _versions(hook)
        place = hook.matcher_place()
        if (place.path, place.pointer) not in seen:
            seen.add((place.path, place.pointer))
            yield from _matcher(hook, subject)
    yield from _gates(subject)
    yield from _gaps(subject)


def _matcher(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
    """HK208 and HK209: matchers on events that have none, or that match none of their values."""
    text = hook.group.matcher
    if text is None or text in ("", "*"):
        return
    rules = hook.rules
    if rules.target is None:
        what = f"`{hook.event}` has no matcher: `{text}` is ignored and these hooks run every time."
        yield finding("HK208", hook.matcher_place(), what, "Remove `matcher`, and test inside the script.")
        return
    if isinstance(hook.matcher, MatchNothing):
        yield from _invalid(hook, text)
    elif rules.target == "tool_name":
        yield from _tools(hook, text, subject)
    elif rules.values and not any(map(hook.matcher.matches, rules.values)):
        known = "|".join(rules.values)
        what = f"`{text}` matches no {rules.target} of {hook.event}; its values are `{known}`."
        yield finding("HK209", hook.matcher_place(), what, f"Use one of {known}, or remove `matcher`.")


def _invalid(hook: CheckedHook, text: str) -> Iterator[Finding]:
    """HK205: an invalid regular expression."""
    matcher = hook.matcher
    assert isinstance(matcher, MatchNothing)
    what = (
        f"`{text}` is not a valid JavaScript regular expression: {matcher.error}. It never matches, and only the "
        "debug log reports it."
    )
    yield finding("HK205", hook.matcher_place(), what, "Write exact names such as `Edit|Write`, or a valid expression.")


def _tools(hook: CheckedHook, text: str, subject: Subject) -> Iterator[Finding]:
    """HK201, HK202, HK203 and HK207: matchers on tool names."""
    matcher = hook.matcher
    if isinstance(matcher, MatchNames):
        yield from _names(hook, text, matcher)
    elif isinstance(matcher, MatchPattern):
        yield from _pattern(hook, text)
    yield from _plugin_server(hook, text, subject)


def _fixed(hook: CheckedHook, text: str) -> Fix:
    return replace_value(hook.document, (*hook.group_at, "matcher"), text)


def _names(hook: CheckedHook, text: str, matcher: MatchNames) -> Iterator[Finding]:
    at = hook.matcher_place()
    folded = {name.lower(): name for name in TOOLS}
    live = bool(matched(matcher))
    for name in sorted(matcher.names):
        if name in TOOLS:
            continue
        if name in STALE:
            yield from _stale(hook, matcher)
        elif _SERVER.fullmatch(name) and name.count("__") == 1:
            what = f"`{name}` is compared with the whole name, and no tool has exactly this name."
            fix = _fixed(hook, text.replace(name, f"^{name}__")) if len(matcher.names) == 1 else ()
            yield finding("HK201", at, what, f"Write `{name}__.*` for all tools of the server.", fix=fix)
        elif name.lower() in folded:
            right = folded[name.lower()]
            fix = _fixed(hook, re.sub(rf"\b{re.escape(name)}\b", right, text))
            what = f"Tool names are case-sensitive: `{name}` never matches `{right}`."
            yield finding("HK203", at, what, f"Write `{right}`.", fix=fix)
        elif all(part in TOOLS for part in name.split()) and " " in name:
            fix = _fixed(hook, text.replace(name, "|".join(name.split())))
            what = f"`{name}` is one name with a space, and no tool has such a name."
            yield finding("HK207", at, what, "Separate the names with `|`.", fix=fix)
        elif name in FOREIGN:
            what = f"`{name}` is another agent's tool; Claude Code calls it `{FOREIGN[name]}`."
            yield finding("HK201", at, what, f"Write `{FOREIGN[name]}`.")
        elif not name.startswith("mcp__") and (near := closest(name, TOOLS, 0.85)):
            yield finding("HK201", at, f"No tool is called `{name}`.", f"Write `{near}`, if you meant that.")
    if not live and "," in text and not matcher.names:
        yield finding("HK201", at, f"`{text}` names no tool.", "Write the name of a tool.")
    yield from _commas(hook, text)


def _stale(hook: CheckedHook, matcher: MatchNames) -> Iterator[Finding]:
    """HK215: names of former tools, once per matcher; serious only when none of the other names can match."""
    stale = sorted(name for name in matcher.names if name in STALE)
    others = [name for name in matcher.names if name not in STALE]
    notes = "; ".join(STALE[name] for name in stale)
    harmless = bool(others) or stale == ["Task"]
    what = f"{notes}."
    write = "Write `Agent` (`Task|Agent` for both)." if stale == ["Task"] else "Use the current tool names."
    yield finding("HK215", hook.matcher_place(), what, write, severity=Severity.INFO if harmless else None)


def _commas(hook: CheckedHook, text: str) -> Iterator[Finding]:
    version = hook.options.target.version
    if "," in text and (version is None or version < COMMA_LISTS):
        what = (
            f"`{text}` is read as a list since Claude Code {dotted(COMMA_LISTS)}; before that, a comma never matched."
        )
        fix = _fixed(hook, re.sub(r"\s*,\s*", "|", text.strip(" ,")))
        severity = Severity.WARNING if version is not None else None
        write = f"Write `{re.sub(r' *, *', '|', text)}`."
        yield finding("HK217", hook.matcher_place(), what, write, fix=fix, severity=severity)


def _pattern(hook: CheckedHook, text: str) -> Iterator[Finding]:
    at = hook.matcher_place()
    covered = matched(hook.matcher)
    rule = _RULE_SYNTAX.fullmatch(text)
    if rule is not None and rule[1] in TOOLS and rule[1] not in covered:
        what = f"`{text}` is read as a regular expression for the tool's name and can never match `{rule[1]}`."
        yield finding("HK202", at, what, f'Write "matcher": "{rule[1]}" and, in the handler, "if": "{text}".')
        return
    pieces = [piece.strip() for piece in re.split(r"\s*[/;&+]+\s*", text)]
    if len(pieces) > 1 and all(piece in TOOLS or piece in STALE for piece in pieces):
        right = "|".join(pieces)
        what = f"`{text}` is one regular expression, and no tool's name contains it."
        yield finding("HK207", at, what, f"Write `{right}`.", fix=_fixed(hook, right))
        return
    if _GLOB.search(text) and not re.search(r"[.\])]\*|\\", text):
        yield from _glob(hook, text)
    elif covered:
        yield from _unanchored(hook, text, covered)
    elif not covered and not re.search(r"mcp|\\[dwWsS]|\.", text) and not _may_be_custom(text):
        what = f"`{text}` is a regular expression that matches no tool."
        yield finding("HK201", at, what, "Write exact names such as `Edit|Write`.")


def _may_be_custom(text: str) -> bool:
    """Return whether a pattern could mean a tool that is not built in: only letters, digits, `_`, `-` and `:`."""
    bare = re.sub(r"\^|\$|\(\?[:=!]|[()|?+*\[\]]", "", text)
    return bool(re.fullmatch(r"[\w:-]*", bare)) and bare != ""


def _glob(hook: CheckedHook, text: str) -> Iterator[Finding]:
    """HK206: a star used as in a shell."""
    stem = _GLOB.sub("", text)
    star = text[text.index("*") - 1]
    what = (
        f"Read as a regular expression, `{text}` is `{text[: text.index('*') - 1]}` and then any number of "
        f"`{star}`, anywhere in the name."
    )
    if text.startswith("mcp__"):
        what += " It works by accident and also matches `my_mcp_tool`." if stem == "mcp__" else " It works by accident."
    right = "|".join(f"^{part}" for part in stem.split("|")) if "(" not in stem else ""
    fix = _fixed(hook, right) if right else ()
    yield finding(
        "HK206", hook.matcher_place(), what, f"Write `{right}`." if right else "Write an anchored expression.", fix=fix
    )


def _unanchored(hook: CheckedHook, text: str, covered: frozenset[str]) -> Iterator[Finding]:
    """HK204: tools matched only because their names contain the intended name."""
    if "^" in text or text.startswith(".*") or re.search(r"\(\?!|\[", text):
        return
    words = [word for word in _TOOL_NAME.findall(re.sub(r"\\.", " ", text)) if len(word) > 2]
    if any(re.search(rf"\.[*+]{re.escape(word)}", text) for word in words) or not words:
        return
    more = sorted(tool for tool in covered if not any(tool.startswith(word) for word in words))
    if more:
        names = [word for word in words if word in TOOLS]
        exact = "|".join(names) if names and re.fullmatch(r"[\w|().*]+", text) else "^(?:…)$"
        what = (
            f"A regular expression matches anywhere in the name: `{text}` also covers "
            f"{', '.join(f'`{tool}`' for tool in more)}."
        )
        yield finding("HK204", hook.matcher_place(), what, f"Write `{exact}`, which is compared with the whole name.")


def _plugin_server(hook: CheckedHook, text: str, subject: Subject) -> Iterator[Finding]:
    """HK216: a plugin's MCP server without the plugin's prefix."""
    for plugin in subject.plugins:
        for server in _servers(plugin.root):
            if re.search(rf"mcp__{re.escape(server)}__", text):
                right = f"mcp__plugin_{plugin.name}_{server}__"
                what = f"The server `{server}` belongs to the plugin `{plugin.name}`; its tools are called `{right}…`."
                yield finding("HK216", hook.matcher_place(), what, f"Write `{right}.*`.")


def _servers(root: str) -> list[str]:
    names: list[str] = []
    for path in (".mcp.json", os.path.join(".claude-plugin", "plugin.json")):
        try:
            with open(os.path.join(root, path), "rb") as file:
                parsed = parse_json(file.read(1 << 20))
        except OSError:
            continue
        value: Json = {} if isinstance(parsed, Broken) else parsed.value
        servers = value.get("mcpServers") if isinstance(value, dict) else None
        names += list(servers) if isinstance(servers, dict) else []
    return names


# ── `if` ────────────────────────────────────────────────────────────────────


def _condition(hook: CheckedHook) -> Iterator[Finding]:
    """HK210 and HK211: conditions that are never evaluated, or never hold."""
    rule = hook.handler.condition
    if rule is None:
        return
    at = hook.place("if")
    if not hook.rules.condition:
        what = f"`if` only works on tool events; on {hook.event} a handler with `if` never runs."
        yield finding("HK210", at, what, "Remove `if`, and test inside the script.")
        return
    names = re.split(r"\s*(?:\|\|?|&&|,)\s*", rule.strip())
    if _COMBINED.search(rule) or (len(names) > 1 and all(_TOOL_NAME.fullmatch(name) for name in names)):
        what = f"`if` takes one permission rule; `{rule}` is not one, so the handler never runs."
        yield finding("HK211", at, what, "Declare one handler per rule.")
        return
    try:
        parsed = parse_rule(rule)
    except InvalidRule as error:
        what = f"`{rule}` is not a valid rule: {error} The handler never runs."
        yield finding("HK211", at, what, "Write a rule such as `Bash(git *)`.")
        return
    folded = {name.lower(): name for name in TOOLS}
    if parsed.tool not in TOOLS and parsed.tool.lower() in folded:
        right = rule.replace(parsed.tool, folded[parsed.tool.lower()], 1)
        fix = replace_value(hook.document, (*hook.at, "if"), right)
        what = f"Tool names are case-sensitive: `{rule}` never matches, so the handler never runs."
        yield finding("HK211", at, what, f"Write `{right}`.", fix=fix)


def _gates(subject: Subject) -> Iterator[Finding]:
    """HK212: a guard that leaves the decision to `if`."""
    for hook in guards(subject):
        if hook.handler.condition is None:
            continue
        if all(_always_refuses(program) for program in hook.launch.deciding if program.body):
            what = (
                "This guard refuses every call it sees and leaves the decision to `if`. `if` is a filter, not a gate: "
                "the hook also runs for commands that cannot be parsed, and never for commands inside scripts."
            )
            yield finding("HK212", hook.place("if"), what, "Test the input inside the script as well.")


def _always_refuses(program: Program) -> bool:
    found = program_refusals(program)
    return any(not refusal.point.under for refusal in found) or (not found and not program.path)


# ── gaps ────────────────────────────────────────────────────────────────────


def _gaps(subject: Subject) -> Iterator[Finding]:
    """HK213 and HK214: tools of the same class not covered by a guard."""
    found = tool_guards(subject)
    covered = {tool for hook in found for tool in matched(hook.matcher)}
    seen: set[tuple[str, str]] = set()
    for hook in found:
        place = hook.matcher_place()
        if not isinstance(hook.matcher, MatchNames) or (place.path, place.pointer) in seen or hook.handler.condition:
            continue
        seen.add((place.path, place.pointer))
        tools = matched(hook.matcher)
        if "Bash" in tools and "PowerShell" not in covered:
            right = (hook.group.matcher or "").replace("Bash", "|".join(SHELL_TOOLS), 1)
            what = "This guard covers `Bash` but not `PowerShell`."
            yield finding("HK213", place, what, f"Match `{right}`, and handle both syntaxes.")
        if tools & {"Write", "Edit"} and "NotebookEdit" not in covered and _about_paths(hook):
            missing = [tool for tool in WRITE_TOOLS if tool not in covered]
            what = (
                f"This guard protects files from {', '.join(sorted(tools & set(WRITE_TOOLS)))}; {', '.join(missing)} "
                "(its field is `notebook_path`) and writes by shell commands (`tee`, `>`, `sed -i`) get through."
            )
            write = "Match `Write|Edit|NotebookEdit`, and add a guard on `Bash|PowerShell` for shell writes."
            yield finding("HK214", place, what, write)


def _about_paths(hook: CheckedHook) -> bool:
    return any("file_path" in field.path for program in hook.programs for field in program.fields)


def _versions(hook: CheckedHook) -> Iterator[Finding]:
    """HK217: syntax, keys and types the target version does not know yet."""
    version = hook.options.target.version
    if version is None:
        return
    for key, since in KEY_SINCE.items():
        if key in hook.entry and version < since:
            what = f"`{key}` applies since Claude Code {dotted(since)}; {dotted(version)} ignores it."
            yield finding("HK217", hook.place(key), what, f"Require {dotted(since)}.", severity=Severity.WARNING)
    kind = hook.handler.kind.value
    if kind in TYPE_SINCE and version < TYPE_SINCE[kind]:
        what = f"`{kind}` handlers exist since Claude Code {dotted(TYPE_SINCE[kind])}."
        yield finding("HK217", hook.place("type"), what, "Use a command handler.", severity=Severity.WARNING)
