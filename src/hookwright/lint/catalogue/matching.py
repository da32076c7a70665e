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
        why="A matcher of letters, digits, `_`, `-`, space, `,` and `|` alone is a list of exact names. "
        "`mcp__memory` is "
        "compared as a whole, and no tool has exactly this name: the hooks never run, and nobody says so.",
        fix="The tool's exact name, or `mcp__memory__.*` for all tools of a server; `--fix` writes the latter.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="mcp__memory"),
        good=one("PreToolUse", _HI, matcher="mcp__memory__.*"),
    ),
    LintRule(
        id="HK202",
        name="rule-syntax-in-matcher",
        severity=Severity.ERROR,
        summary="The matcher is written like a permission rule.",
        why="`Bash(git *)` is read as a regular expression over the tool's name and can never match `Bash`.",
        fix='`"matcher": "Bash"`, and `"if": "Bash(git *)"` in the handler.',
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Bash(git *)"),
        good=one("PreToolUse", command("echo hi", **{"if": "Bash(git *)"}), matcher="Bash"),
    ),
    LintRule(
        id="HK203",
        name="case",
        severity=Severity.ERROR,
        summary="The name differs from a tool's only in its case.",
        why="Tool names are case-sensitive: `bash` never matches.",
        fix="`Bash`; `--fix` writes it.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="bash"),
        good=one("PreToolUse", _HI, matcher="Bash"),
    ),
    LintRule(
        id="HK204",
        name="unanchored-regex",
        severity=Severity.WARNING,
        summary="The regular expression also matches other tools.",
        why="A regular expression matches anywhere in the name: `Edit.*` also covers `NotebookEdit`, "
        "`(Write|Edit)` also `TodoWrite`.",
        fix="Exact names without dots and parentheses, or `^` and `$`.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Edit.*"),
        good=one("PreToolUse", _HI, matcher="Edit"),
    ),
    LintRule(
        id="HK205",
        name="invalid-regex",
        severity=Severity.ERROR,
        summary="The matcher is not a valid JavaScript regular expression.",
        why="It never matches, and only the debug log says so.",
        fix="Exact names, or a valid expression.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="*Bash"),
        good=one("PreToolUse", _HI, matcher="*"),
    ),
    LintRule(
        id="HK206",
        name="accidental-glob",
        severity=Severity.WARNING,
        summary="A star was meant as in a shell.",
        why="In a regular expression `mcp__*` is `mcp_` and then any number of `_`, anywhere in the name. It "
        "works by luck and also matches `my_mcp_tool`.",
        fix="`^mcp__`; `--fix` writes it.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="mcp__*"),
        good=one("PreToolUse", _HI, matcher="^mcp__"),
    ),
    LintRule(
        id="HK207",
        name="wrong-separator",
        severity=Severity.ERROR,
        summary="Names are separated by something other than `|`.",
        why="`Write/Edit` is one regular expression, and no tool's name contains it.",
        fix="`Write|Edit`; `--fix` writes it.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Write/Edit"),
        good=one("PreToolUse", _HI, matcher="Write|Edit"),
    ),
    LintRule(
        id="HK208",
        name="matcher-ignored",
        severity=Severity.WARNING,
        summary="The event has no matcher.",
        why="The matcher is ignored and the hooks run every time.",
        fix="No matcher; the test belongs into the script.",
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
        fix="One of the event's values, or no matcher.",
        bad=one("SessionStart", _HI, '"matcher"', matcher="Bash"),
        good=one("SessionStart", _HI, matcher="startup|resume"),
    ),
    LintRule(
        id="HK210",
        name="if-on-non-tool-event",
        severity=Severity.ERROR,
        summary="`if` stands on an event without a tool.",
        why="`if` is decided on tool events only; elsewhere a handler with `if` never runs.",
        fix="No `if`; the test belongs into the script.",
        bad=one("Stop", command("echo hi", **{"if": "Bash(rm *)"}), '"if"'),
        good=one("Stop", _HI),
    ),
    LintRule(
        id="HK211",
        name="if-combined",
        severity=Severity.ERROR,
        summary="`if` is not one permission rule.",
        why="`if` holds exactly one rule. `A|B`, a rule without a tool and a tool in the wrong case are never "
        "true, so the handler never runs.",
        fix="One handler for each rule.",
        bad=one("PreToolUse", command("echo hi", **{"if": "Edit(*.ts)|Write(*.ts)"}), '"if"', matcher="Edit|Write"),
        good=one("PreToolUse", command("echo hi", **{"if": "Edit(*.ts)"}), matcher="Edit"),
    ),
    LintRule(
        id="HK212",
        name="if-as-gate",
        severity=Severity.WARNING,
        summary="A guard leaves its decision to `if`.",
        why="`if` is a filter, not a gate: it lets the hook run on commands that cannot be parsed, and says "
        "nothing about commands inside of scripts.",
        fix="A test of the input inside of the script as well.",
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
        summary="A guard covers `Bash` and no other shell.",
        why="Where the PowerShell tool is on, the same command goes through there.",
        fix="`Bash|PowerShell`, and a script that looks at both.",
        bad=script("guard.sh", _GUARD, '"matcher"', matcher="Bash"),
        good=script("guard.sh", _GUARD, matcher="Bash|PowerShell"),
    ),
    LintRule(
        id="HK214",
        name="write-class-gap",
        severity=Severity.WARNING,
        summary="A guard over files does not cover every tool that writes.",
        why="`NotebookEdit` (its field is `notebook_path`) and shell writes such as `tee`, `>` and `sed -i` "
        "go through.",
        fix="`Write|Edit|NotebookEdit`, and a guard on the shells for shell writes.",
        bad=script("paths.sh", _PATHS, '"matcher"', matcher="Write|Edit"),
        good=script("paths.sh", _PATHS, matcher="Write|Edit|NotebookEdit"),
    ),
    LintRule(
        id="HK215",
        name="stale-tool-name",
        severity=Severity.WARNING,
        summary="The tool no longer exists under this name.",
        why="`MultiEdit` and `LS` are not in the current tool list. `Task` is now `Agent` and still matches "
        "it. Beside names that exist it is a remark only.",
        fix="The names of today's tools.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Task|MultiEdit|LS"),
        good=one("PreToolUse", _HI, matcher="Agent|Edit"),
    ),
    LintRule(
        id="HK216",
        name="plugin-mcp-name",
        severity=Severity.WARNING,
        summary="A plugin's MCP server stands under its bare name.",
        why="Tools of a server that comes with a plugin are called `mcp__plugin_<plugin>_<server>__…`; the "
        "bare name matches nothing.",
        fix="The long name.",
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
        summary="Older versions read this in another way, or not at all.",
        why="Comma lists need Claude Code 2.1.191, `if` 2.1.85, `args` 2.1.139, `onFailure` 2.1.295. With "
        "`--target` it is a warning.",
        fix="`Edit|Write` works everywhere; `--fix` writes it.",
        bad=one("PreToolUse", _HI, '"matcher"', matcher="Edit, Write"),
        good=conf({"PreToolUse": [group(_HI, matcher="Edit|Write")]}),
    ),
)
