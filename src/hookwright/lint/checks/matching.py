"""HK2xx: does the matcher match what was intended?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.lint.checks.matchers import check_matcher, check_versions
from hookwright.lint.edits import replace_value
from hookwright.lint.found import finding
from hookwright.lint.guards import guards, program_refusals, refusals, tool_guards
from hookwright.lint.model import Finding
from hookwright.lint.programs.ir import Program
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.tools import SHELL_TOOLS, TOOLS, WRITE_TOOLS, matched
from hookwright.matching.conditions import InvalidRule, parse_rule
from hookwright.matching.matchers import MatchNames

_TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_CONTENT = ("old_string", "new_string", "content", "new_source")
_COMBINED = re.compile(r"\)\s*(?:\|\|?|&&|,|\bor\b|\band\b)\s*[A-Za-z_]\w*\(")


def check_matching(subject: Subject) -> Iterator[Finding]:
    """Check every matcher once per group, and every `if`."""
    seen: set[tuple[str, str]] = set()
    for hook in subject.hooks:
        yield from _condition(hook)
        yield from check_versions(hook)
        place = hook.matcher_place()
        if (place.path, place.pointer) not in seen:
            seen.add((place.path, place.pointer))
            yield from check_matcher(hook, subject)
    yield from _gates(subject)
    yield from _gaps(subject)


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
    conditions = [condition for _, refusal in refusals(hook) for condition in refusal.point.under]
    atoms = [atom for condition in conditions for arm in condition.branch.arms for atom, _ in arm.test.atoms()]
    origins = {origin for atom in atoms for origin in atom.origins}
    content = bool(origins) and all(origin.endswith(_CONTENT) for origin in origins)
    return not content and any("file_path" in field.path for program in hook.programs for field in program.fields)
