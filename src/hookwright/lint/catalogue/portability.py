"""HK9xx: other agents."""

from __future__ import annotations

from hookwright.lint.catalogue.samples import command, conf, group, one
from hookwright.lint.model import LintRule
from hookwright.protocol.diagnostics import Severity

_HI = command("echo hi")

RULES = (
    LintRule(
        id="HK901",
        name="not-on-target",
        severity=Severity.WARNING,
        summary="The target accepts this but ignores it.",
        why="Other agents parse `prompt` and `agent` handlers, `async`, `if` or `args` and ignore them, "
        "mostly silently.",
        fix="Do the work in a command handler.",
        bad=one("Stop", {"type": "prompt", "prompt": "Done?"}, '"type"', target="codex"),
        good=one("Stop", _HI, target="codex"),
        needs_target=True,
    ),
    LintRule(
        id="HK902",
        name="host-variable",
        severity=Severity.WARNING,
        summary="The target does not set the variable.",
        why="An unset `$CLAUDE_PROJECT_DIR` makes the path `/…`: exit 127 on every call.",
        fix='Add `[ -n "${CLAUDE_PROJECT_DIR:-}" ] || exit 0;` first.',
        bad=one("Stop", command('"$CLAUDE_PROJECT_DIR"/bin/x.sh'), '"command": ', target="codex"),
        good=one(
            "Stop",
            command('[ -n "${CLAUDE_PROJECT_DIR:-}" ] || exit 0; "$CLAUDE_PROJECT_DIR"/bin/x.sh'),
            target="codex",
        ),
        needs_target=True,
    ),
    LintRule(
        id="HK903",
        name="tool-name-map",
        severity=Severity.WARNING,
        summary="The target's tools have other names.",
        why="`Bash` is `run_shell_command` in Gemini CLI, `exec_command` in Codex, `terminal` in OpenHands: "
        "the matcher matches nothing there.",
        fix="Use the target's names in a file for the target.",
        bad=one("PostToolUse", _HI, '"matcher"', matcher="Bash", target="gemini"),
        good=conf({"PostToolUse": [group(_HI)]}, target="gemini"),
        needs_target=True,
    ),
    LintRule(
        id="HK904",
        name="event-name-map",
        severity=Severity.WARNING,
        summary="The target's events have other names.",
        why="Gemini CLI rejects `PreToolUse`; there it is `BeforeTool`, in Cursor `beforeShellExecution`, in "
        "Copilot `preToolUse`.",
        fix="Use the target's names in a file for the target.",
        bad=conf({"PreToolUse": [group(_HI)]}, '"PreToolUse"', target="gemini"),
        good=conf({"SessionStart": [group(_HI)]}, target="gemini"),
        needs_target=True,
    ),
    LintRule(
        id="HK905",
        name="timeout-unit-map",
        severity=Severity.WARNING,
        summary="The target counts in milliseconds.",
        why='`"timeout": 10` stops the hook after 10 ms in Gemini CLI and Qwen Code.',
        fix="Write milliseconds in a file for the target.",
        bad=one("SessionStart", command("echo hi", timeout=10), '"timeout"', target="gemini"),
        good=one("SessionStart", _HI, target="gemini"),
        needs_target=True,
    ),
)
