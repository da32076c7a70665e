"""HK0xx: suppressions themselves."""

from __future__ import annotations

from hookwright.lint.catalogue.samples import bash, script
from hookwright.lint.model import LintRule
from hookwright.protocol.diagnostics import Severity

RULES = (
    LintRule(
        id="HK001",
        name="suppression-without-reason",
        severity=Severity.WARNING,
        summary="A suppression without a reason.",
        why="Later readers cannot know whether it still applies. It has no effect until it has a reason.",
        fix="Add the reason: `# hookwright: ignore HK411 -- the log of our own tool`.",
        bad=script("log.sh", bash("echo 'Large file.' >&2 # hookwright: ignore HK411\nexit 0\n"), "echo"),
        good=script("log.sh", bash("echo 'Large file.' >&2 # hookwright: ignore HK411 -- for the debug log\nexit 0\n")),
    ),
    LintRule(
        id="HK002",
        name="unused-suppression",
        severity=Severity.INFO,
        summary="A suppression that suppresses nothing.",
        why="The problem it was for is gone; if it stays, it hides the next one.",
        fix="Remove the suppression.",
        bad=script("log.sh", bash("cat >> log # hookwright: ignore HK411 -- for the debug log\n"), "cat"),
        good=script("log.sh", bash("echo 'Large file.' >&2 # hookwright: ignore HK411 -- for the debug log\nexit 0\n")),
    ),
)
