"""HK1xx: the shape of the configuration."""

from __future__ import annotations

import json

from hookwright.lint.catalogue.samples import SETTINGS, command, conf, group, one, plugin, settings
from hookwright.lint.model import LintRule, Sample
from hookwright.protocol.diagnostics import Severity

_STOP = {"Stop": [group(command("notify-send done"))]}

RULES = (
    LintRule(
        id="HK101",
        name="unknown-event",
        severity=Severity.ERROR,
        summary="The name is not an event.",
        why="Hooks under an unknown name never run. Because of one such name, Claude Code before 2.1.101 "
        "skips the whole file, permissions and environment included; Hookwright reports it and loads the "
        "rest (D2).",
        fix="Use the event's name as documented; `--fix` corrects the case.",
        bad=conf({"PreToolCall": [group(command("echo hi"), matcher="Bash")]}, '"PreToolCall"'),
        good=conf({"PreToolUse": [group(command("echo hi"), matcher="Bash")]}),
    ),
    LintRule(
        id="HK102",
        name="event-needs-newer-agent",
        severity=Severity.WARNING,
        summary="The event is newer than the target version.",
        why="An older Claude Code does not run these hooks, and before 2.1.101 it skips the whole file.",
        fix="Require a newer version, or move these hooks to a separate file.",
        bad=conf({"PostModelSwitch": [group(command("echo hi"))]}, '"PostModelSwitch"', target="2.1.200"),
        good=conf({"PostModelSwitch": [group(command("echo hi"))]}, target="2.1.300"),
        needs_target=True,
    ),
    LintRule(
        id="HK103",
        name="flat-handler",
        severity=Severity.ERROR,
        summary="A handler appears where a group belongs.",
        why="Under PreToolUse and PermissionRequest, Claude Code then ignores the whole file, elsewhere the "
        "entry; in a headless run silently. Hookwright drops only the entry and reports it (D2). Only "
        "Hookwright accepts a flat entry without `type`.",
        fix='Wrap it in a group: `[{"hooks": [{"type": "command", …}]}]`; `--fix` does it.',
        bad=conf({"PreToolUse": [{"type": "command", "command": "echo hi"}]}, '{\n        "type"'),
        good=conf({"PreToolUse": [group(command("echo hi"))]}),
    ),
    LintRule(
        id="HK104",
        name="bad-type",
        severity=Severity.ERROR,
        summary="A value has the wrong type or is out of range.",
        why="Because of one wrong type under PreToolUse or PermissionRequest, Claude Code ignores the whole "
        "file; Hookwright drops the entry and reports it (D2).",
        fix="Write a value of the type the key requires.",
        bad=conf({"PreToolUse": [group(command("echo hi"), matcher={"type": "always"})]}, '"matcher"'),
        good=conf({"PreToolUse": [group(command("echo hi"), matcher="*")]}),
    ),
    LintRule(
        id="HK105",
        name="unknown-handler-type",
        severity=Severity.ERROR,
        summary="The handler's type is unknown, or a required field is missing.",
        why="Such a handler never runs, and under PreToolUse and PermissionRequest Claude Code then ignores "
        "the whole file.",
        fix="Use `command`, `http`, `mcp_tool`, `prompt` or `agent`, in lower case, with its fields; `--fix` "
        "corrects the case.",
        bad=conf({"Stop": [group({"type": "Command", "command": "echo hi"})]}, '"type": "Command"'),
        good=conf({"Stop": [group(command("echo hi"))]}),
    ),
    LintRule(
        id="HK106",
        name="unknown-key",
        severity=Severity.WARNING,
        summary="The key is unknown, or has no effect here.",
        why="A misspelt key is silently ignored, and what it should do does not happen.",
        fix="Correct the key; `--fix` turns `timeoutMs` into `timeout`.",
        bad=one("Stop", command("notify-send done", timeoutMs=5000), '"timeoutMs"'),
        good=one("Stop", command("notify-send done", timeout=5)),
    ),
    LintRule(
        id="HK107",
        name="timeout-unit",
        severity=Severity.WARNING,
        summary="The timeout looks like milliseconds.",
        why="Claude Code counts in seconds: with 5000, a hanging hook blocks the session for 83 minutes. "
        "Gemini CLI and Qwen Code count in milliseconds.",
        fix="Write seconds; `--fix` divides by 1000.",
        bad=one("Stop", command("notify-send done", timeout=5000), '"timeout"'),
        good=one("Stop", command("notify-send done", timeout=5)),
    ),
    LintRule(
        id="HK108",
        name="duplicate-handler",
        severity=Severity.WARNING,
        summary="The same command is declared in a settings file and in a plugin.",
        why="Copies in settings files are merged; a plugin's copy stays separate, so the command runs twice per event.",
        fix="Remove one of the two.",
        bad=Sample(
            {
                SETTINGS: settings(_STOP),
                ".claude-plugin/plugin.json": '{"name": "tools"}\n',
                "hooks/hooks.json": settings(_STOP),
            },
            '"command": "notify-send done"',
        ),
        good=Sample(
            {
                ".claude-plugin/plugin.json": '{"name": "tools"}\n',
                "hooks/hooks.json": settings(_STOP),
                SETTINGS: settings({"Stop": [group(command("say done"))]}),
            }
        ),
    ),
    LintRule(
        id="HK109",
        name="duplicate-hooks-file",
        severity=Severity.ERROR,
        summary="The manifest names a hooks file that is loaded anyway.",
        why="Claude Code then refuses to load the plugin's hooks (`Duplicate hooks file`); Hookwright reads "
        "the file once.",
        fix="Remove the line from the manifest; `--fix` does it.",
        bad=Sample(
            {
                ".claude-plugin/plugin.json": json.dumps({"name": "tools", "hooks": "./hooks/hooks.json"}, indent=2)
                + "\n",
                "hooks/hooks.json": settings(_STOP),
            },
            '"hooks": "./hooks/hooks.json"',
        ),
        good=plugin({"hooks/hooks.json": settings(_STOP)}),
    ),
    LintRule(
        id="HK110",
        name="hooks-disabled",
        severity=Severity.WARNING,
        summary="`disableAllHooks` is on.",
        why="Only managed hooks run, no matter how many are configured.",
        fix="Remove the key, or set it to `false`.",
        bad=conf(_STOP, '"disableAllHooks"', disableAllHooks=True),
        good=conf(_STOP, disableAllHooks=False),
    ),
    LintRule(
        id="HK111",
        name="json-extras",
        severity=Severity.ERROR,
        summary="The file is not strict JSON.",
        why="Comments, trailing commas and `NaN` make the whole file invalid, and it is ignored, in a "
        "headless run silently. If a key appears twice, its last value applies. A byte order mark is "
        "allowed.",
        fix="Write strict JSON; `--fix` removes comments and trailing commas.",
        bad=Sample({SETTINGS: '{\n  "hooks": {\n    "Stop": [],\n  }\n}\n'}, '"Stop": [],'),
        good=Sample({SETTINGS: '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'}),
    ),
    LintRule(
        id="HK112",
        name="shadowed-directory",
        severity=Severity.WARNING,
        summary="A parent directory has hooks that a session started here does not load.",
        why="Claude Code reads project settings only from the directory where the session starts; Hookwright "
        "searches upward to the repository's root (D7) and stops at the first settings file.",
        fix="Start sessions in the parent directory, or repeat the hooks that matter here.",
        bad=Sample(
            {".git/HEAD": "ref: refs/heads/main\n", SETTINGS: settings(_STOP), "sub/README.md": "\n"}, "{", path="sub"
        ),
        good=Sample({".git/HEAD": "ref: refs/heads/main\n", SETTINGS: settings(_STOP), "sub/README.md": "\n"}),
    ),
    LintRule(
        id="HK113",
        name="reserved-setting",
        severity=Severity.WARNING,
        summary="The project sets a variable or a mode that no project may choose.",
        why="Hookwright ignores what could redirect requests, load code or raise trust when a project sets it, trusted "
        "or not. Claude Code applies it, so hooks that need the variable work there and fail here.",
        fix="Set it in your own settings, or give the variable another name.",
        bad=conf({}, '"TMPDIR"', env={"TMPDIR": "/var/cache/project"}),
        good=conf({}, env={"GIT_FLOW_MAIN_BRANCH": "main", "PYTHON_VERSION": "3.12", "AWS_REGION": "x"}),
    ),
)
