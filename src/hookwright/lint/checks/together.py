"""HK631 and HK632: hooks that get in each other's way."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookwright.lint.found import finding
from hookwright.lint.guards import (
    answers,
    calls_of,
)
from hookwright.lint.model import Finding
from hookwright.lint.subject import CheckedHook, Subject
from hookwright.lint.tools import matched

_FORMATTERS = {
    "python": ("ruff", "black", "isort", "autopep8", "yapf", "autoflake"),
    "web": ("prettier", "eslint", "biome", "standard", "dprint"),
    "go": ("gofmt", "goimports", "gofumpt"),
    "rust": ("rustfmt",),
    "c": ("clang-format",),
    "shell": ("shfmt",),
}


def check_together(subject: Subject) -> Iterator[Finding]:
    """Look at hooks that run for the same calls."""
    yield from _rewriters(subject)
    yield from _writers(subject)


def _rewriters(subject: Subject) -> Iterator[Finding]:
    """HK631: two hooks that rewrite the same thing."""
    for event, key in (("PreToolUse", "updatedInput"), ("PostToolUse", "updatedToolOutput")):
        found = [hook for hook in subject.commands if hook.event == event and _rewrites(hook, key)]
        for index, hook in enumerate(found):
            earlier = [other for other in found[:index] if _overlap(hook, other) and not _same(hook, other)]
            if earlier:
                where = earlier[0].place("command")
                what = (
                    f"The hook in line {where.line} also returns `{key}` for the same calls. In Claude Code "
                    "the one that finishes last wins; in Hookwright the later one here (D1)."
                )
                yield finding("HK631", hook.place("command"), what, "One hook that makes both changes.")


def _rewrites(hook: CheckedHook, key: str) -> bool:
    return any(
        answer.specific is not None and key in answer.specific.items
        for program in hook.launch.deciding
        for answer in answers(program)
    )


def _overlap(hook: CheckedHook, other: CheckedHook) -> bool:
    both_conditions = (
        hook.handler.condition != other.handler.condition and hook.handler.condition and other.handler.condition
    )
    return bool(matched(hook.matcher) & matched(other.matcher)) and not both_conditions


def _same(hook: CheckedHook, other: CheckedHook) -> bool:
    return hook.handler.identity == other.handler.identity


def _writers(subject: Subject) -> Iterator[Finding]:
    """HK632: two formatters on one file at the same time."""
    found = [(hook, kinds) for hook in subject.commands if hook.event == "PostToolUse" and (kinds := _formats(hook))]
    for index, (hook, kinds) in enumerate(found):
        for other, more in found[:index]:
            if (kinds & more) and _overlap(hook, other) and not _same(hook, other):
                where = other.place("command")
                what = (
                    f"The hook in line {where.line} writes the same files, and both run at the same time: one "
                    "result can be lost."
                )
                yield finding("HK632", hook.place("command"), what, "One script that runs both, one after the other.")
                break


def _formats(hook: CheckedHook) -> frozenset[str]:
    """Name the families of files that a hook's formatters write."""
    found: set[str] = set()
    for program in hook.programs:
        for _, call in calls_of(program):
            words = [word.known for word in call.words]
            text = " ".join(words)
            for family, names in _FORMATTERS.items():
                name = next((word.rsplit("/", 1)[-1] for word in words if word.rsplit("/", 1)[-1] in names), None)
                if name is not None and _writes(name, text):
                    found.add(family)
    return frozenset(found)


def _writes(name: str, text: str) -> bool:
    if name in ("eslint", "ruff", "prettier", "biome", "gofmt", "goimports", "clang-format", "shfmt"):
        return bool(re.search(r"--fix|--write|--apply| format\b| -w\b| -i\b", text)) and "--check" not in text
    return "--check" not in text and "--diff" not in text
