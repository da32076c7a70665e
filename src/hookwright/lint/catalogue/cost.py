"""HK7xx: cost."""

from __future__ import annotations

from msgspec.structs import replace

from hookwright.lint.catalogue.samples import HOOKS, bash, command, one, script
from hookwright.lint.model import LintRule
from hookwright.protocol.diagnostics import Severity

_GUARD = bash(
    "command=$(jq -r '.tool_input.command')\ncase \"$command\" in\n"
    "  terraform*) echo 'Blocked: ask first.' >&2; exit 2 ;;\nesac\n"
)

RULES = (
    LintRule(
        id="HK701",
        name="sessionend-timeout",
        severity=Severity.WARNING,
        strict=True,
        summary="SessionEnd without a timeout.",
        why="All SessionEnd hooks together are stopped after 1.5 seconds, unless a hook in a settings file "
        "sets a longer timeout (at most 60).",
        fix='Set `"timeout": 10`.',
        bad=one("SessionEnd", command("cat >> ends.jsonl"), '{\n            "type"'),
        good=one("SessionEnd", command("cat >> ends.jsonl", timeout=10)),
    ),
    LintRule(
        id="HK702",
        name="guard-no-timeout",
        severity=Severity.WARNING,
        strict=True,
        summary="A guard without a timeout.",
        why="The default is 600 seconds, and then the call proceeds.",
        fix='Set `"timeout": 10`.',
        bad=one(
            "PreToolUse",
            command(f'"$CLAUDE_PROJECT_DIR"/{HOOKS}guard.sh'),
            '{\n            "type"',
            matcher="Bash",
            files={HOOKS + "guard.sh": _GUARD},
        ),
        good=script("guard.sh", _GUARD),
    ),
    LintRule(
        id="HK703",
        name="slow",
        severity=Severity.WARNING,
        summary="The hook is slow.",
        why="It runs on every matching call, and the agent waits for it. Measured by `--run`: even the "
        "fastest of three runs was over the budget (100 ms on PreToolUse and PostToolUse, 1 s elsewhere).",
        fix="Do less work, narrow the matcher, or set `async` if the answer is not needed.",
        bad=replace(script("slow.sh", bash("sleep 0.3\n"), '"command": '), trust=True),
        good=replace(script("quick.sh", "#!/bin/sh\nexit 0\n"), trust=True),
        runs=True,
    ),
    LintRule(
        id="HK704",
        name="heavy-starter",
        severity=Severity.INFO,
        strict=True,
        summary="The program is started by a slow launcher.",
        why="`npx`, `uv run` and `docker run` take 300 to 2000 ms for every matching call.",
        fix="Install the program and call it directly.",
        bad=one("PostToolUse", command("npx prettier --check ."), '"command": ', matcher="Edit"),
        good=one("PostToolUse", command("prettier --check ."), matcher="Edit"),
    ),
    LintRule(
        id="HK705",
        name="no-filter",
        severity=Severity.INFO,
        strict=True,
        summary="A process for every tool call, although most calls do not matter.",
        why="A matcher costs nothing; a process costs milliseconds on every call.",
        fix="Use `matcher` for the test.",
        bad=script(
            "log.sh",
            bash('in=$(cat)\n[ "$(jq -r .tool_name <<<"$in")" = Bash ] || exit 0\necho "$in" >> log\n'),
            "[ ",
            matcher="*",
        ),
        good=script("log.sh", bash("cat >> log\n"), matcher="Bash"),
    ),
    LintRule(
        id="HK706",
        name="holds-stdout",
        severity=Severity.ERROR,
        summary="A background child keeps the hook's output open.",
        why="The agent waits half a second longer on every call, and later output of the child is lost.",
        fix="Start it with `>/dev/null 2>&1 </dev/null &`.",
        bad=replace(script("start.sh", bash("sleep 3 &\n"), '"command": '), trust=True),
        good=replace(script("start.sh", bash("sleep 3 >/dev/null 2>&1 </dev/null &\n")), trust=True),
        runs=True,
    ),
    LintRule(
        id="HK707",
        name="llm-on-hot-path",
        severity=Severity.WARNING,
        summary="A model call for every tool call.",
        why="It costs seconds and tokens, each time.",
        fix="Select the calls with `matcher` and `if`, or ask the question on Stop.",
        bad=one("PreToolUse", {"type": "prompt", "prompt": "Is this safe?"}, '"type"', matcher="*"),
        good=one(
            "PreToolUse", {"type": "prompt", "prompt": "Is this safe?", "if": "Bash(terraform *)"}, matcher="Bash"
        ),
    ),
)
