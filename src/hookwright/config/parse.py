"""The `hooks` object of a settings file becomes matcher groups, with every problem and its line.

Law (D2): an invalid entry drops itself and nothing else. A valid entry that never runs stays in the list, so that
`list` and `explain` can show it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from hookwright.config.fields import INTERNAL, SPECS, Wrong, is_note, kind_of, read_fields, shown, text, wrong_type
from hookwright.config.jsonfile import Path, Tree, shown_pointer
from hookwright.matching.conditions import BadRule, compile_rule
from hookwright.matching.matchers import MatchNothing, compile_matcher
from hookwright.protocol.diagnostics import Diagnostic, Severity
from hookwright.protocol.events import CATALOGUE, EventRules
from hookwright.protocol.handlers import CommandHandler, Handler, Kind, MatcherGroup, OnFailure
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Source
from hookwright.text import closest

#: A longer timeout was probably meant in milliseconds.
_LONG_TIMEOUT = 3600.0


def at_place(origin: Source, tree: Tree, path: Path) -> Source:
    """Return the source of one place in the file of `origin`."""
    return msgspec.structs.replace(origin, pointer=shown_pointer(path), line=tree.line(path))


class Found(msgspec.Struct, frozen=True):
    """What one file declares, and what is wrong with it."""

    groups: tuple[MatcherGroup, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def parse_hooks(tree: Tree, origin: Source, at: Path = ("hooks",)) -> Found:
    """Read the hooks object at a path of the tree; an absent one declares nothing."""
    hooks = tree.value
    for step in at:
        if not isinstance(hooks, dict) or step not in hooks:
            return Found()
        hooks = hooks[step]
    reader = _HooksReader(tree, origin)
    groups = reader.events(hooks, at)
    return Found(tuple(groups), tuple(reader.diagnostics))


class _HooksReader:
    """One walk through one hooks object."""

    def __init__(self, tree: Tree, origin: Source) -> None:
        self.tree = tree
        self.origin = origin
        self.component = origin.component.kind if origin.component is not None else ""
        self.diagnostics: list[Diagnostic] = []

    def report(self, code: str, at: Path, message: str, severity: Severity = Severity.ERROR) -> None:
        """Report a problem at one place."""
        self.diagnostics.append(Diagnostic(code, message, at_place(self.origin, self.tree, at), severity))

    def events(self, hooks: Any, at: Path) -> list[MatcherGroup]:
        """Read the groups of every event."""
        if not isinstance(hooks, dict):
            self._not_an_object("hooks", hooks, at, 'Write {"PreToolUse": [ … ]}.')
            return []
        groups: list[MatcherGroup] = []
        for name, entries in hooks.items():
            if name not in CATALOGUE:
                self._unknown_event(name, (*at, name))
            elif not isinstance(entries, list):
                way_out = f'Write "{name}": [{{"hooks": [ … ]}}].'
                message = f"{shown(entries)} is {kind_of(entries)}; {name} is a list of groups. {way_out}"
                self.report("not-a-list", (*at, name), message)
            else:
                found = (self.group(name, entry, (*at, name, index)) for index, entry in enumerate(entries))
                groups.extend(group for group in found if group is not None)
        return groups

    def _unknown_event(self, name: str, at: Path) -> None:
        meant = closest(name, CATALOGUE)
        hint = f" Did you mean {meant}?" if meant else f" The events are {', '.join(CATALOGUE)}."
        self.report("unknown-event", at, f"{name} is not an event; its hooks never run.{hint}", Severity.WARNING)

    def _not_an_object(self, name: str, value: Json, at: Path, way_out: str) -> None:
        is_ = "" if value is None else f" is {kind_of(value)}"
        self.report("not-an-object", at, f"{shown(value)}{is_}; {name} is an object. {way_out}")

    def group(self, event: str, entry: Json, at: Path) -> MatcherGroup | None:
        """Read one group, or a flat entry as a group."""
        if not isinstance(entry, dict):
            self._not_an_object("a group", entry, at, 'Write {"matcher": "…", "hooks": [ … ]}.')
            return None
        matcher = self._matcher(event, entry, at)
        if isinstance(matcher, Wrong):
            self.report(matcher.code, (*at, "matcher"), f"{matcher.message} The whole group is dropped.")
            return None
        handlers = self._handlers(event, entry, at) if "hooks" in entry else self._flat(event, entry, at)
        in_agent = CATALOGUE[event].rules.in_agent
        if self.component == "agent" and in_agent:
            # an agent's own end is a SubagentStop. Stop has no matcher, so nothing narrows it here either.
            return MatcherGroup(in_agent, None, handlers)
        return MatcherGroup(event, matcher, handlers)

    def _handlers(self, event: str, entry: dict[str, Json], at: Path) -> tuple[Handler, ...]:
        self._unknown_group_keys(entry, at)
        entries = entry["hooks"]
        if not isinstance(entries, list):
            message = f"{shown(entries)} is {kind_of(entries)}; hooks is a list of handlers."
            self.report("not-a-list", (*at, "hooks"), f'{message} Write [{{"type": "command", "command": "…"}}].')
            return ()
        found = (self.handler(event, item, (*at, "hooks", index)) for index, item in enumerate(entries))
        return tuple(handler for handler in found if handler is not None)

    def _unknown_group_keys(self, entry: dict[str, Json], at: Path) -> None:
        for key in entry:
            if key in ("matcher", "hooks") or is_note(key):
                continue
            if any(key in spec.fields for spec in SPECS.values()) or key == "type":
                hint = f" `{key}` belongs to a handler, inside `hooks`."
            else:
                meant = closest(key, ("matcher", "hooks"))
                hint = f" Did you mean `{meant}`?" if meant else ""
            message = f"`{key}` is not a valid key on a group and is ignored.{hint}"
            self.report("unknown-key", (*at, key), message, Severity.WARNING)

    def _flat(self, event: str, entry: dict[str, Json], at: Path) -> tuple[Handler, ...]:
        """Read `{matcher, command}` as a group; a handler with `type` but without a group is dropped (R-003)."""
        bare = {key: value for key, value in entry.items() if key != "matcher"}
        if "type" in entry:
            way_out = f'Write {{"hooks": [{shown(bare)}]}}.'
            self.report("flat-handler", at, f"a handler appears where a group belongs, so it is dropped. {way_out}")
            return ()
        if "command" not in entry:
            self.report("missing-field", at, "`hooks` is missing, so the group is dropped. Write its list of handlers.")
            return ()
        message = 'a flat entry is read as a group with one command. Better: {"hooks": [{"type": "command", … }]}.'
        self.report("flat-handler", at, message, Severity.INFO)
        handler = self.handler(event, {"type": "command", **bare}, at)
        return () if handler is None else (handler,)

    def _matcher(self, event: str, entry: dict[str, Json], at: Path) -> str | Wrong | None:
        """Read the matcher of a group, and report one that never matches."""
        if "matcher" not in entry:
            return None
        matcher = entry["matcher"]
        if not isinstance(matcher, str):
            return wrong_type("matcher", matcher, "a string", 'Write "Bash", "Edit|Write", or "" for everything.')
        rules, at = CATALOGUE[event].rules, (*at, "matcher")
        if matcher in ("", "*"):
            return matcher
        if rules.target is None:
            message = f"{event} has no matcher: {shown(matcher)} is ignored and the hooks run every time. Remove it."
            self.report("matcher-ignored", at, message, Severity.INFO)
            return matcher
        compiled = compile_matcher(matcher, narrow=rules.narrow)
        if isinstance(compiled, MatchNothing):
            why = f"{shown(matcher)} is not a regular expression: {compiled.error} at character {compiled.offset + 1}."
            way_out = "Correct it; plain names are separated with |."
            self.report("invalid-matcher", at, f"{why} These hooks of {event} never run. {way_out}")
        elif rules.values and not any(map(compiled.matches, rules.values)):
            message = f"{shown(matcher)} matches no known {rules.target} of {event}: {', '.join(rules.values)}."
            self.report("matcher-matches-nothing", at, message, Severity.WARNING)
        return matcher

    def handler(self, event: str, entry: Json, at: Path) -> Handler | None:
        """Read one handler, and report all of its problems."""
        if not isinstance(entry, dict):
            self._not_an_object("a handler", entry, at, 'Write {"type": "command", "command": "…"}.')
            return None
        kind = entry.get("type")
        if not isinstance(kind, str) or kind not in SPECS:
            self._bad_type(entry, at)
            return None
        spec = SPECS[kind]
        attributes, problems = read_fields(spec, entry)
        for key, problem in problems:
            self.report(problem.code, (*at, key) if key else at, problem.message)
        self._unknown_handler_keys(kind, entry, at)
        if problems:
            return None
        if attributes.get("once") and self.component != "skill":
            attributes["once"] = False
            message = "`once` only applies in skill frontmatter; here the hook runs every time. Remove it."
            self.report("once-ignored", (*at, "once"), message, Severity.INFO)
        handler = spec.make(source=at_place(self.origin, self.tree, at), **attributes)
        self._check(handler, CATALOGUE[event].rules, event, at)
        return handler

    def _bad_type(self, entry: dict[str, Json], at: Path) -> None:
        kinds = ", ".join(SPECS)
        if "type" not in entry:
            self.report("missing-field", at, f"`type` is missing, so the handler is dropped. Write one of {kinds}.")
            return
        kind = entry["type"]
        at = (*at, "type")
        wrong = text("type", kind)
        if isinstance(wrong, Wrong):
            self.report(wrong.code, at, wrong.message)
            return
        hint = f"Write one of {kinds}."
        if kind in (Kind.CALLBACK.value, Kind.FUNCTION.value):
            hint = "Such handlers are registered in code, not in a file."
        elif meant := closest(kind, SPECS):
            hint = f'Write "{meant}".'
        self.report("unknown-type", at, f"{shown(kind)} is not a handler type, so the handler is dropped. {hint}")

    def _unknown_handler_keys(self, kind: str, entry: dict[str, Json], at: Path) -> None:
        fields = SPECS[kind].fields
        for key in entry:
            if key in fields or key == "type" or is_note(key) or (kind == "command" and key in INTERNAL):
                continue
            owners = [name for name, spec in SPECS.items() if key in spec.fields]
            code = "unknown-key"
            if key in ("async", "asyncRewake"):
                code, hint = "async-ignored", f"`{key}` only applies to command handlers; the agent waits for this one."
            elif owners:
                hint = f"`{key}` only applies to {' and '.join(owners)} handlers and is ignored here."
            else:
                meant = closest(key, fields)
                hint = f"`{key}` is not a valid key on a {kind} handler and is ignored."
                hint += f" Did you mean `{meant}`?" if meant else ""
            self.report(code, (*at, key), hint, Severity.WARNING)

    def _check(self, handler: Handler, rules: EventRules, event: str, at: Path) -> None:
        """Report a valid handler that does not do what its author expects."""
        if isinstance(handler, CommandHandler) and handler.command == "":
            message = f"the command is empty: every run of it on {event} is an error. Write it, or remove the handler."
            self.report("empty-command", (*at, "command"), message)
        if handler.kind in (Kind.PROMPT, Kind.AGENT) and handler.kind not in rules.model_kinds:
            message = f"{event} does not support {handler.kind.value} handlers; it never runs."
            self.report("unsupported-kind", (*at, "type"), f"{message} Use a command handler.")
        elif handler.kind in rules.skipped_kinds:
            message = f"{event} skips {handler.kind.value} handlers. Use a command handler."
            self.report("unsupported-kind", (*at, "type"), message, Severity.WARNING)
        if handler.condition is not None:
            self._check_condition(handler.condition, rules, event, (*at, "if"))
        if handler.on_failure is OnFailure.BLOCK and (handler.background or not rules.on_failure):
            why = "on a hook in the background" if handler.background else f"on {event}"
            message = f"a failure cannot block {why}; `onFailure` is ignored. Remove it."
            self.report("on-failure-ignored", at, message, Severity.WARNING)
        if handler.timeout is not None and handler.timeout > _LONG_TIMEOUT:
            sure = "" if handler.timeout % 1000 == 0 else " if you meant milliseconds"
            way_out = f"Write {handler.timeout / 1000:g}{sure}."
            message = f"{handler.timeout:g} is over an hour; timeout is in seconds. {way_out}"
            self.report("timeout-unit", (*at, "timeout"), message, Severity.WARNING)

    def _check_condition(self, condition: str, rules: EventRules, event: str, at: Path) -> None:
        if not rules.condition:
            message = f"`if` only works on tool events; on {event} the handler never runs. Remove `if`."
            self.report("if-on-event", at, message)
            return
        rule = compile_rule(condition)
        if isinstance(rule, BadRule):
            self.report("invalid-if", at, f"{shown(condition)} cannot be read: {rule.problem} The handler never runs.")
