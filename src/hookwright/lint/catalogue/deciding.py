"""HK4xx: does the script decide what it thinks it decides?"""

from __future__ import annotations

from msgspec.structs import replace

from hookwright.lint.catalogue.samples import bash, command, one, python, script
from hookwright.lint.model import LintRule
from hookwright.protocol.diagnostics import Severity

_READ = "command=$(jq -r '.tool_input.command')\n"
_PY_READ = 'import json, sys\n\nevent = json.load(sys.stdin)\ncommand = event["tool_input"]["command"]\n'
_ALLOW = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'
_DENY = (
    '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", '
    '"permissionDecisionReason": "Use a feature branch."}}'
)

RULES = (
    LintRule(
        id="HK401",
        name="exit-1-guard",
        severity=Severity.ERROR,
        summary="The script refuses with a status other than 2.",
        why="Exit 1 is a non-blocking error: the call proceeds, and the guard guards nothing. Only exit 2 or "
        "a JSON decision refuses.",
        fix="Exit 2 with the reason on stderr, or print a `deny` decision.",
        bad=script(
            "guard.sh",
            bash(
                _READ
                + (
                    "if grep -q 'terraform destroy' <<<\"$command\"; then\n"
                    '  echo "Blocked: terraform destroy" >&2\n  exit 1\nfi\n'
                )
            ),
            "exit 1",
        ),
        good=script(
            "guard.sh",
            bash(
                _READ
                + (
                    "if grep -q 'terraform destroy' <<<\"$command\"; then\n"
                    '  echo "Blocked: terraform destroy" >&2\n  exit 2\nfi\n'
                )
            ),
        ),
    ),
    LintRule(
        id="HK402",
        name="exit-with-string",
        severity=Severity.ERROR,
        summary="The script refuses with a message as its exit status.",
        why='`sys.exit("…")` prints the message and exits 1, not 2: it does not block.',
        fix="Print the message on stderr, then call `sys.exit(2)`.",
        bad=script(
            "guard.py", python(_PY_READ + 'if "mkfs" in command.split():\n    sys.exit("BLOCKED: mkfs")\n'), "sys.exit("
        ),
        good=script(
            "guard.py",
            python(
                _PY_READ
                + 'if "mkfs" in command.split():\n    print("BLOCKED: mkfs", file=sys.stderr)\n    sys.exit(2)\n'
            ),
        ),
    ),
    LintRule(
        id="HK403",
        name="swallowed-exit",
        severity=Severity.ERROR,
        summary="The exit 2 ends only an inner shell, or is thrown away.",
        why="`exit 2` inside `( … )`, `$( … )` or a piped `while` ends only that inner shell; `guard.sh || "
        "true` and a trailing `exit 0` throw the status away. The hook exits 0, and nothing is refused.",
        fix="Move the exit outside: use a here-string instead of the pipe, or add `|| exit 2`.",
        bad=script(
            "guard.sh",
            bash(
                "jq -r '.tool_input.command' | while read -r line; do\n"
                "  case \"$line\" in\n    terraform*destroy*) echo 'Blocked.' >&2; exit 2 ;;\n  esac\ndone\nexit 0\n"
            ),
            "exit 2",
        ),
        good=script(
            "guard.sh",
            bash(
                _READ + "while read -r line; do\n"
                "  case \"$line\" in\n    terraform*destroy*) echo 'Blocked.' >&2; exit 2 ;;\n  esac\n"
                'done <<<"$command"\nexit 0\n'
            ),
        ),
    ),
    LintRule(
        id="HK404",
        name="bare-except-allows",
        severity=Severity.WARNING,
        summary="An exception handler turns the refusal into exit 0.",
        why="`sys.exit(2)` raises SystemExit, and a bare `except:` catches that as well. `except Exception: "
        "sys.exit(0)` is only an info: any bug in the guard then means *allow*.",
        fix="Write `except Exception:`, or move the exit out of the `try`.",
        bad=script(
            "guard.py",
            python(
                'import json, sys\n\ntry:\n    event = json.load(sys.stdin)\n    if event["tool_name"] == "WebFetch":\n'
                '        print("No network here.", file=sys.stderr)\n        sys.exit(2)\nexcept:\n    sys.exit(0)\n'
            ),
            "except:",
        ),
        good=script(
            "guard.py",
            python(
                "import json, sys\n\ntry:\n    event = json.load(sys.stdin)\nexcept ValueError:\n    sys.exit(0)\n"
                'if event["tool_name"] == "WebFetch":\n    print("No network here.", file=sys.stderr)\n'
                "    sys.exit(2)\n"
            ),
        ),
    ),
    LintRule(
        id="HK405",
        name="stdin-eaten",
        severity=Severity.ERROR,
        summary="The program reads its own source as stdin.",
        why="`python3 - <<'PY'` reads the program from stdin, so `json.load(sys.stdin)` finds nothing left: "
        "the event never arrives.",
        fix="Move the program to its own file, or save the event in a variable first.",
        bad=script(
            "guard.sh",
            bash("python3 - <<'PY'\nimport json, sys\nevent = json.load(sys.stdin)\nprint(event)\nPY\n"),
            "json.load",
        ),
        good=script("guard.py", python("import json, sys\n\nevent = json.load(sys.stdin)\n")),
    ),
    LintRule(
        id="HK406",
        name="stdin-read-twice",
        severity=Severity.WARNING,
        summary="stdin is read twice.",
        why="The first reader takes everything; the second gets nothing, and its variable is empty.",
        fix='Read once, `IN=$(cat)`, and then use `jq … <<<"$IN"`.',
        bad=script("log.sh", bash(_READ + "tool=$(jq -r '.tool_name')\necho \"$tool $command\" >> log\n"), "tool="),
        good=script(
            "log.sh",
            bash(
                "in=$(cat)\ncommand=$(jq -r '.tool_input.command' <<<\"$in\")\n"
                'tool=$(jq -r \'.tool_name\' <<<"$in")\necho "$tool $command" >> log\n'
            ),
        ),
    ),
    LintRule(
        id="HK407",
        name="accidental-two",
        severity=Severity.WARNING,
        summary="The last command exits 2 on ordinary failure.",
        why="`make`, `eslint`, `ruff`, `mypy`, `pytest` and `diff` exit 2 for their own failures, and 2 means "
        "*block*; on Stop again and again.",
        fix="Map the status: `make lint || exit 1`, or a message and `exit 2` if you mean to block.",
        bad=one("UserPromptSubmit", command("make lint"), '"command": '),
        good=one("UserPromptSubmit", command("make lint || exit 1")),
    ),
    LintRule(
        id="HK408",
        name="set-e-pipe",
        severity=Severity.WARNING,
        summary="`set -e` ends the hook when grep has no match.",
        why="`X=$(… | grep …)` has grep's status; no match is 1, and the hook ends before its check.",
        fix="Add `|| true` inside the parentheses.",
        bad=script(
            "guard.sh",
            bash(
                "set -e\nflag=$(jq -r '.tool_input.command' | grep -o -- '--force')\n"
                "[ -z \"$flag\" ] || { echo 'No force.' >&2; exit 2; }\n"
            ),
            "flag=",
        ),
        good=script(
            "guard.sh",
            bash(
                "set -e\nflag=$(jq -r '.tool_input.command' | grep -o -- '--force' || true)\n"
                "[ -z \"$flag\" ] || { echo 'No force.' >&2; exit 2; }\n"
            ),
        ),
    ),
    LintRule(
        id="HK409",
        name="deny-without-reason",
        severity=Severity.WARNING,
        summary="A refusal without a reason.",
        why="The model only learns that it was refused, and tries another way.",
        fix="Print what is wrong and what to do instead, on stderr or as `permissionDecisionReason`.",
        bad=script("guard.sh", bash(_READ + 'case "$command" in\n  terraform*) exit 2 ;;\nesac\n'), "exit 2"),
        good=script(
            "guard.sh",
            bash(_READ + "case \"$command\" in\n  terraform*) echo 'Ask in #infra first.' >&2; exit 2 ;;\nesac\n"),
        ),
    ),
    LintRule(
        id="HK410",
        name="reason-on-wrong-stream",
        severity=Severity.WARNING,
        summary="The reason for an exit 2 is on stdout.",
        why="With exit 2 the reason is read from stderr; stdout is not used.",
        fix="Print the message with `>&2`.",
        bad=script(
            "guard.sh",
            bash(_READ + "case \"$command\" in\n  terraform*) echo 'Ask in #infra first.'; exit 2 ;;\nesac\n"),
            "echo",
        ),
        good=script(
            "guard.sh",
            bash(_READ + "case \"$command\" in\n  terraform*) echo 'Ask in #infra first.' >&2; exit 2 ;;\nesac\n"),
        ),
    ),
    LintRule(
        id="HK411",
        name="stderr-on-exit-0",
        severity=Severity.INFO,
        summary="A message on stderr with exit 0.",
        why="It goes to the debug log; neither the user nor the model sees it.",
        fix="Print `systemMessage` for the user, or `additionalContext` for the model.",
        bad=script("log.sh", bash("echo 'Large file, be careful.' >&2\nexit 0\n"), "echo"),
        good=script("log.sh", bash("jq -n '{systemMessage: \"Large file, be careful.\"}'\nexit 0\n")),
    ),
    LintRule(
        id="HK412",
        name="fallthrough-allow",
        severity=Severity.ERROR,
        summary="Everything not refused is approved.",
        why="`allow` at the end switches off the permission prompt for everything the tests above did not name.",
        fix="Print nothing: the hook then has no opinion, and the normal rules decide.",
        bad=script(
            "guard.sh",
            bash(_READ + f"case \"$command\" in\n  terraform*) echo '{_DENY}'; exit 0 ;;\nesac\necho '{_ALLOW}'\n"),
            f"echo '{_ALLOW}'",
        ),
        good=script("guard.sh", bash(_READ + f"case \"$command\" in\n  terraform*) echo '{_DENY}'; exit 0 ;;\nesac\n")),
    ),
    LintRule(
        id="HK413",
        name="phantom-env",
        severity=Severity.ERROR,
        summary="The variable is not set for hooks.",
        why="`$CLAUDE_TOOL_INPUT`, `$TOOL_INPUT`, `$CLAUDE_FILE_PATHS` and `$CLAUDE_TOOL_NAME` appear in old "
        "tutorials. They are empty; the event arrives as JSON on stdin.",
        fix="Use `jq -r .tool_input.file_path`.",
        bad=one("PostToolUse", command('prettier --write "$CLAUDE_FILE_PATHS"'), '"command": ', matcher="Edit|Write"),
        good=one("PostToolUse", command('prettier --write "$(jq -r .tool_input.file_path)"'), matcher="Edit|Write"),
    ),
    LintRule(
        id="HK414",
        name="wrong-field",
        severity=Severity.WARNING,
        summary="The event has no such field.",
        why="A field that does not exist is empty, and every test of it silently fails.",
        fix="Use the names of the event's schema: `file_path`, `prompt`, `tool_response`.",
        bad=script(
            "log.sh", bash("jq -r '.tool_input.path' >> log\n"), "jq", event="PostToolUse", matcher="Edit|Write"
        ),
        good=script(
            "log.sh", bash("jq -r '.tool_input.file_path' >> log\n"), event="PostToolUse", matcher="Edit|Write"
        ),
    ),
    LintRule(
        id="HK415",
        name="naive-shell-match",
        severity=Severity.WARNING,
        summary="A guard searches the command for fixed text.",
        why='`"rm -rf" in command` misses `rm -r -f`, `rm  -rf`, quoted words and scripts, and also refuses '
        '`echo "rm -rf"`.',
        fix="Parse the command into words.",
        bad=script(
            "guard.py",
            python(_PY_READ + 'if "rm -rf" in command:\n    print("Use trash.", file=sys.stderr)\n    sys.exit(2)\n'),
            'if "rm -rf"',
        ),
        good=script(
            "guard.py",
            python(
                "import json, shlex, sys\n\nevent = json.load(sys.stdin)\n"
                'words = shlex.split(event["tool_input"]["command"])\n'
                'if "rm" in words:\n    print("Use trash.", file=sys.stderr)\n    sys.exit(2)\n'
            ),
        ),
    ),
    LintRule(
        id="HK416",
        name="text-mode-encoding",
        severity=Severity.WARNING,
        summary="On Windows, text is read or written in another encoding.",
        why="The event is UTF-8; Python on Windows reads and writes in the machine's code page (cp1252, cp932).",
        fix='Call `sys.stdin.reconfigure(encoding="utf-8")`, or read `sys.stdin.buffer`. Only checked with '
        "`--target windows`.",
        bad=replace(
            script("log.py", python("import json, sys\n\nevent = json.load(sys.stdin)\n"), "json.load"),
            target="windows",
        ),
        good=replace(
            script("log.py", python("import json, sys\n\nevent = json.load(sys.stdin.buffer)\n")), target="windows"
        ),
        needs_target=True,
    ),
    LintRule(
        id="HK417",
        name="self-serve-bypass",
        severity=Severity.WARNING,
        summary="The agent can switch the guard off by itself.",
        why="A variable or a marker in the command that turns the guard off is within the agent's reach.",
        fix="Remove the switch, or put it where the agent cannot reach it.",
        bad=script(
            "guard.sh",
            bash(
                '[ "$SKIP_GUARD" = 1 ] && exit 0\n'
                + _READ
                + "case \"$command\" in\n  terraform*) echo 'Ask first.' >&2; exit 2 ;;\nesac\n"
            ),
            "SKIP_GUARD",
        ),
        good=script(
            "guard.sh", bash(_READ + "case \"$command\" in\n  terraform*) echo 'Ask first.' >&2; exit 2 ;;\nesac\n")
        ),
    ),
)
