"""The permission rules of a session, with their origins, and how they apply to a call."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from hookwright.agent.permissions.files import Named, NamedFiles
from hookwright.config.settings import PermissionSettings as Declared
from hookwright.matching.conditions import (
    AnyCall,
    InvalidRule,
    Match,
    NoMatch,
    Reading,
    Rule,
    Undecided,
    Where,
    allowed_by,
    covers,
    is_about_files,
    parse_rule,
)
from hookwright.protocol.diagnostics import Diagnostic
from hookwright.protocol.jsontext import Json
from hookwright.protocol.sources import Scope, Source


class Behavior(enum.StrEnum):
    """What a rule does."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Origin(enum.StrEnum):
    """Where a rule comes from, by the names of the protocol."""

    MANAGED = "policySettings"
    USER = "userSettings"
    PROJECT = "projectSettings"
    LOCAL = "localSettings"
    FLAG = "flagSettings"
    CLI = "cliArg"
    SESSION = "session"


#: Origins whose rules come from files and are replaced when the files are reloaded.
_IN_FILES = {
    Scope.MANAGED: Origin.MANAGED,
    Scope.USER: Origin.USER,
    Scope.PROJECT: Origin.PROJECT,
    Scope.LOCAL: Origin.LOCAL,
    Scope.FLAG: Origin.FLAG,
}


class ListedRule(msgspec.Struct, frozen=True):
    """A rule with its behaviour and origin."""

    behavior: Behavior
    rule: Rule
    origin: Origin
    #: The directory a leading slash in the rule refers to; empty for the workspace's root.
    anchor: str = ""


class Rules(msgspec.Struct, frozen=True):
    """All rules of a session; their order does not matter, since deny beats ask and ask beats allow."""

    listed: tuple[ListedRule, ...] = ()

    def of(self, behavior: Behavior) -> tuple[ListedRule, ...]:
        """Return the rules with one behaviour."""
        return tuple(listed for listed in self.listed if listed.behavior is behavior)

    def guard(
        self, behavior: Behavior, tool: str, arguments: Mapping[str, Json], where: Where
    ) -> tuple[ListedRule, str | None] | None:
        """Return the deny or ask rule that applies to a call, with a reason if it only may apply."""
        reading = Reading.DENY if behavior is Behavior.DENY else Reading.ASK
        unsure = None
        for listed in self.of(behavior):
            answer = listed.rule.match(tool, arguments, _from(where, listed), reading)
            if isinstance(answer, Match):
                return listed, None
            if isinstance(answer, Undecided) and unsure is None:
                unsure = (listed, answer.reason)
        return unsure

    def remove(self, tool: str) -> bool:
        """Return whether a deny rule takes a whole tool away: one that names the tool or its MCP server, no more."""
        whole = [listed.rule for listed in self.of(Behavior.DENY) if isinstance(listed.rule.specifier, AnyCall)]
        of_server = tool.startswith("mcp__")
        return any(rule.tool == tool or (of_server and covers(rule, tool, Reading.DENY)) for rule in whole)

    def guard_files(self, behavior: Behavior, named: NamedFiles, where: Where) -> tuple[ListedRule, str | None] | None:
        """Return the deny or ask rule about files that applies to a command, with a reason if it only may apply."""
        reading = Reading.DENY if behavior is Behavior.DENY else Reading.ASK
        unsure = None
        for listed in self.of(behavior):
            if listed.rule.tool not in ("Read", "Edit") or not is_about_files(listed.rule):
                continue
            place = _from(where, listed)
            for file in named.files:
                tool = "Edit" if file.changes else "Read"
                answer = listed.rule.match(tool, {"file_path": file.path}, place, reading)
                if isinstance(answer, Match) and file.sure:
                    return listed, None
                if not isinstance(answer, NoMatch):
                    unsure = unsure or (listed, f"it names {file.path}")
            if named.doubt is not None:
                unsure = unsure or (listed, named.doubt)
        return unsure

    def holds_back(self, path: str, where: Where) -> bool:
        """Return whether a deny or ask rule applies to reading a file, for tools that read many."""
        named = NamedFiles((Named(path, sure=True),))
        return any(self.guard_files(behavior, named, where) for behavior in (Behavior.DENY, Behavior.ASK))

    def allows(self, tool: str, arguments: Mapping[str, Json], where: Where) -> bool:
        """Return whether the allow rules together surely cover a call."""
        rules = self.of(Behavior.ALLOW)
        if isinstance(arguments.get("command"), str):  # several rules may each cover a part of it
            return isinstance(allowed_by([listed.rule for listed in rules], tool, arguments, where), Match)
        return any(_matches(listed, tool, arguments, where) for listed in rules)

    def names(self, words: Iterable[str], tool: str, arguments: Mapping[str, Json], where: Where) -> bool:
        """Return whether an allow rule surely covers a call and contains one of these words."""
        known = tuple(words)
        rules = [listed for listed in self.of(Behavior.ALLOW) if any(word in listed.rule.text for word in known)]
        return any(_matches(listed, tool, arguments, where) for listed in rules)

    def plus(self, more: Iterable[ListedRule]) -> Rules:
        """Add rules, without duplicates."""
        return Rules(tuple(dict.fromkeys((*self.listed, *more))))

    def without(self, origin: Origin, behavior: Behavior | None = None) -> Rules:
        """Remove the rules of one origin, all or those with one behaviour."""
        kept = (
            listed
            for listed in self.listed
            if listed.origin is not origin or (behavior is not None and listed.behavior is not behavior)
        )
        return Rules(tuple(kept))

    def reloaded(self, more: Iterable[ListedRule]) -> Rules:
        """Replace the rules from files; keep those of the command line and the session."""
        kept = tuple(listed for listed in self.listed if listed.origin in (Origin.CLI, Origin.SESSION))
        return Rules(kept).plus(more)


def _from(where: Where, listed: ListedRule) -> Where:
    return msgspec.structs.replace(where, anchor=listed.anchor or where.anchor)


def _matches(listed: ListedRule, tool: str, arguments: Mapping[str, Json], where: Where) -> bool:
    return isinstance(listed.rule.match(tool, arguments, _from(where, listed), Reading.ALLOW), Match)


def declared_rules(declared: Declared) -> tuple[tuple[ListedRule, ...], tuple[Diagnostic, ...]]:
    """Read the rules of all settings files; an invalid rule is reported and skipped."""
    found: list[ListedRule] = []
    notes: list[Diagnostic] = []
    for behavior in Behavior:
        for sourced in getattr(declared, behavior.value):
            origin = _IN_FILES[sourced.source.scope]
            listed, problem = _read(sourced.text, behavior, origin, sourced.source)
            found += [] if listed is None else [listed]
            notes += [] if problem is None else [problem]
    return tuple(found), tuple(notes)


def spoken_rules(
    texts: Sequence[str], behavior: Behavior, origin: Origin
) -> tuple[tuple[ListedRule, ...], tuple[Diagnostic, ...]]:
    """Read the rules of the command line or of a permission update; an invalid rule is reported and skipped."""
    pairs = [_read(text, behavior, origin, None) for text in texts]
    return tuple(listed for listed, _ in pairs if listed), tuple(problem for _, problem in pairs if problem)


def _read(
    text: str, behavior: Behavior, origin: Origin, source: Source | None
) -> tuple[ListedRule | None, Diagnostic | None]:
    try:
        rule = parse_rule(text)
    except InvalidRule as error:
        return None, Diagnostic("invalid-rule", f"permissions.{behavior.value}: {error} The rule is ignored.", source)
    return ListedRule(behavior, rule, origin, source.anchor if source is not None else ""), None


def split_rules(text: str) -> list[str]:
    """Split a list of rules from the command line at commas and spaces outside brackets."""
    out, depth, word = [], 0, ""
    for char in text:
        depth += (char == "(") - (char == ")" and depth > 0)
        if depth == 0 and (char == "," or char.isspace()):
            out.append(word)
            word = ""
        else:
            word += char
    return [rule for rule in (*out, word) if rule]
