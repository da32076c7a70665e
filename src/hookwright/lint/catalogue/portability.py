"""HK9xx: other agents."""

from __future__ import annotations

import json

from hookwright.lint.catalogue.samples import HOOKS, SETTINGS, bash, command, conf, group, one, settings
from hookwright.lint.model import LintRule, Sample
from hookwright.protocol.diagnostics import Severity
from hookwright.protocol.jsontext import Json

_HI = command("echo hi")
_GUARD = f'"${{CLAUDE_PROJECT_DIR:-.}}"/{HOOKS}guard.sh'
_COMMAND_OF = "cmd=$(jq -r .tool_input.command)\n"


def _guard(body: str, at: str, agent: str, *, matcher: Json = "Bash", event: str = "PreToolUse") -> Sample:
    """Make a sample that is one guard with its script, for an agent."""
    run = command(_GUARD, timeout=10, onFailure="block")
    files = {HOOKS + "guard.sh": bash(body), SETTINGS: settings({event: [group(run, matcher=matcher)]})}
    return Sample(files, at, target=agent)


def _own(path: str, value: Json, at: str, agent: str) -> Sample:
    """Make a sample that is a file of another agent."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2) + "\n"
    return Sample({path: text}, at, agent=agent, path=path)


_CODEX = ".codex/hooks.json"
_CODEX_GOOD = {"hooks": {"SessionStart": [{"hooks": [_HI]}]}}

_FROM_CLAUDE = (
    LintRule(
        id="HK901",
        name="not-on-target",
        severity=Severity.WARNING,
        summary="The agent accepts this but ignores it.",
        why="Other agents parse `prompt` and `agent` handlers, `async`, `if` or `args` and ignore them, "
        "mostly silently.",
        fix="Do the work in a command handler.",
        bad=one("Stop", {"type": "prompt", "prompt": "Done?"}, '"type"', target="codex"),
        good=one("Stop", _HI, target="codex"),
        needs_agent=True,
    ),
    LintRule(
        id="HK902",
        name="host-variable",
        severity=Severity.WARNING,
        summary="The agent does not set the variable.",
        why="An unset `$CLAUDE_PROJECT_DIR` makes the path `/…`: exit 127 on every call.",
        fix='Write `"${CLAUDE_PROJECT_DIR:-.}"/…`: hooks run in the project.',
        bad=one("Stop", command('"$CLAUDE_PROJECT_DIR"/bin/x.sh'), '"command": ', target="codex"),
        good=one("Stop", command('"${CLAUDE_PROJECT_DIR:-.}"/bin/x.sh'), target="codex"),
        needs_agent=True,
    ),
    LintRule(
        id="HK903",
        name="tool-name-map",
        severity=Severity.WARNING,
        summary="The agent's tools have other names, or do not exist.",
        why="`Bash` is `run_shell_command` in Gemini CLI, and Codex has no tool for reading files: the matcher "
        "matches nothing there.",
        fix="Use the agent's names in a file for the agent.",
        bad=one("PostToolUse", _HI, '"matcher"', matcher="Bash", target="gemini"),
        good=conf({"PostToolUse": [group(_HI)]}, target="gemini"),
        needs_agent=True,
    ),
    LintRule(
        id="HK904",
        name="event-name-map",
        severity=Severity.WARNING,
        summary="The agent's events have other names, or do not exist.",
        why="Gemini CLI skips `PreToolUse`; there it is `BeforeTool`. VS Code has no SessionEnd.",
        fix="Use the agent's names in a file for the agent.",
        bad=conf({"PreToolUse": [group(_HI)]}, '"PreToolUse"', target="gemini"),
        good=conf({"SessionStart": [group(_HI)]}, target="gemini"),
        needs_agent=True,
    ),
    LintRule(
        id="HK905",
        name="timeout-unit-map",
        severity=Severity.WARNING,
        summary="The agent reads the time limit in another unit.",
        why='`"timeout": 10` stops the hook after 10 ms in Gemini CLI; Qwen Code reads 1000 and more as milliseconds.',
        fix="Write the agent's unit in a file for the agent.",
        bad=one("SessionStart", command("echo hi", timeout=10), '"timeout"', target="gemini"),
        good=one("SessionStart", _HI, target="gemini"),
        needs_agent=True,
    ),
    LintRule(
        id="HK906",
        name="not-loaded",
        severity=Severity.WARNING,
        summary="The agent does not read this file.",
        why="Only Copilot CLI, VS Code and Cursor load `.claude/settings.json`. In Codex, Gemini CLI, Qwen Code and "
        "Kimi Code the hooks of this file do not exist.",
        fix="Export the hooks, or declare them in the agent's own file.",
        bad=one("SessionStart", _HI, '"hooks"', target="codex"),
        good=one("SessionStart", _HI, target="codex", files={_CODEX: json.dumps(_CODEX_GOOD, indent=2) + "\n"}),
        needs_agent=True,
    ),
    LintRule(
        id="HK907",
        name="runs-twice",
        severity=Severity.WARNING,
        summary="The agent loads this file and runs the same hook from a file of its own.",
        why="VS Code, Copilot CLI and Cursor load `.claude/settings.json` in addition to their own files, and all "
        "hooks of all files run.",
        fix="Declare the hook in one of the two files.",
        bad=one(
            "SessionStart",
            _HI,
            '"command": ',
            target="vscode",
            files={".github/hooks/start.json": json.dumps(_CODEX_GOOD, indent=2) + "\n"},
        ),
        good=one("SessionStart", _HI, target="vscode"),
        needs_agent=True,
    ),
    LintRule(
        id="HK908",
        name="matches-other-tools",
        severity=Severity.WARNING,
        summary="The hook also runs for tools it was not meant for.",
        why="VS Code parses matchers and ignores them. In Gemini CLI, Qwen Code and Kimi Code a matcher is a regular "
        "expression that is found anywhere in a name.",
        fix="Compare `tool_name` in the script, or anchor the matcher.",
        bad=one("PostToolUse", _HI, '"matcher"', matcher="Bash", target="vscode"),
        good=conf({"PostToolUse": [group(_HI)]}, target="vscode"),
        needs_agent=True,
    ),
    LintRule(
        id="HK909",
        name="lost-refusal",
        severity=Severity.ERROR,
        summary="The agent does not obey the refusal: the tool runs.",
        why="Of fourteen answers after which the tool must not run, Codex ran it after ten, Gemini CLI after ten, Kimi "
        "Code after four, Qwen Code after two. The model reads nothing of it.",
        fix="Exit with status 2 and print the reason on stderr, and nothing on stdout: every agent obeys that.",
        bad=_guard(_COMMAND_OF + 'case $cmd in *"rm -rf"*) exit 2 ;; esac\n', "exit 2", "codex"),
        good=_guard(_COMMAND_OF + 'case $cmd in *"rm -rf"*) echo "never rm -rf" >&2; exit 2 ;; esac\n', "", "codex"),
        needs_agent=True,
    ),
    LintRule(
        id="HK910",
        name="lost-question",
        severity=Severity.ERROR,
        summary="The agent does not ask the user: the call runs, or waits without an end.",
        why="Codex and Kimi Code have no `ask`, Cursor does not enforce it, and Gemini CLI waits for an answer "
        "that no user can give in a headless run.",
        fix="Refuse with a reason.",
        bad=_guard(
            'echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}\'\n',
            "permissionDecision",
            "kimi",
        ),
        good=_guard('echo "ask first" >&2\nexit 2\n', "", "kimi"),
        needs_agent=True,
    ),
    LintRule(
        id="HK911",
        name="lost-rewrite",
        severity=Severity.ERROR,
        summary="The agent ignores the rewritten input and runs the original call.",
        why="Qwen Code accepts `updatedInput` and ignores it, Gemini CLI reads another key, Kimi Code has no rewrite.",
        fix="Refuse the call and name the right one in the reason.",
        bad=_guard(
            'echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", '
            '"updatedInput": {"command": "ls"}}}\'\n',
            "updatedInput",
            "qwen",
        ),
        good=_guard('echo "run ls instead" >&2\nexit 2\n', "", "qwen"),
        needs_agent=True,
    ),
    LintRule(
        id="HK912",
        name="shorter-limit",
        severity=Severity.WARNING,
        summary="The agent ends the hook earlier than Claude Code does.",
        why="A hook that reaches its limit refuses nothing. Codex limits SessionEnd to 3 seconds; without `timeout`, "
        "VS Code, Copilot CLI and Kimi Code give a hook 30.",
        fix="Set a `timeout` within the agent's limit.",
        bad=one("SessionEnd", command("echo bye", timeout=30), '"timeout"', target="codex"),
        good=one("SessionEnd", command("echo bye", timeout=3), target="codex"),
        needs_agent=True,
    ),
    LintRule(
        id="HK913",
        name="void-file",
        severity=Severity.WARNING,
        summary="One unknown event voids the whole file.",
        why="Cursor ignores a file with one event it does not know, without a word.",
        fix="Move the hooks of that event to another file.",
        bad=conf({"Notification": [group(_HI)], "Stop": [group(_HI)]}, '"Notification"', target="cursor"),
        good=conf({"Stop": [group(_HI)]}, target="cursor"),
        needs_agent=True,
    ),
    LintRule(
        id="HK914",
        name="blind-field",
        severity=Severity.WARNING,
        summary="The script reads a field that the agent does not send.",
        why="Kimi Code sends `path` for `file_path`, VS Code `filePath`, Codex a patch. A guard that reads nothing "
        "refuses nothing.",
        fix="Read the agent's name as well, and refuse if neither is there.",
        bad=_guard(
            'file=$(jq -r .tool_input.file_path)\ncase $file in *.env) echo "not .env" >&2; exit 2 ;; esac\n',
            ".tool_input.file_path",
            "kimi",
            matcher="Write|Edit",
        ),
        good=_guard(
            "file=$(jq -r '.tool_input.file_path // .tool_input.path')\n"
            'case $file in *.env) echo "not .env" >&2; exit 2 ;; esac\n',
            "",
            "kimi",
            matcher="Write|Edit",
        ),
        needs_agent=True,
    ),
    LintRule(
        id="HK915",
        name="other-moment",
        severity=Severity.WARNING,
        summary="The agent's event fires at other moments.",
        why="Gemini CLI fires PreCompress before every request, Copilot CLI fires PermissionRequest before its own "
        "rules.",
        fix="Let the script find out whether there is something to do.",
        bad=conf({"PreCompact": [group(_HI)]}, '"PreCompact"', target="gemini"),
        good=conf({"SessionStart": [group(_HI)]}, target="gemini"),
        needs_agent=True,
    ),
    LintRule(
        id="HK916",
        name="lost-context",
        severity=Severity.WARNING,
        summary="The context does not reach the model.",
        why="Before a tool call, only Codex and VS Code give `additionalContext` to the model.",
        fix="Give the context at another event.",
        bad=_guard(
            'echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "be careful"}}\'\n',
            "additionalContext",
            "qwen",
        ),
        good=_guard("exit 0\n", "", "qwen"),
        needs_agent=True,
    ),
)

_OWN_FILES = (
    LintRule(
        id="HK920",
        name="agent-file-unread",
        severity=Severity.ERROR,
        summary="The agent cannot read the file, or ignores all of it.",
        why="An agent without its file has no hooks and no reason to say so.",
        fix="Repair the file.",
        bad=_own(_CODEX, '{"hooks": {"Stop": [}}\n', '"Stop"', "codex"),
        good=_own(_CODEX, _CODEX_GOOD, "", "codex"),
        needs_agent=True,
    ),
    LintRule(
        id="HK921",
        name="agent-event",
        severity=Severity.ERROR,
        summary="The agent does not know the event.",
        why="Hooks of an unknown event never run.",
        fix="Write one of the agent's events.",
        bad=_own(".gemini/settings.json", {"hooks": {"PreToolUse": [{"hooks": [_HI]}]}}, '"PreToolUse"', "gemini"),
        good=_own(".gemini/settings.json", {"hooks": {"BeforeTool": [{"hooks": [_HI]}]}}, "", "gemini"),
        needs_agent=True,
    ),
    LintRule(
        id="HK922",
        name="agent-key",
        severity=Severity.WARNING,
        summary="The agent does not read the key.",
        why="A key that is not read changes nothing, also where it was meant to.",
        fix="Remove the key, or write its right name.",
        bad=_own(_CODEX, {"hooks": {"Stop": [{"hooks": [command("echo hi", timout=5)]}]}}, '"timout"', "codex"),
        good=_own(_CODEX, {"hooks": {"Stop": [{"hooks": [command("echo hi", timeout=5)]}]}}, "", "codex"),
        needs_agent=True,
    ),
    LintRule(
        id="HK923",
        name="agent-shape",
        severity=Severity.ERROR,
        summary="The agent expects another shape here.",
        why="What is not in the agent's shape declares no hook.",
        fix="Write the value in the agent's shape.",
        bad=_own(_CODEX, {"hooks": {"Stop": [_HI]}}, "{\n      ", "codex"),
        good=_own(_CODEX, _CODEX_GOOD, "", "codex"),
        needs_agent=True,
    ),
    LintRule(
        id="HK924",
        name="agent-runs-twice",
        severity=Severity.WARNING,
        summary="Two of the agent's files declare the same command.",
        why="All files of an agent add up: the command runs once for each of them.",
        fix="Keep one of the two.",
        bad=Sample(
            {
                _CODEX: json.dumps(_CODEX_GOOD, indent=2) + "\n",
                ".codex/config.toml": "[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\n"
                'type = "command"\ncommand = "echo hi"\n',
            },
            '"command": ',
            agent="codex",
        ),
        good=_own(_CODEX, _CODEX_GOOD, "", "codex"),
        needs_agent=True,
    ),
)

RULES = (*_FROM_CLAUDE, *_OWN_FILES)
