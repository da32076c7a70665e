"""HK6xx: event, background, loops, several hooks."""

from __future__ import annotations

from hookwright.lint.catalogue.samples import HOOKS, SETTINGS, bash, command, conf, group, one, script, settings
from hookwright.lint.model import LintRule, Sample
from hookwright.protocol.diagnostics import Severity

_GUARD = bash(
    "command=$(jq -r '.tool_input.command')\ncase \"$command\" in\n"
    "  terraform*) echo 'Blocked: ask first.' >&2; exit 2 ;;\nesac\n"
)
_STOP_BODY = "if ! make -s test >/tmp/log 2>&1; then\n  echo 'Blocked: tests fail.' >&2\n  exit 2\nfi\n"


def _rewriter(name: str, change: str) -> dict[str, str]:
    body = f"jq '{{hookSpecificOutput: {{hookEventName: \"PreToolUse\", updatedInput: (.tool_input + {change})}}}}'\n"
    return {HOOKS + name: bash(body)}


_A, _B = _rewriter("a.sh", "{timeout: 1000}"), _rewriter("b.sh", '{description: "x"}')
_FORMAT = "jq -r .tool_input.file_path | xargs ruff format"
_ORDER = "jq -r .tool_input.file_path | xargs isort"

RULES = (
    LintRule(
        id="HK601",
        name="cannot-block-here",
        severity=Severity.ERROR,
        summary="A refusal on an event that cannot refuse.",
        why="SessionStart, Notification, SubagentStart, SessionEnd and others go on whatever a hook says; "
        "PostToolUse comes after the fact. "
        "PermissionRequest ignores exit 2 in Claude Code; Hookwright denies (D11).",
        fix="The same test on an event that can be blocked.",
        bad=script(
            "guard.sh", bash("echo 'Blocked: no session on main.' >&2\nexit 2\n"), "exit 2", event="SessionStart"
        ),
        good=script("guard.sh", _GUARD),
    ),
    LintRule(
        id="HK602",
        name="plain-stdout-dropped",
        severity=Severity.WARNING,
        summary="Plain text on an event that does not read it.",
        why="Only SessionStart, UserPromptSubmit, UserPromptExpansion and PostModelSwitch give plain stdout "
        "to the model; elsewhere it goes to the debug log. "
        "Text that is no advice is a remark only.",
        fix="`additionalContext` inside of `hookSpecificOutput`.",
        bad=script("note.sh", bash("echo 'Remember to run the tests.'\n"), "echo", event="PostToolUse", matcher="Edit"),
        good=script(
            "note.sh",
            bash(
                'jq -n \'{hookSpecificOutput: {hookEventName: "PostToolUse", additionalContext: "Tests: '
                "make test.\"}}'\n"
            ),
            event="PostToolUse",
            matcher="Edit",
        ),
    ),
    LintRule(
        id="HK603",
        name="handler-type-unsupported",
        severity=Severity.ERROR,
        summary="The event does not run this type of handler.",
        why="`prompt` and `agent` on events without a model, `http` on SessionStart and Setup: refused or "
        "skipped, each time.",
        fix="A command handler.",
        bad=one("SessionStart", {"type": "prompt", "prompt": "Is all well?"}, '"type"'),
        good=one("Stop", {"type": "prompt", "prompt": "Are all tasks done?"}),
    ),
    LintRule(
        id="HK604",
        name="post-without-failure",
        severity=Severity.INFO,
        summary="Failures are looked for where only successes come.",
        why="A failing tool raises PostToolUseFailure, not PostToolUse.",
        fix="The same hook on PostToolUseFailure, which has `error`.",
        bad=script(
            "watch.sh",
            bash("jq -r '.tool_response.error' >> failures.log\n"),
            "jq",
            event="PostToolUse",
            matcher="Bash",
        ),
        good=script("watch.sh", bash("jq -r '.error' >> failures.log\n"), event="PostToolUseFailure", matcher="Bash"),
    ),
    LintRule(
        id="HK611",
        name="async-decision",
        severity=Severity.ERROR,
        summary="A guard in the background.",
        why="Nobody waits for an async hook: its exit 2 and its decisions are ignored.",
        fix="The guard without `async`.",
        bad=script("guard.sh", _GUARD, '"async"', handler={"async": True}),
        good=script("guard.sh", _GUARD),
    ),
    LintRule(
        id="HK612",
        name="async-context",
        severity=Severity.WARNING,
        summary="Context from the background.",
        why="SessionStart does not wait: plain text of an async hook is lost, and `additionalContext` comes a "
        "turn too late.",
        fix="The context without `async`.",
        bad=script(
            "context.sh",
            bash('echo "Branch: $(git branch --show-current)"\n'),
            '"async"',
            event="SessionStart",
            handler={"async": True},
        ),
        good=script("context.sh", bash('echo "Branch: $(git branch --show-current)"\n'), event="SessionStart"),
    ),
    LintRule(
        id="HK613",
        name="async-noncommand",
        severity=Severity.ERROR,
        summary="`async` on a handler that is no command.",
        why="Only command handlers go to the background; this one is waited for.",
        fix="A command handler, or no `async`.",
        bad=one("Stop", {"type": "prompt", "prompt": "Done?", "async": True}, '"async"'),
        good=one("Stop", {"type": "prompt", "prompt": "Done?"}),
    ),
    LintRule(
        id="HK621",
        name="stop-no-active-check",
        severity=Severity.WARNING,
        summary="A Stop hook can block and never looks whether it did so before.",
        why="While its condition stays, the agent goes on and on. Claude Code overrides the ninth block in a "
        "row, but a tool call in between starts the count anew.",
        fix="An exit at once when `stop_hook_active` is true.",
        bad=script("stop.sh", bash(_STOP_BODY), "exit 2", event="Stop"),
        good=script("stop.sh", bash('[ "$(jq -r .stop_hook_active)" = true ] && exit 0\n' + _STOP_BODY), event="Stop"),
    ),
    LintRule(
        id="HK622",
        name="stop-runs-suite",
        severity=Severity.WARNING,
        summary="The test suite stands directly on Stop.",
        why="A failing suite exits 1, which does not hold the agent; one that exits 2 would hold it again and again.",
        fix="A script that maps the result and checks `stop_hook_active`.",
        bad=one("Stop", command("npm test"), '"command": '),
        good=script("stop.sh", bash('[ "$(jq -r .stop_hook_active)" = true ] && exit 0\n' + _STOP_BODY), event="Stop"),
    ),
    LintRule(
        id="HK623",
        name="agent-in-hook",
        severity=Severity.ERROR,
        summary="The hook starts an agent.",
        why="The child fires the same hooks, and each of them starts another one: without end and at your cost.",
        fix="Hooks off for the child (`--settings '{\"disableAllHooks\": true}'`), or an exit at once when a "
        "variable says that a hook runs already.",
        bad=one("Stop", command("claude -p 'Summarise the session' > summary.md"), '"command": '),
        good=one(
            "Stop", command("claude -p 'Summarise the session' --settings '{\"disableAllHooks\": true}' > summary.md")
        ),
    ),
    LintRule(
        id="HK624",
        name="stop-reads-transcript",
        severity=Severity.WARNING,
        summary="A Stop hook reads the transcript.",
        why="It is written with a delay: at this moment its last message may be missing.",
        fix="`last_assistant_message` of the event.",
        bad=script("stop.sh", bash('tail -1 "$(jq -r .transcript_path)" >> last.jsonl\n'), "tail", event="Stop"),
        good=script("stop.sh", bash("jq -r .last_assistant_message >> last.txt\n"), event="Stop"),
    ),
    LintRule(
        id="HK631",
        name="two-rewriters",
        severity=Severity.WARNING,
        summary="Two hooks rewrite the same calls.",
        why="`updatedInput` replaces the whole input. In Claude Code the hook that finishes last wins, which "
        "is a race; in Hookwright the later one in the configuration (D1).",
        fix="One hook that makes both changes.",
        bad=Sample(
            {
                SETTINGS: settings(
                    {
                        "PreToolUse": [
                            group(
                                command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/a.sh'),
                                command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/b.sh'),
                                matcher="Bash",
                            )
                        ]
                    }
                ),
                **_A,
                **_B,
            },
            "b.sh",
        ),
        good=Sample(
            {
                SETTINGS: settings(
                    {"PreToolUse": [group(command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/a.sh'), matcher="Bash")]}
                ),
                **_A,
            }
        ),
    ),
    LintRule(
        id="HK632",
        name="two-writers",
        severity=Severity.WARNING,
        summary="Two formatters write the same files.",
        why="Hooks run at the same time; one formatter's result can overwrite the other's.",
        fix="One script that runs both, one after the other.",
        bad=conf({"PostToolUse": [group(command(_FORMAT), command(_ORDER), matcher="Edit|Write")]}, _ORDER),
        good=conf({"PostToolUse": [group(command(_FORMAT), matcher="Edit|Write")]}),
    ),
)
