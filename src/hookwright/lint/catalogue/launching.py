"""HK3xx: starting the command."""

from __future__ import annotations

from hookwright.lint.catalogue.samples import (
    HOOKS,
    SETTINGS,
    bash,
    command,
    group,
    one,
    plugin,
    python,
    script,
    settings,
)
from hookwright.lint.model import LintRule, Sample
from hookwright.protocol.diagnostics import Severity

_LOG = bash('jq -c . >> "$CLAUDE_PROJECT_DIR/.claude/log.jsonl"\n')
_SCRIPT = {HOOKS + "log.sh": _LOG}
_PY = {HOOKS + "log.py": python("import json, sys\n\njson.load(sys.stdin)\n")}

RULES = (
    LintRule(
        id="HK301",
        name="script-missing",
        severity=Severity.ERROR,
        summary="The script does not exist.",
        why="`python3`, `perl` and `sh` (dash) exit 2 for a missing file, and 2 means *block*: every matching "
        "call is refused. "
        "bash exits 127 and node 1; then the hook is silently off.",
        fix="Write the path of an existing script.",
        bad=one(
            "PreToolUse",
            command('python3 "${CLAUDE_PROJECT_DIR}/.claude/hooks/gone.py"'),
            '"command": ',
            matcher="Bash",
        ),
        good=one(
            "PreToolUse", command('python3 "${CLAUDE_PROJECT_DIR}/.claude/hooks/log.py"'), matcher="Bash", files=_PY
        ),
    ),
    LintRule(
        id="HK302",
        name="interpreter-missing",
        severity=Severity.ERROR,
        summary="The program is not on the PATH of this machine.",
        why="A missing program means exit 127, a non-blocking error: the hook is silently off. Sessions "
        "started from an icon often have a shorter PATH than your terminal.",
        fix="Use a program installed wherever the hook runs, or test with `command -v` first.",
        bad=one("Stop", command("no-such-notifier-3 done"), '"command": '),
        good=one("Stop", command("command -v no-such-notifier-3 >/dev/null && no-such-notifier-3 done")),
    ),
    LintRule(
        id="HK303",
        name="not-executable",
        severity=Severity.ERROR,
        summary="The script cannot be started directly.",
        why="Without execute permission it exits 126; with a carriage return in its `#!` line, 127; without a "
        "`#!` line the shell reads it as shell commands. It never runs, and the event proceeds.",
        fix="Type `chmod +x`, use line endings without `\\r`, and add a `#!` line; `--fix` does all three where the "
        "file's ending names its interpreter.",
        bad=Sample(
            {SETTINGS: settings({"Stop": [group(command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/log.sh'))]}), **_SCRIPT},
            '"command": ',
            plain=(HOOKS + "log.sh",),
        ),
        good=one("Stop", command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/log.sh'), files=_SCRIPT),
    ),
    LintRule(
        id="HK304",
        name="syntax-error",
        severity=Severity.ERROR,
        summary="The interpreter cannot parse the script.",
        why="A shell exits 2 on a syntax error, and 2 means *block*: everything is refused. Python and node "
        "exit 1, so the hook is silently off. An unresolved merge conflict is also a syntax error.",
        fix="Fix it until `bash -n`, `python3 -m py_compile` or `node --check` passes.",
        bad=script("guard.sh", bash('if [ -n "$X" ]; then\n  echo no >&2\ndone\n'), "done", event="Stop"),
        good=script("guard.sh", bash('if [ -n "$X" ]; then\n  echo no >&2\nfi\n'), event="Stop"),
    ),
    LintRule(
        id="HK305",
        name="relative-path",
        severity=Severity.WARNING,
        summary="The script's path is relative.",
        why="It is looked up in the session's current directory, which changes with every `cd` of the agent.",
        fix='Write `"$CLAUDE_PROJECT_DIR"/…`; `--fix` does it.',
        bad=one("Stop", command("python3 .claude/hooks/log.py"), '"command": ', files=_PY),
        good=one("Stop", command('python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/log.py'), files=_PY),
    ),
    LintRule(
        id="HK306",
        name="unquoted-placeholder",
        severity=Severity.WARNING,
        summary="The placeholder is not quoted.",
        why="The shell splits it at spaces; in a folder called `My Project` the command is not found.",
        fix="Put it in double quotes, or use the exec form with `args`; `--fix` adds the quotes.",
        bad=one("Stop", command("$CLAUDE_PROJECT_DIR/.claude/hooks/log.sh"), '"command": ', files=_SCRIPT),
        good=one("Stop", command('"$CLAUDE_PROJECT_DIR"/.claude/hooks/log.sh'), files=_SCRIPT),
    ),
    LintRule(
        id="HK307",
        name="tilde-or-var-in-exec-form",
        severity=Severity.ERROR,
        summary="The exec form contains words that only a shell would expand.",
        why="With `args` no shell runs: `~`, `$HOME` and `$CLAUDE_PROJECT_DIR` without braces are used literally.",
        fix="Write `${CLAUDE_PROJECT_DIR}` with braces, which is replaced, or an absolute path.",
        bad=one("Stop", command("~/bin/notify", args=[]), '"command": '),
        good=one("Stop", command("${CLAUDE_PROJECT_DIR}/.claude/hooks/log.sh", args=[]), files=_SCRIPT),
    ),
    LintRule(
        id="HK308",
        name="command-with-args",
        severity=Severity.ERROR,
        summary="The exec form has arguments inside `command`.",
        why="With `args`, `command` is the name of one program, and there is no program called `node script.js`.",
        fix="Put the first word in `command` and the others in `args`; `--fix` moves them.",
        bad=one("Stop", command("python3 log.py", args=[]), '"command": '),
        good=one("Stop", command("python3", args=["${CLAUDE_PROJECT_DIR}/.claude/hooks/log.py"]), files=_PY),
    ),
    LintRule(
        id="HK309",
        name="bashism",
        severity=Severity.WARNING,
        summary="The command uses bash syntax, but `sh` runs it.",
        why='A command runs in `/bin/sh -c`, even with `"shell": "bash"`. dash rejects `<<<`, `<( )`, arrays '
        "and `${x//a/b}` with exit 2, which means *block*, and does not know `[[ ]]` (exit 127).",
        fix="Move it to a script with `#!/usr/bin/env bash`.",
        bad=one("PreToolUse", command('jq -e .tool_input <<< "$(cat)"'), '"command": ', matcher="Bash"),
        good=one("PreToolUse", command("jq -e .tool_input"), matcher="Bash"),
    ),
    LintRule(
        id="HK310",
        name="single-quoted-placeholder",
        severity=Severity.WARNING,
        summary="The placeholder is inside single quotes.",
        why="The shell does not replace it there; the file is not found.",
        fix="Use double quotes; `--fix` writes them.",
        bad=one("Stop", command("'$CLAUDE_PROJECT_DIR/.claude/hooks/log.sh'"), '"command": ', files=_SCRIPT),
        good=one("Stop", command('"$CLAUDE_PROJECT_DIR/.claude/hooks/log.sh"'), files=_SCRIPT),
    ),
    LintRule(
        id="HK311",
        name="windows-shim",
        severity=Severity.WARNING,
        strict=True,
        summary="The exec form starts a script shim.",
        why="On Windows, `npx`, `eslint` and similar tools are `.cmd` files, which only a shell can start.",
        fix="Call `node` with the path of the script, or use the shell form.",
        bad=one("PostToolUse", command("npx", args=["prettier", "--check", "."]), '"command": ', matcher="Edit"),
        good=one("PostToolUse", command("npx prettier --check ."), matcher="Edit"),
    ),
    LintRule(
        id="HK312",
        name="powershell-bare-var",
        severity=Severity.WARNING,
        summary="PowerShell does not know the variable under this name.",
        why="`$CLAUDE_PROJECT_DIR` is a PowerShell variable, not the environment variable; it is empty.",
        fix="Write `$env:CLAUDE_PROJECT_DIR`; `--fix` does it.",
        bad=one("Stop", command("& $CLAUDE_PROJECT_DIR/notify.ps1", shell="powershell"), '"command": '),
        good=one("Stop", command("& $env:CLAUDE_PROJECT_DIR/notify.ps1", shell="powershell")),
    ),
    LintRule(
        id="HK313",
        name="plugin-uses-project-dir",
        severity=Severity.WARNING,
        summary="A plugin looks for its script in the user's project.",
        why="A plugin's files are in its own folder; the user's project does not have the script.",
        fix='Write `"${CLAUDE_PLUGIN_ROOT}"/…`.',
        bad=plugin(
            {
                "hooks/hooks.json": settings({"Stop": [group(command('"${CLAUDE_PROJECT_DIR}"/scripts/log.sh'))]}),
                "scripts/log.sh": _LOG,
            },
            '"command": ',
        ),
        good=plugin(
            {
                "hooks/hooks.json": settings({"Stop": [group(command('"${CLAUDE_PLUGIN_ROOT}"/scripts/log.sh'))]}),
                "scripts/log.sh": _LOG,
            }
        ),
    ),
    LintRule(
        id="HK314",
        name="machine-path",
        severity=Severity.WARNING,
        summary="A shared file names a personal home directory.",
        why="The path exists on only one machine.",
        fix='Write `"$CLAUDE_PROJECT_DIR"` or `"$HOME"`.',
        bad=one("Stop", command("/home/alice/bin/notify done"), '"command": '),
        good=one("Stop", command('"$HOME"/bin/notify done')),
    ),
    LintRule(
        id="HK315",
        name="floating-fetch",
        severity=Severity.WARNING,
        summary="An unpinned package is downloaded and run.",
        why="`npx -y pkg@latest` and `uvx pkg` run the newest version on every event: slow, and dangerous if "
        "the package is taken over.",
        fix="Pin the version, or use an installed program.",
        bad=one("PostToolUse", command("npx -y some-linter@latest"), '"command": ', matcher="Edit"),
        good=one("PostToolUse", command("npx -y some-linter@4.2.1"), matcher="Edit"),
    ),
    LintRule(
        id="HK316",
        name="not-read",
        severity=Severity.INFO,
        summary="A program that decides was not read.",
        why="`check` reads shell, Python and JavaScript. In TypeScript, PowerShell, other languages and very long "
        "programs it finds nothing, which is not the same as nothing wrong.",
        fix="Test what the hook decides with cases (`hookwright test`).",
        bad=one(
            "PreToolUse",
            command('npx tsx "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.ts'),
            '"command": ',
            matcher="Bash",
            files={".claude/hooks/guard.ts": "process.exit(2);\n"},
        ),
        good=one(
            "PreToolUse",
            command('node "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.js'),
            matcher="Bash",
            files={".claude/hooks/guard.js": "console.error('Blocked: always.');\nprocess.exit(2);\n"},
        ),
    ),
)
