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
        why="Hooks under an unknown name never run. Claude Code before 2.1.101 skips the whole file for one such name, "
        "permissions and environment included; Hookwright reports it and loads the rest (D2).",
        fix="The name as the documentation spells it; `--fix` corrects the case.",
        bad=conf({"PreToolCall": [group(command("echo hi"), matcher="Bash")]}, '"PreToolCall"'),
        good=conf({"PreToolUse": [group(command("echo hi"), matcher="Bash")]}),
    ),
    LintRule(
        id="HK102",
        name="event-needs-newer-agent",
        severity=Severity.WARNING,
        summary="The event is newer than the version that the file is meant for.",
        why="An older Claude Code does not run these hooks, and before 2.1.101 it skips the whole file.",
        fix="A higher minimum version, or a file of its own for these hooks.",
        bad=conf({"PostModelSwitch": [group(command("echo hi"))]}, '"PostModelSwitch"', target="2.1.200"),
        good=conf({"PostModelSwitch": [group(command("echo hi"))]}, target="2.1.300"),
        needs_target=True,
    ),
    LintRule(
        id="HK103",
        name="flat-handler",
        severity=Severity.ERROR,
        summary="A handler stands where a group belongs.",
        why="Under PreToolUse and PermissionRequest Claude Code leaves out the whole file for it, elsewhere "
        "the entry; in a "
        "headless run without a word. Hookwright drops only the entry and reports it (D2). A flat entry "
        "without `type` is lifted by Hookwright alone.",
        fix='`[{"hooks": [{"type": "command", …}]}]`; `--fix` wraps it.',
        bad=conf({"PreToolUse": [{"type": "command", "command": "echo hi"}]}, '{\n        "type"'),
        good=conf({"PreToolUse": [group(command("echo hi"))]}),
    ),
    LintRule(
        id="HK104",
        name="bad-type",
        severity=Severity.ERROR,
        summary="A value has the wrong type or is out of range.",
        why="One wrong type under PreToolUse or PermissionRequest makes Claude Code leave out the whole file; "
        "Hookwright drops the entry and reports it (D2).",
        fix="A value of the type that the key has.",
        bad=conf({"PreToolUse": [group(command("echo hi"), matcher={"type": "always"})]}, '"matcher"'),
        good=conf({"PreToolUse": [group(command("echo hi"), matcher="*")]}),
    ),
    LintRule(
        id="HK105",
        name="unknown-handler-type",
        severity=Severity.ERROR,
        summary="The handler's type is unknown, or a field that it needs is missing.",
        why="Such a handler never runs, and under PreToolUse and PermissionRequest Claude Code leaves out the "
        "whole file for it.",
        fix="`command`, `http`, `mcp_tool`, `prompt` or `agent`, in lower case, with its fields; `--fix` "
        "corrects the case.",
        bad=conf({"Stop": [group({"type": "Command", "command": "echo hi"})]}, '"type": "Command"'),
        good=conf({"Stop": [group(command("echo hi"))]}),
    ),
    LintRule(
        id="HK106",
        name="unknown-key",
        severity=Severity.WARNING,
        summary="Nobody reads this key, or not here.",
        why="A misspelt key is ignored without a word, and what it was meant to do does not happen.",
        fix="The key that was meant; `--fix` turns `timeoutMs` into `timeout`.",
        bad=one("Stop", command("notify-send done", timeoutMs=5000), '"timeoutMs"'),
        good=one("Stop", command("notify-send done", timeout=5)),
    ),
    LintRule(
        id="HK107",
        name="timeout-unit",
        severity=Severity.WARNING,
        summary="The timeout looks like milliseconds.",
        why="Claude Code counts seconds; 5000 is 83 minutes in which a hanging hook holds the session. Gemini "
        "CLI and Qwen Code count milliseconds.",
        fix="Seconds; `--fix` divides by 1000.",
        bad=one("Stop", command("notify-send done", timeout=5000), '"timeout"'),
        good=one("Stop", command("notify-send done", timeout=5)),
    ),
    LintRule(
        id="HK108",
        name="duplicate-handler",
        severity=Severity.WARNING,
        summary="The same command comes from a settings file and from a plugin.",
        why="Copies in settings files are joined; a plugin's copy stays separate, so the command runs twice "
        "for each event.",
        fix="One of the two.",
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
        summary="The manifest names the hooks file that is loaded anyway.",
        why="Claude Code then refuses to load the plugin's hooks (`Duplicate hooks file`); Hookwright counts the "
        "file once.",
        fix="A manifest without the line; `--fix` removes it.",
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
        why="Nothing but managed hooks runs, however many are configured.",
        fix="`false`, or no such key.",
        bad=conf(_STOP, '"disableAllHooks"', disableAllHooks=True),
        good=conf(_STOP, disableAllHooks=False),
    ),
    LintRule(
        id="HK111",
        name="json-extras",
        severity=Severity.ERROR,
        summary="The file is not strict JSON.",
        why="Comments, trailing commas and `NaN` make the whole file be left out, in a headless run without a "
        "word. A key that "
        "stands twice counts once, with its last value. A byte order mark is fine.",
        fix="Strict JSON.",
        bad=Sample({SETTINGS: '{\n  "hooks": {\n    "Stop": [],\n  }\n}\n'}, '"Stop": [],'),
        good=Sample({SETTINGS: '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'}),
    ),
    LintRule(
        id="HK112",
        name="shadowed-directory",
        severity=Severity.WARNING,
        summary="A directory above has hooks that a session from here does not load.",
        why="Claude Code reads project settings from the directory where the session starts and nowhere else; "
        "Hookwright searches "
        "upward to the repository's root (D7) and stops at the first settings file.",
        fix="Sessions that start above, or the hooks that matter repeated here.",
        bad=Sample(
            {".git/HEAD": "ref: refs/heads/main\n", SETTINGS: settings(_STOP), "sub/README.md": "\n"}, "{", path="sub"
        ),
        good=Sample({".git/HEAD": "ref: refs/heads/main\n", SETTINGS: settings(_STOP), "sub/README.md": "\n"}),
    ),
)
