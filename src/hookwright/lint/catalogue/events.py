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
        summary="A decision on an event that has none to make.",
        why="SessionStart, Notification, SubagentStart, SessionEnd and others proceed no matter what a hook "
        "says; PostToolUse fires after the call. PermissionRequest ignores exit 2 in Claude Code; "
        "Hookwright denies (D11).",
        fix="Move the test to an event that can be blocked.",
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
        why="Only SessionStart, UserPromptSubmit, UserPromptExpansion and PostModelSwitch pass plain stdout "
        "to the model; elsewhere it goes to the debug log. Text that gives no advice is only an info.",
        fix="Print `additionalContext` inside `hookSpecificOutput`.",
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
        summary="The event does not run this handler type.",
        why="`prompt` and `agent` on events without a model, `http` on SessionStart and Setup: refused or "
        "skipped, each time.",
        fix="Use a command handler.",
        bad=one("SessionStart", {"type": "prompt", "prompt": "Is all well?"}, '"type"'),
        good=one("Stop", {"type": "prompt", "prompt": "Are all tasks done?"}),
    ),
    LintRule(
        id="HK604",
        name="post-without-failure",
        severity=Severity.INFO,
        summary="A search for failures on an event that only follows success.",
        why="A failing tool fires PostToolUseFailure, not PostToolUse.",
        fix="Declare the hook on PostToolUseFailure as well; its field is `error`.",
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
        why="The agent does not wait for an async hook: exit 2 and decisions are ignored.",
        fix="Remove `async` from the guard.",
        bad=script("guard.sh", _GUARD, '"async"', handler={"async": True}),
        good=script("guard.sh", _GUARD),
    ),
    LintRule(
        id="HK612",
        name="async-context",
        severity=Severity.WARNING,
        summary="Context from a background hook.",
        why="SessionStart does not wait: plain text of an async hook is lost, and `additionalContext` arrives "
        "a turn too late.",
        fix="Remove `async` from the hook that adds context.",
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
        summary="`async` on a handler that is not a command.",
        why="Only command handlers run in the background; the agent waits for this one.",
        fix="Use a command handler, or remove `async`.",
        bad=one("Stop", {"type": "prompt", "prompt": "Done?", "async": True}, '"async"'),
        good=one("Stop", {"type": "prompt", "prompt": "Done?"}),
    ),
    LintRule(
        id="HK621",
        name="stop-no-active-check",
        severity=Severity.WARNING,
        summary="A Stop hook can block and never checks whether it already did.",
        why="As long as its condition holds, the agent keeps working. Claude Code overrides the ninth block "
        "in a row, but a tool call in between restarts the count.",
        fix="Exit at once when `stop_hook_active` is true.",
        bad=script("stop.sh", bash(_STOP_BODY), "exit 2", event="Stop"),
        good=script("stop.sh", bash('[ "$(jq -r .stop_hook_active)" = true ] && exit 0\n' + _STOP_BODY), event="Stop"),
    ),
    LintRule(
        id="HK622",
        name="stop-runs-suite",
        severity=Severity.WARNING,
        summary="Stop runs the test suite directly.",
        why="A failing suite usually exits 1, which does not keep the agent working; one that exits 2 would "
        "keep it working forever.",
        fix="Write a script that exits 2 with what failed, and checks `stop_hook_active` first.",
        bad=one("Stop", command("npm test"), '"command": '),
        good=script("stop.sh", bash('[ "$(jq -r .stop_hook_active)" = true ] && exit 0\n' + _STOP_BODY), event="Stop"),
    ),
    LintRule(
        id="HK623",
        name="agent-in-hook",
        severity=Severity.ERROR,
        summary="The hook starts an agent.",
        why="The child fires the same hooks, and each of them starts another agent, endlessly and at your cost.",
        fix="Disable hooks for the child (`--settings '{\"disableAllHooks\": true}'`), or exit at once when a "
        "variable says a hook is already running.",
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
        why="The transcript is written with a delay: its last message may still be missing.",
        fix="Read `last_assistant_message` from the event.",
        bad=script("stop.sh", bash('tail -1 "$(jq -r .transcript_path)" >> last.jsonl\n'), "tail", event="Stop"),
        good=script("stop.sh", bash("jq -r .last_assistant_message >> last.txt\n"), event="Stop"),
    ),
    LintRule(
        id="HK631",
        name="two-rewriters",
        severity=Severity.WARNING,
        summary="Two hooks rewrite the same calls.",
        why="`updatedInput` replaces the whole input. In Claude Code the hook that finishes last wins, which "
        "is a race; in Hookwright the one declared last (D1).",
        fix="Make both changes in one hook.",
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
        fix="Run both from one script, one after the other.",
        bad=conf({"PostToolUse": [group(command(_FORMAT), command(_ORDER), matcher="Edit|Write")]}, _ORDER),
        good=conf({"PostToolUse": [group(command(_FORMAT), matcher="Edit|Write")]}),
    ),
)
