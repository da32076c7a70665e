"""The matchers of HK201 to HK209 and HK215 to HK217: does the text match what was intended?"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator

from hookwright.config.jsonfile import Broken, parse_json
from hookwright.lint.edits import replace_value
from hookwright.lint.found import finding
from hookwright.lint.impossible import alternatives, impossible_parts
from hookwright.lint.model import Finding, Fix
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.targets import COMMA_LISTS, KEY_SINCE, TYPE_SINCE, dotted
from hookwright.lint.tools import FOREIGN, STALE, TOOLS, matched
from hookwright.matching.matchers import MatchNames, MatchNothing, MatchPattern
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.jsontext import Json
from hookwright.text import closest

_TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_RULE_SYNTAX = re.compile(r"\|?([A-Za-z]\w*)\(.*\)\|?")
_GLOB = re.compile(r"(?<=[A-Za-z0-9_])\*")
_SERVER = re.compile(r"mcp__[^_]+(?:_[^_]+)*")
_NAMES = "the agent's own tools begin with a capital, those of servers with `mcp__`"


def check_matcher(hook: CheckedHook, subject: Subject) -> Iterator[Finding]:
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
    live = any(map(_may_exist, matcher.names))
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
            both = Severity.INFO if right in matcher.names else None
            yield finding("HK203", at, what, f"Write `{right}`.", fix=() if both else fix, severity=both)
        elif " " in name and all(part in TOOLS or part in STALE for part in name.split()):
            fix = _fixed(hook, text.replace(name, "|".join(name.split())))
            what = f"`{name}` is one name with a space, and no tool has such a name."
            yield finding("HK207", at, what, "Separate the names with `|`.", fix=fix)
        elif name in FOREIGN:
            what = f"`{name}` is another agent's tool; Claude Code calls it `{FOREIGN[name]}`."
            severity = Severity.INFO if live else None
            yield finding("HK201", at, what, f"Write `{FOREIGN[name]}`.", severity=severity)
        else:
            yield from _unknown(hook, name, live)
    if not matcher.names:
        yield finding("HK201", at, f"`{text}` names no tool.", "Write the name of a tool.")
    yield from _commas(hook, text)


def _may_exist(name: str) -> bool:
    """Return whether there may be a tool of this name: a known one, one of a server, or a newer one."""
    return name in TOOLS or name == "Task" or name.count("__") > 1 or bool(re.fullmatch(r"[A-Z][A-Za-z0-9]+", name))


def _unknown(hook: CheckedHook, name: str, live: bool) -> Iterator[Finding]:
    """Check a name that is not a known tool's; the tools of Claude Code begin with a capital, others with `mcp__`."""
    near = closest(name, TOOLS, 0.85) if not name.startswith("mcp__") else None
    first = next((word for word in name.split() if word in TOOLS), None)
    if " " in name:
        what = f"`{name}` is one name with a space, and no tool has such a name."
        write = f'Write "matcher": "{first}" and test the rest in the script.' if first else "Write a tool's name."
        yield finding("HK201", hook.matcher_place(), what, write)
    elif near:
        write = f"Write `{near}`, if you meant that."
        yield finding("HK201", hook.matcher_place(), f"No tool is called `{name}`.", write)
    elif not _may_exist(name):
        what = f"No tool is called `{name}`: {_NAMES}."
        severity = Severity.INFO if live else None
        yield finding("HK201", hook.matcher_place(), what, "Write a tool's name such as `Bash`.", severity=severity)


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
    dead = list(impossible_parts(text))
    if dead:
        yield from _dead(hook, text, dead)
    elif _GLOB.search(text) and not re.search(r"[.\])]\*|\\", text):
        yield from _glob(hook, text)
    elif covered:
        yield from _unanchored(hook, text, covered)
    elif "mcp" not in text and not text.startswith(".*"):
        yield from _lower(hook, text)


def _dead(hook: CheckedHook, text: str, dead: list[tuple[str, str]]) -> Iterator[Finding]:
    """Report alternatives that need a character no tool's name has; serious when they are all there is."""
    every = len(dead) == len(alternatives(text))
    part, needed = dead[0]
    shown = f"`{text}`" if every else f"The part `{part.strip()}` of `{text}`"
    sign = "a space" if needed == " " else needed if len(needed) > 1 else f"`{needed}`"
    tool = next((name for name in _TOOL_NAME.findall(part) if name in TOOLS), None)
    what = f"{shown} matches no tool: it needs {sign}, and a tool's name has only letters, digits, `_` and `-`."
    write = f'Write "matcher": "{tool}"' if tool else "Write exact names such as `Edit|Write`"
    write += ', and test the rest in the script, or with `"if"`.'
    severity = None if every else Severity.WARNING
    yield finding("HK201", hook.matcher_place(), what, write, severity=severity)


def _lower(hook: CheckedHook, text: str) -> Iterator[Finding]:
    """Find an expression that would match tools if their names were in lower case."""
    meant = sorted(tool for tool in TOOLS if hook.matcher.matches(tool.lower()))
    elsewhere = any(hook.matcher.matches(f"mcp__server__{tool.lower()}") for tool in meant)
    if meant:
        what = f"Tool names are case-sensitive: `{text}` matches no tool of the agent, such as `{meant[0]}`."
        severity = Severity.WARNING if elsewhere else None
        yield finding("HK203", hook.matcher_place(), what, f"Write `{'|'.join(meant)}`.", severity=severity)
    elif re.match(r"\^[a-z]", text) and "|" not in text:
        what = (
            f"No tool begins like `{text}`: the agent's own tools begin with a capital, those of servers with `mcp__`."
        )
        yield finding("HK201", hook.matcher_place(), what, "Write exact names such as `Edit|Write`.")


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
    write = f"Write `{right}`." if right else "Write an anchored expression."
    severity = Severity.INFO if _as_meant(hook, text) else None
    yield finding("HK206", hook.matcher_place(), what, write, fix=fix, severity=severity)


def _as_meant(hook: CheckedHook, text: str) -> bool:
    """Return whether an expression covers the same tools as the shell pattern that its author seems to mean."""
    parts = alternatives(text)
    meant = {tool for tool in TOOLS for part in parts if fnmatch.fnmatchcase(tool, part)}
    return matched(hook.matcher) == meant and bool(meant or all(part.startswith("mcp__") for part in parts))


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


def check_versions(hook: CheckedHook) -> Iterator[Finding]:
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
