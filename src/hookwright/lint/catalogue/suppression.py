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
        summary="A suppression says nothing about why.",
        why="Nobody can tell later whether it still holds. It does not count until it has a reason.",
        fix="`# hookwright: ignore HK411 -- the log of our own tool`.",
        bad=script("log.sh", bash("echo 'Large file.' >&2 # hookwright: ignore HK411\nexit 0\n"), "echo"),
        good=script("log.sh", bash("echo 'Large file.' >&2 # hookwright: ignore HK411 -- for the debug log\nexit 0\n")),
    ),
    LintRule(
        id="HK002",
        name="unused-suppression",
        severity=Severity.INFO,
        summary="A suppression suppresses nothing.",
        why="What it was for is gone; left behind, it hides the next mistake.",
        fix="No suppression.",
        bad=script("log.sh", bash("cat >> log # hookwright: ignore HK411 -- for the debug log\n"), "cat"),
        good=script("log.sh", bash("echo 'Large file.' >&2 # hookwright: ignore HK411 -- for the debug log\nexit 0\n")),
    ),
)
