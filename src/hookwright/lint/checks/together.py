"""Rules for hooks that interfere with each other."""

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
    """Check hooks that run for the same calls."""
    yield from _rewriters(subject)
    yield from _writers(subject)


def _rewriters(subject: Subject) -> Iterator[Finding]:
    """HK631: two hooks that rewrite the same value."""
    for event, key in (("PreToolUse", "updatedInput"), ("PostToolUse", "updatedToolOutput")):
        found = [hook for hook in subject.commands if hook.event == event and _rewrites(hook, key)]
        for index, hook in enumerate(found):
            earlier = [other for other in found[:index] if _overlap(hook, other) and not _same(hook, other)]
            if earlier:
                where = earlier[0].place("command")
                what = (
                    f"The hook in line {where.line} also returns `{key}` for the same calls. In Claude Code "
                    "the one that finishes last wins; in Hookwright the one declared last (D1)."
                )
                yield finding("HK631", hook.place("command"), what, "Make both changes in one hook.")


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
                    f"The hook in line {where.line} writes the same files, and both run at the same time: one result "
                    "can be lost."
                )
                yield finding("HK632", hook.place("command"), what, "Run both from one script, one after the other.")
                break


def _formats(hook: CheckedHook) -> frozenset[str]:
    """Return the families of files the hook's formatters write."""
    calls = [call for program in hook.programs for _, call in calls_of(program)]
    lines = [[word.known for word in call.words] for call in calls]
    return frozenset(family for words in lines for family, names in _FORMATTERS.items() if _formats_with(words, names))


def _formats_with(words: list[str], names: tuple[str, ...]) -> bool:
    found = [name for word in words if (name := word.rsplit("/", 1)[-1]) in names]
    return bool(found) and _writes(found[0], " ".join(words))


def _writes(name: str, text: str) -> bool:
    if name in ("eslint", "ruff", "prettier", "biome", "gofmt", "goimports", "clang-format", "shfmt"):
        return bool(re.search(r"--fix|--write|--apply| format\b| -w\b| -i\b", text)) and "--check" not in text
    return "--check" not in text and "--diff" not in text
