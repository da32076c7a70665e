"""HK1xx: is the configuration read as intended?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from hookwright.config.fields import SPECS
from hookwright.config.jsonfile import Broken, Path, read_tree
from hookwright.config.parse import parse_hooks
from hookwright.config.settings import merge
from hookwright.lint.checks.security import raises_trust, redirects
from hookwright.lint.edits import nest_handler, remove_member, rename_key, replace_value, strict_json
from hookwright.lint.found import finding
from hookwright.lint.model import Finding, Fix, Position
from hookwright.lint.subject import CheckedHook, Document, Role, Subject
from hookwright.lint.targets import EVENTS_TOLERATED, dotted
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import CommandHandler
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import SETTINGS_SCOPES, Scope, Source
from hookwright.text import closest

_WHOLE_FILE = ("PreToolUse", "PermissionRequest")
#: Diagnostic code of the parser -> rule, for entries of the wrong shape.
_RULES = {
    "unknown-event": "HK101",
    "flat-handler": "HK103",
    "not-an-object": "HK104",
    "not-a-list": "HK104",
    "wrong-type": "HK104",
    "bad-value": "HK104",
    "unknown-type": "HK105",
    "missing-field": "HK105",
    "empty-command": "HK105",
    "unknown-key": "HK106",
    "once-ignored": "HK106",
    "on-failure-ignored": "HK106",
    "setting-ignored": "HK106",
    "reserved-setting": "HK113",
}
_DROPPING = frozenset({"HK103", "HK104", "HK105"})


def check_shape(subject: Subject) -> Iterator[Finding]:
    """Find everything the parser drops, ignores or reads differently."""
    for document in subject.documents:
        yield from _text(document)
        for diagnostic in document.found.diagnostics:
            yield from _entry(document, diagnostic)
        yield from _versions(document, subject)
    for hook in subject.hooks:
        yield from _timeout(hook)
    yield from _duplicates(subject)
    yield from _manifests(subject)
    yield from _disabled(subject)
    yield from _shadowed(subject)


def _text(document: Document) -> Iterator[Finding]:
    """HK111: text that is not valid JSON or YAML."""
    broken = isinstance(document.parsed, Broken)
    for fault in document.parsed.faults:
        at = Position(document.path, fault.line, fault.column)
        said = f"{fault.message[:1].upper()}{fault.message[1:]}"
        if broken and document.role is Role.COMPONENT:
            yield finding("HK111", at, f"{said} The hooks in this frontmatter are ignored.", "Write valid YAML.")
        elif broken:
            what = f"{said} The whole file is ignored, hooks, permissions and all; in a headless run silently."
            write = "Write strict JSON: no comments, no trailing commas, quoted keys."
            yield finding("HK111", at, what, write, fix=strict_json(document))
        else:
            yield finding("HK111", at, said, "Merge both values under one key.", severity=Severity.WARNING)


def _entry(document: Document, diagnostic: Diagnostic) -> Iterator[Finding]:
    """HK101, HK103, HK104, HK105, HK106 and HK113: single entries."""
    rule = _RULES.get(diagnostic.code)
    if rule is None or diagnostic.source is None:
        return
    path = pointer_path(diagnostic.source.pointer)
    if rule == "HK113" and (redirects(str(path[-1])) or raises_trust(document)):
        return  # reported as an attack
    at = document.place(path)
    lifted = rule == "HK103" and diagnostic.severity is Severity.INFO
    if lifted:
        what = "A flat entry: Claude Code silently drops it; Hookwright reads it as a group with one command."
    else:
        said = _unknown_event(path) if rule == "HK101" else diagnostic.message
        what = f"{said[:1].upper()}{said[1:]} {_consequence(document, rule, path)}".strip()
    severity = Severity.INFO if diagnostic.severity is Severity.INFO and not lifted else None
    yield finding(rule, at, what, _way_out(rule), severity=severity, fix=_fix(document, rule, path))


def _unknown_event(path: Path) -> str:
    name = str(path[-1]) if path else ""
    meant = closest(name, CATALOGUE)
    return f"`{name}` is not an event: its hooks never run." + (f" Did you mean `{meant}`?" if meant else "")


def pointer_path(pointer: str) -> Path:
    """Split a pointer such as `hooks.PreToolUse[0].hooks[1]` into its steps."""
    steps: list[str | int] = []
    for match in re.finditer(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)', pointer):
        quoted, index, name = match.groups()
        steps.append(quoted if quoted is not None else int(index) if index is not None else name)
    return tuple(steps)


def _consequence(document: Document, rule: str, path: Path) -> str:
    """Describe what Claude Code and Hookwright do with an unusable entry."""
    event = next((step for step in path if isinstance(step, str) and step in CATALOGUE), None)
    if rule == "HK101":
        version = dotted(EVENTS_TOLERATED)
        return f"Claude Code before {version} skips the whole file; Hookwright skips only these hooks (D2)."
    if rule not in _DROPPING or document.role is not Role.SETTINGS:
        return ""
    if event in _WHOLE_FILE:
        return (
            f"Claude Code then ignores the whole file, because the entry is under {event}; Hookwright ignores only "
            "the entry (D2)."
        )
    return "Claude Code silently drops the entry in a headless run; Hookwright reports it (D2)." if event else ""


def _way_out(rule: str) -> str:
    return {
        "HK101": "Use the event's name as documented.",
        "HK103": 'Wrap it in a group: {"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}.',
        "HK104": "Write a value of the type the key requires.",
        "HK105": 'Give the handler a known type and its fields: {"type": "command", "command": "…"}.',
        "HK106": "Correct the key, or remove it.",
        "HK113": "Set it in your own settings, or give the variable a name of its own.",
    }[rule]


def _fix(document: Document, rule: str, path: Path) -> Fix:
    """Return the edit, where only one is possible."""
    value: Json = document.value
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return ()
    last = path[-1] if path else ""
    match rule:
        case "HK101" if isinstance(last, str):
            meant = next((name for name in CATALOGUE if name.lower() == last.lower().replace("_", "")), None)
            return rename_key(document, path, meant) if meant else ()
        case "HK103" if isinstance(value, Mapping):
            return nest_handler(document, path, value)
        case "HK105" if last == "type" and isinstance(value, str) and value.lower() in SPECS:
            return replace_value(document, path, value.lower())
        case "HK106" if last in ("timeoutMs", "timeout_ms") and isinstance(value, int | float) and value:
            seconds = value / 1000
            renamed = rename_key(document, path, "timeout")
            return (*renamed, *replace_value(document, path, int(seconds) if seconds == int(seconds) else seconds))
    return ()


def _versions(document: Document, subject: Subject) -> Iterator[Finding]:
    """HK102: events the target version does not know yet."""
    version = subject.options.target.version
    if version is None:
        return
    for event in document.events:
        since = CATALOGUE[event].rules.since if event in CATALOGUE else None
        if since is not None and version < since:
            skipped = "the whole settings file is skipped" if version < EVENTS_TOLERATED else "its hooks never run"
            what = f"`{event}` needs Claude Code {dotted(since)}; in {dotted(version)} {skipped}."
            write = f"Require {dotted(since)}, or move these hooks to a separate settings file."
            yield finding("HK102", document.place((*document.at, event)), what, write)


def _timeout(hook: CheckedHook) -> Iterator[Finding]:
    """HK107: milliseconds instead of seconds."""
    seconds = hook.handler.timeout
    if seconds is None or not (seconds > 3600 or (seconds >= 1000 and seconds % 1000 == 0)):
        return
    meant = seconds / 1000
    number = int(meant) if meant == int(meant) else meant
    what = (
        f"{seconds:g} seconds are {seconds / 60:.0f} minutes. Claude Code counts in seconds; Gemini CLI and Qwen "
        "Code count in milliseconds."
    )
    fix = replace_value(hook.document, (*hook.at, "timeout"), number) if seconds % 1000 == 0 else ()
    yield finding("HK107", hook.place("timeout"), what, f'Set "timeout": {number:g}.', fix=fix)


def _duplicates(subject: Subject) -> Iterator[Finding]:
    """HK108: the same command from a settings file and from a plugin."""
    seen: dict[tuple[object, ...], CheckedHook] = {}
    for hook in subject.commands:
        handler = hook.command
        assert handler is not None
        key = (hook.event, hook.group.matcher or "", _resolved(handler, hook), handler.condition)
        other = seen.setdefault(key, hook)
        apart = {other.document.scope in SETTINGS_SCOPES, hook.document.scope in SETTINGS_SCOPES}
        if other is hook or other.document.scope is hook.document.scope is Scope.COMPONENT:
            continue
        if apart == {True, False} or (other.document is hook.document and hook.document.scope is Scope.PLUGIN):
            where = other.place("command")
            what = (
                f"The same command is also declared at {os.path.basename(where.path)}:{where.line}. It runs twice for "
                f"each {hook.event}: only copies in settings files are merged, a plugin's copy stays separate."
            )
            yield finding("HK108", hook.place("command"), what, "Remove one of the two.")


def _resolved(handler: CommandHandler, hook: CheckedHook) -> tuple[str, ...]:
    known = {"CLAUDE_PROJECT_DIR": hook.reach.project_dir, "CLAUDE_PLUGIN_ROOT": hook.reach.plugin_root}
    words = (handler.command, *(handler.args or ()))
    for name, value in known.items():
        if value:
            words = tuple(re.sub(rf"\$\{{{name}\}}|\${name}\b", value, word).replace('"', "") for word in words)
    return words


def _manifests(subject: Subject) -> Iterator[Finding]:
    """HK109: a manifest that names a file loaded anyway."""
    for document in subject.documents:
        named = document.value.get("hooks") if document.role is Role.MANIFEST else None
        for item in named if isinstance(named, list) else [named]:
            if isinstance(item, str) and os.path.normpath(item) == os.path.join("hooks", "hooks.json"):
                what = (
                    "hooks/hooks.json is loaded anyway; naming it again makes Claude Code fail to load the plugin's "
                    "hooks (`Duplicate hooks file`). Hookwright reads it once."
                )
                fix = remove_member(document, ("hooks",)) if isinstance(named, str) else ()
                yield finding("HK109", document.place(("hooks",)), what, "Remove `hooks`.", fix=fix)


def _disabled(subject: Subject) -> Iterator[Finding]:
    """HK110: the switch that turns everything off."""
    declared = [document.declared for document in subject.documents if document.declared is not None]
    switch = merge(declared).disable_all_hooks
    if switch is None or not switch.on:
        return
    document = next((item for item in subject.documents if item.path == switch.source.path), None)
    if document is not None:
        kept = "No hook runs" if document.scope is Scope.MANAGED else "Only managed hooks run"
        what = f"{kept}: the effective `disableAllHooks` is the one in this file."
        yield finding(
            "HK110", document.place(("disableAllHooks",)), what, "Remove `disableAllHooks`, or set it to false."
        )


def _shadowed(subject: Subject) -> Iterator[Finding]:
    """HK112: hooks of a parent directory, which a session started here does not load."""
    for project in subject.projects:
        here = os.path.realpath(project)
        own = os.path.isfile(os.path.join(here, ".claude", "settings.json"))
        for above in _upward(here):
            path = os.path.join(above, ".claude", "settings.json")
            count = _count_hooks(path)
            if not count or any(
                document.path == path and document.scope is Scope.USER for document in subject.documents
            ):
                continue
            does = (
                "nor by Hookwright, because this directory has its own settings"
                if own
                else "Hookwright loads them (D7)"
            )
            what = f"{count} hooks of {above} are not loaded by a Claude Code session started in {here}; {does}."
            at = Position(os.path.join(here, ".claude", "settings.json") if own else path)
            yield finding("HK112", at, what, f"Start sessions in {above}, or repeat the hooks that matter here.")


def _upward(directory: str) -> Iterator[str]:
    """List the parent directories up to the repository's root; none outside a repository."""
    found: list[str] = []
    while not os.path.lexists(os.path.join(directory, ".git")):
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent
        found.append(directory)
    yield from found


def _count_hooks(path: str) -> int:
    tree, _ = read_tree(path, Source(Scope.PROJECT, path))
    groups = parse_hooks(tree, Source(Scope.PROJECT, path)).groups if tree is not None else ()
    return sum(len(group.handlers) for group in groups)
