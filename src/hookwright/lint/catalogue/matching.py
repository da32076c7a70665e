"""HK2xx: matchers and `if`."""

from __future__ import annotations

from hookwright.lint.catalogue.samples import bash, command, conf, group, one, plugin, script, settings
from hookwright.lint.model import LintRule
from hookwright.protocol.diagnostics import Severity

_HI = command("echo hi")
_GUARD = bash("""
command=$(jq -r '.tool_input.command')
if grep -qE 'terraform[[:space:]]+destroy' <<<"$command"; then
  echo "Blocked: terraform destroy needs a person." >&2
  exit 2
fi
""")
_PATHS = bash("""
path=$(jq -r '.tool_input.file_path // .tool_input.notebook_path')
case "$path" in
  */migrations/*)
    echo "Blocked: migrations are written once." >&2
    exit 2
    ;;
esac
""")

RULES = (
    LintRule(
        id="HK201",
        name="matcher-matches-nothing",
        severity=Severity.ERROR,
        summary="The matcher matches no tool.",
        why="A matcher that contains only letters, digits, `_`, `-`, space, `,` and `|` is a list of exact "
        "names. `mcp__memory` is compared with the whole name, and no tool has exactly this name: the "
        "hooks never run, without any message.",
        fix="Write the tool's exact name, or `mcp__memory__.*` for all tools of a server; `--fix` writes the latter.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="mcp__memory"),
        good=one("PreToolUse", _HI, matcher="mcp__memory__.*"),
    ),
    LintRule(
        id="HK202",
        name="rule-syntax-in-matcher",
        severity=Severity.ERROR,
        summary="The matcher is written like a permission rule.",
        why="`Bash(git *)` is read as a regular expression for the tool's name and can never match `Bash`.",
        fix='Write `"matcher": "Bash"`, and `"if": "Bash(git *)"` in the handler.',
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Bash(git *)"),
        good=one("PreToolUse", command("echo hi", **{"if": "Bash(git *)"}), matcher="Bash"),
    ),
    LintRule(
        id="HK203",
        name="case",
        severity=Severity.ERROR,
        summary="The name differs from a tool's name only in case.",
        why="Tool names are case-sensitive: `bash` never matches.",
        fix="Write `Bash`; `--fix` does it.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="bash"),
        good=one("PreToolUse", _HI, matcher="Bash"),
    ),
    LintRule(
        id="HK204",
        name="unanchored-regex",
        severity=Severity.WARNING,
        summary="The regular expression also matches other tools.",
        why="A regular expression matches anywhere in the name: `Edit.*` also covers `NotebookEdit`, "
        "`(Write|Edit)` also covers `TodoWrite`.",
        fix="Write exact names without dots and parentheses, or add `^` and `$`.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Edit.*"),
        good=one("PreToolUse", _HI, matcher="Edit"),
    ),
    LintRule(
        id="HK205",
        name="invalid-regex",
        severity=Severity.ERROR,
        summary="The matcher is not a valid JavaScript regular expression.",
        why="It never matches, and only the debug log reports it.",
        fix="Write exact names, or a valid expression.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="*Bash"),
        good=one("PreToolUse", _HI, matcher="*"),
    ),
    LintRule(
        id="HK206",
        name="accidental-glob",
        severity=Severity.WARNING,
        summary="A star is used as in a shell.",
        why="As a regular expression, `mcp__*` is `mcp_` followed by any number of `_`, anywhere in the name. "
        "It works by accident and also matches `my_mcp_tool`.",
        fix="Write `^mcp__`; `--fix` does it.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="mcp__*"),
        good=one("PreToolUse", _HI, matcher="^mcp__"),
    ),
    LintRule(
        id="HK207",
        name="wrong-separator",
        severity=Severity.ERROR,
        summary="Names are separated by something other than `|`.",
        why="`Write/Edit` is one regular expression, and no tool's name contains it.",
        fix="Write `Write|Edit`; `--fix` does it.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Write/Edit"),
        good=one("PreToolUse", _HI, matcher="Write|Edit"),
    ),
    LintRule(
        id="HK208",
        name="matcher-ignored",
        severity=Severity.WARNING,
        summary="The event has no matcher.",
        why="The matcher is ignored and the hooks run every time.",
        fix="Remove the matcher, and test inside the script.",
        bad=one("Stop", _HI, '"matcher"', matcher="Bash"),
        good=one("Stop", _HI),
    ),
    LintRule(
        id="HK209",
        name="matcher-value-domain",
        severity=Severity.WARNING,
        summary="The matcher matches no known value of this event.",
        why="SessionStart is matched by how the session started, SessionEnd by its reason, PreCompact by its "
        "trigger: a tool's name never occurs there.",
        fix="Use one of the event's values, or remove the matcher.",
        bad=one("SessionStart", _HI, '"matcher"', matcher="Bash"),
        good=one("SessionStart", _HI, matcher="startup|resume"),
    ),
    LintRule(
        id="HK210",
        name="if-on-non-tool-event",
        severity=Severity.ERROR,
        summary="`if` on an event without a tool.",
        why="`if` only works on tool events; elsewhere a handler with `if` never runs.",
        fix="Remove `if`, and test inside the script.",
        bad=one("Stop", command("echo hi", **{"if": "Bash(rm *)"}), '"if"'),
        good=one("Stop", _HI),
    ),
    LintRule(
        id="HK211",
        name="if-combined",
        severity=Severity.ERROR,
        summary="`if` is not one permission rule.",
        why="`if` takes exactly one rule. `A|B`, a rule without a tool and a tool in the wrong case are never "
        "true, so the handler never runs.",
        fix="Declare one handler per rule.",
        bad=one("PreToolUse", command("echo hi", **{"if": "Edit(*.ts)|Write(*.ts)"}), '"if"', matcher="Edit|Write"),
        good=one("PreToolUse", command("echo hi", **{"if": "Edit(*.ts)"}), matcher="Edit"),
    ),
    LintRule(
        id="HK212",
        name="if-as-gate",
        severity=Severity.WARNING,
        summary="A guard leaves the decision to `if`.",
        why="`if` is a filter, not a gate: the hook also runs for commands that cannot be parsed, and never "
        "for commands inside scripts.",
        fix="Test the input inside the script as well.",
        bad=one(
            "PreToolUse",
            command("echo 'Blocked: no rm.' >&2; exit 2", **{"if": "Bash(rm *)"}, timeout=5),
            '"if"',
            matcher="Bash",
        ),
        good=script("guard.sh", _GUARD, handler={"if": "Bash(terraform *)"}),
    ),
    LintRule(
        id="HK213",
        name="shell-class-gap",
        severity=Severity.WARNING,
        strict=True,
        summary="A guard covers `Bash` but no other shell.",
        why="Where the PowerShell tool is enabled, the same command gets through there.",
        fix="Match `Bash|PowerShell`, and handle both syntaxes.",
        bad=script("guard.sh", _GUARD, '"matcher"', matcher="Bash"),
        good=script("guard.sh", _GUARD, matcher="Bash|PowerShell"),
    ),
    LintRule(
        id="HK214",
        name="write-class-gap",
        severity=Severity.WARNING,
        strict=True,
        summary="A guard for files does not cover every tool that writes.",
        why="`NotebookEdit` (its field is `notebook_path`) and shell writes such as `tee`, `>` and `sed -i` "
        "get through.",
        fix="Match `Write|Edit|NotebookEdit`, and add a guard on the shells for shell writes.",
        bad=script("paths.sh", _PATHS, '"matcher"', matcher="Write|Edit"),
        good=script("paths.sh", _PATHS, matcher="Write|Edit|NotebookEdit"),
    ),
    LintRule(
        id="HK215",
        name="stale-tool-name",
        severity=Severity.WARNING,
        summary="The tool no longer exists under this name.",
        why="`MultiEdit` and `LS` are not in the current tool list. `Task` is now `Agent` and still matches "
        "it. Next to names that exist, this is only an info.",
        fix="Use the current tool names.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Task|MultiEdit|LS"),
        good=one("PreToolUse", _HI, matcher="Agent|Edit"),
    ),
    LintRule(
        id="HK216",
        name="plugin-mcp-name",
        severity=Severity.WARNING,
        summary="A plugin's MCP server without the plugin's prefix.",
        why="Tools of a plugin's server are called `mcp__plugin_<plugin>_<server>__…`; the short name matches nothing.",
        fix="Write the full name.",
        bad=plugin(
            {
                ".mcp.json": '{"mcpServers": {"db": {"command": "db-server"}}}\n',
                "hooks/hooks.json": settings({"PreToolUse": [group(_HI, matcher="mcp__db__.*")]}),
            },
            '"matcher"',
        ),
        good=plugin(
            {
                ".mcp.json": '{"mcpServers": {"db": {"command": "db-server"}}}\n',
                "hooks/hooks.json": settings({"PreToolUse": [group(_HI, matcher="mcp__plugin_tools_db__.*")]}),
            }
        ),
    ),
    LintRule(
        id="HK217",
        name="needs-version",
        severity=Severity.INFO,
        summary="Older versions read this differently, or not at all.",
        why="Comma lists need Claude Code 2.1.191, `if` 2.1.85, `args` 2.1.139, `onFailure` 2.1.295. With "
        "`--target` it is a warning.",
        fix="Write `Edit|Write`, which works everywhere; `--fix` does it.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Edit, Write"),
        good=conf({"PreToolUse": [group(_HI, matcher="Edit|Write")]}),
    ),
)
