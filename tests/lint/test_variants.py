"""Mistakes as real configurations have them, in many variants, each with a correct twin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from hookwright.lint.catalogue.samples import SETTINGS, bash, command, node, one, python, script
from hookwright.lint.model import Sample
from hookwright.protocol.diagnostics import Severity
from lint.projects import check, write

#: Part of the variants that must be found.
WANTED = 0.9


class Pair(NamedTuple):
    """A mistake, the rules that may report it, and a twin without it."""

    bad: Sample
    rules: tuple[str, ...]
    good: Sample


def serious(sample: Sample, root: Path) -> set[str]:
    """Return the rules that report errors or warnings."""
    found = check(write(sample, root / "project"), root / "home")
    return {item.rule for item in found if item.severity is not Severity.INFO}


def matcher(text: str, right: str) -> Pair:
    hooks = ("HK201", "HK202", "HK203", "HK205", "HK206", "HK207")
    return Pair(
        one("PreToolUse", command("true"), matcher=text), hooks, one("PreToolUse", command("true"), matcher=right)
    )


MATCHERS = [
    matcher('tool == "Bash"', "Bash"),
    matcher('tool == "Bash" && tool_input.command matches "x"', "Bash"),
    matcher('tool_name == "Edit" || tool_name == "Write"', "Edit|Write"),
    matcher("tools:Bash AND command:rm*", "Bash"),
    matcher("Bash(git push .*)", "Bash"),
    matcher("Bash\\(git .*\\)", "Bash"),
    matcher(".*\\.py$", "Edit|Write"),
    matcher("src/.*\\.ts", "Write"),
    matcher("tool:Bash", "Bash"),
    matcher("Write Edit MultiEdit", "Write|Edit|MultiEdit"),
    matcher("Edit or Write", "Edit|Write"),
    matcher("git commit", "Bash"),
    matcher("(bash|edit)", "(Bash|NotebookEdit)"),
    matcher("^bash$", "^Bash$"),
    matcher("/Bash|Edit/", "Bash|Edit"),
    matcher("!Bash", "^(?!Bash$)"),
    matcher("{Edit,Write}", "Edit,Write"),
    matcher("mcp__github", "mcp__github__.*"),
    matcher("run_command", "Bash"),
    matcher("file_write", "Write"),
    matcher("bash_tool", "BashOutput"),
    matcher("Edit & Write", "Edit|Write"),
]


def inline(text: str, right: str, rules: tuple[str, ...], event: str = "PreToolUse") -> Pair:
    on = "Bash" if event == "PreToolUse" else None
    return Pair(one(event, command(text), matcher=on), rules, one(event, command(right), matcher=on))


def phantom(text: str, right: str, event: str = "PreToolUse") -> Pair:
    return inline(text, right, ("HK413",), event)


MKFS = "grep -q mkfs; then echo 'Blocked: mkfs' >&2; exit 2; fi"
PHANTOMS = [
    phantom(f'if echo "$CLAUDE_TOOL_COMMAND" | {MKFS}', f"if jq -r .tool_input.command | {MKFS}"),
    phantom(f'if echo "${{CLAUDE_TOOL_INPUT:-}}" | {MKFS}', f"if jq -r .tool_input.command | {MKFS}"),
    phantom(f'if echo "$STDIN_JSON" | {MKFS}', f'STDIN_JSON=$(cat); if echo "$STDIN_JSON" | {MKFS}'),
    phantom('prettier --write "$CLAUDE_EDITED_FILE"', 'prettier --write "$CLAUDE_PROJECT_DIR"/x.ts', "PostToolUse"),
    phantom('echo "$CLAUDE_PROMPT" >> log.txt', "jq -r .prompt >> log.txt", "UserPromptSubmit"),
    phantom('echo "$CLAUDE_FILE_PATHS" >> log.txt', "jq -r .tool_input.file_path >> log.txt", "PostToolUse"),
    phantom('echo "$TOOL_RESULT" >> log.txt', "jq -c .tool_response >> log.txt", "PostToolUse"),
    phantom('echo "$CLAUDE_TOOL_ARGS_COMMAND" >> log.txt', 'echo "$CLAUDE_CODE_ENTRYPOINT" >> log.txt'),
    phantom('echo "$CLAUDE_MODIFIED_FILES" >> log.txt', 'echo "$CLAUDE_ENV_FILE" >> log.txt', "SessionStart"),
    phantom('sh "${CLAUDE_PLUGIN_ROOT}/x.sh"', 'sh "${CLAUDE_PLUGIN_ROOT:-.}/x.sh" || true'),
    phantom('echo "$CLAUDE_NOTIFICATION_TEXT" >> log.txt', "jq -r .message >> log.txt", "Notification"),
    phantom('echo "$HOOK_TOOL_NAME" >> log.txt', 'HOOK_TOOL_NAME=x; echo "$HOOK_TOOL_NAME" >> log.txt'),
    Pair(
        script(
            "a.py", python("import json, os\n\nprint(os.environ.get('CLAUDE_TOOL_INPUT', '{}'))\n"), event="SessionEnd"
        ),
        ("HK413",),
        script(
            "a.py",
            python("import os, sys\n\nprint(os.environ.get('CLAUDE_TOOL_INPUT') or sys.stdin.read())\n"),
            event="SessionEnd",
            handler={"timeout": 5},
        ),
    ),
    Pair(
        script("a.js", node("console.log(process.env.CLAUDE_FILE_PATH || '');\n"), event="SessionEnd"),
        ("HK413",),
        script(
            "a.js",
            node("console.log(process.env.CLAUDE_HOOK_DEBUG || '');\n"),
            event="SessionEnd",
            handler={"timeout": 5},
        ),
    ),
]


def guard(text: str, right: str, event: str = "PreToolUse") -> Pair:
    return inline(text, right, ("HK401", "HK402"), event)


READ = "c=$(jq -r .tool_input.command); "
EXITS = [
    guard("echo 'Blocked: this agent only reads.' >&2; exit 1", "echo 'Blocked: this agent only reads.' >&2; exit 2"),
    guard("echo 'Blocked: read only' >&2 && exit 1", "echo 'Blocked: read only' >&2 && exit 2"),
    guard(
        READ + "if ! echo \"$c\" | grep -qE '^git commit -m feat'; then echo 'Invalid commit message' >&2; exit 1; fi",
        READ + "if ! echo \"$c\" | grep -qE '^git commit -m feat'; then echo 'Invalid commit message' >&2; exit 2; fi",
    ),
    guard(
        READ + "case \"$c\" in npm*) echo 'Use pnpm' >&2; exit 1;; esac",
        READ + "case \"$c\" in npm*) echo 'Use pnpm' >&2; exit 2;; esac",
    ),
    guard("jq -r .tool_input.command | grep -q 'rm -rf' && exit 1 || exit 0", "jq -e . >/dev/null && exit 0 || exit 1"),
    guard(
        'if echo "$(cat)" | grep -q sudo; then echo no root here >&2; exit 1; fi',
        'if echo "$(cat)" | grep -q sudo; then echo no root here >&2; exit 2; fi',
    ),
    guard(
        "[ \"$(git branch --show-current)\" != main ] || { echo 'Cannot edit on main' >&2; exit 1; }",
        "[ \"$(git branch --show-current)\" != main ] || { echo 'Cannot edit on main' >&2; exit 2; }",
    ),
    guard(
        "python3 -c \"import json,sys; c=json.load(sys.stdin)['tool_input']['command']; "
        "sys.exit(1 if 'mkfs' in c else 0)\"",
        'python3 -c "import json,sys; json.load(sys.stdin); sys.exit(0)"',
    ),
    guard(
        "node -e \"const e=JSON.parse(require('fs').readFileSync(0)); "
        'process.exit(/mkfs/.test(e.tool_input.command) ? 1 : 0)"',
        "node -e \"JSON.parse(require('fs').readFileSync(0)); process.exit(0)\"",
    ),
    guard(
        "jq -r .prompt | grep -qi password && { echo 'Please remove the password' >&2; exit 1; }; true",
        "jq -r .prompt | grep -qi password && { echo 'Please remove the password' >&2; exit 2; }; true",
        "UserPromptSubmit",
    ),
    guard(
        READ + 'if [[ "$c" =~ ^terraform ]]; then printf "%s\\n" "ask a person first" >&2; exit 1; fi',
        "command -v jq >/dev/null || { echo 'jq is not installed' >&2; exit 1; }",
    ),
    Pair(
        script(
            "g.py",
            python(
                'import json, sys\n\nx = -1\nc = json.load(sys.stdin)["tool_input"]["command"]\n'
                'if 0 < len(c) < 9000 and "mkfs" in c.split():\n    sys.exit("BLOCKED")\n'
            ),
        ),
        ("HK402",),
        script(
            "g.py",
            python(
                'import json, sys\n\nx = ~1\nc = json.load(sys.stdin)["tool_input"]["command"]\n'
                'if 0 < len(c) < 9000 and "mkfs" in c.split():\n'
                '    print("BLOCKED", file=sys.stderr)\n    sys.exit(2)\n'
            ),
        ),
    ),
    Pair(
        script("g.sh", bash(READ + '\nif [[ $c == *"--force"* ]]; then\n  echo "stop" >&2\n  exit 3\nfi\n')),
        ("HK401",),
        script("g.sh", bash(READ + '\nif [[ $c == *"--force"* ]]; then\n  echo "stop" >&2\n  exit 2\nfi\n')),
    ),
]

DENY = (
    '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", '
    '"permissionDecisionReason": "x"}}'
)


def answer(wrong: Mapping[str, object], event: str = "PreToolUse", right: str = DENY, rule: str = "HK518") -> Pair:
    return inline(f"echo '{json.dumps(wrong)}'", f"echo '{right}'", (rule, "HK504", "HK505"), event)


BLOCK = '{"decision": "block", "reason": "not yet"}'
REQUEST = '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}'
TEXT = '{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "main"}}'
ANSWERS = [
    answer({"allowed": False}),
    answer({"result": "block"}, "UserPromptSubmit", BLOCK),
    answer({"permissionDecision": "allow"}, "PermissionRequest", REQUEST),
    answer({"block": True, "message": "no"}),
    answer({"status": "denied", "reason": "no"}),
    answer({"action": "deny"}),
    answer({"feedback": "Use pnpm"}, "PostToolUse", '{"decision": "block", "reason": "Use pnpm"}'),
    answer({"branch": "main"}, "SessionStart", TEXT),
    answer({"approve": False, "reason": "x"}),
    answer({"continue_": False}, "PostToolUse", '{"continue": false, "stopReason": "enough"}'),
    inline(
        'echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}\' >&2; exit 2',
        f"echo '{DENY}'",
        ("HK519",),
    ),
    inline(f"echo '{DENY}' >&2", f"echo '{DENY}'", ("HK519",)),
    Pair(
        script("a.py", python("import json\n\nprint(json.dumps({'permission': 'deny', 'why': 'x'}))\n")),
        ("HK518",),
        script("a.py", python(f"import json\n\nprint(json.dumps({DENY}))\n")),
    ),
    Pair(
        script("a.js", node("console.log(JSON.stringify({ deny: true }));\n")),
        ("HK518",),
        script("a.js", node(f"console.log(JSON.stringify({DENY}));\n")),
    ),
]


def broken(text: str, right: str) -> Pair:
    return inline(text, right, ("HK304",))


SYNTAX = [
    broken("if true; echo x", "if true; then echo x >> log; fi"),
    broken('echo "open', 'echo "closed" >> log'),
    broken("echo hi; then echo x", "echo then >> log"),
    broken("echo hi; fi", "echo fi >> log"),
    broken("for f in a b; do echo $f", "for f in a b; do echo $f >> log; done"),
    broken("while read -r l; do echo $l; fi", "while read -r l; do echo $l >> log; done"),
    broken("case x in a) echo;;", "case x in a) true;; esac"),
    broken("echo $(date", "echo $(date) >> log"),
    broken("cat && && true", "cat > log && true"),
    broken("{ cat > log", "{ cat > log; }"),
    broken("jq -r '.tool_input", "jq -r '.tool_input' > log"),
    broken("echo )", "echo ')' >> log"),
]

FAMILIES = {"matchers": MATCHERS, "phantoms": PHANTOMS, "exits": EXITS, "answers": ANSWERS, "syntax": SYNTAX}
ALL = [pytest.param(pair, id=f"{name}-{index}") for name, pairs in FAMILIES.items() for index, pair in enumerate(pairs)]


def test_there_are_enough_of_them() -> None:
    assert len(ALL) >= 60


@pytest.mark.parametrize("pairs", FAMILIES.values(), ids=FAMILIES.keys())
def test_nine_of_ten_variants_are_found(pairs: list[Pair], tmp_path: Path) -> None:
    missed = [
        pair.bad.files[SETTINGS]
        for index, pair in enumerate(pairs)
        if not serious(pair.bad, tmp_path / str(index)) & set(pair.rules)
    ]
    assert len(missed) <= len(pairs) * (1 - WANTED), missed


@pytest.mark.parametrize("pair", ALL)
def test_the_correct_twin_is_left_alone(pair: Pair, tmp_path: Path) -> None:
    assert serious(pair.good, tmp_path) & set(pair.rules) == set()
