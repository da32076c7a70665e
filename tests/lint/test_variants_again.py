"""More variants of the mistakes of real configurations, written after the rules, each with a correct twin."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookwright.lint.catalogue.samples import bash, node, python, script
from lint.test_variants import (
    BLOCK,
    DENY,
    READ,
    TEXT,
    WANTED,
    Pair,
    answer,
    broken,
    guard,
    inline,
    matcher,
    phantom,
    serious,
)

GUARDED = ("HK401", "HK402")


def scripted(name: str, text: str, right: tuple[str, str], rules: tuple[str, ...], event: str = "PreToolUse") -> Pair:
    """Build a script with a mistake, and its twin in which one part is replaced."""
    write = {"py": python, "js": node, "sh": bash}[name.rsplit(".")[-1]]
    bad, good = write(text), write(text.replace(*right))
    return Pair(script(name, bad, event=event), rules, script(name, good, event=event))


PHANTOM_SH = """
if [[ "$CLAUDE_COMMAND" == *mkfs* ]]; then
  echo no >&2
  exit 2
fi
"""
PHANTOM_PY = """import json, os, sys
if 'mkfs' in os.environ['CLAUDE_TOOL_INPUT_COMMAND']:
    print('no', file=sys.stderr)
    sys.exit(2)
"""
RETURNED_PY = """import json, sys
def main():
    c = json.load(sys.stdin)['tool_input']['command']
    if 'mkfs' in c:
        print('Blocked: mkfs', file=sys.stderr)
        return 1
    return 0
sys.exit(main())
"""
FAILED_PY = """import json, sys
c = json.load(sys.stdin)['tool_input']['command']
if 'mkfs' in c:
    raise SystemExit('Blocked: mkfs')
"""
ASSERTED_PY = """import json, sys
c = json.load(sys.stdin)['tool_input']['command']
assert 'mkfs' not in c, 'Blocked: mkfs'
"""
EVENT_JS = """let d = '';
process.stdin.on('data', c => d += c);
process.stdin.on('end', () => {
  const e = JSON.parse(d);
  if (e.tool_input.command.includes('mkfs')) {
    console.error('Blocked');
    process.exit(1);
  }
});
"""
THROWN_JS = """const e = JSON.parse(require('fs').readFileSync(0, 'utf8'));
if (/mkfs/.test(e.tool_input.command)) throw new Error('Blocked: mkfs');
"""
CALLED_SH = """
deny() { echo "Blocked: $1" >&2; exit 1; }
c=$(jq -r .tool_input.command)
[[ $c == *mkfs* ]] && deny mkfs
exit 0
"""
COUNTED_SH = """
c=$(jq -r .tool_input.command)
code=0
if [[ $c == *mkfs* ]]; then
  echo 'Blocked: mkfs' >&2
  code=1
fi
exit $code
"""
STDERR_2 = "{ console.error('Blocked: mkfs'); process.exit(2); }"
EXIT_2 = "print('Blocked: mkfs', file=sys.stderr)\n    sys.exit(2)"

MATCHERS = [
    matcher("Bash:rm", "Bash"),
    matcher("Edit;Write", "Edit|Write"),
    matcher("tool_input.file_path ~ .*secret.*", "Read"),
    matcher("command == 'git push'", "Bash"),
    matcher("\\bbash\\b", "\\bBash\\b"),
    matcher("^(write|edit)$", "^(Write|Edit)$"),
    matcher("mcp__github_create_issue", "mcp__github__create_issue"),
    matcher("*.ts", "Edit|Write"),
    matcher("Bash(rm:*)", "Bash"),
    matcher("^Bash .*rm", "^Bash"),
    matcher("str_replace_editor", "Edit"),
    matcher('"Bash"', "Bash"),
    matcher("PreToolUse:Bash", "Bash"),
]
PHANTOMS = [
    phantom(
        'cmd="${CLAUDE_BASH_COMMAND}"; case "$cmd" in *mkfs*) echo no >&2; exit 2;; esac',
        'cmd=$(jq -r .tool_input.command); case "$cmd" in *mkfs*) echo no >&2; exit 2;; esac',
    ),
    phantom(
        "eslint --fix $CLAUDE_TOOL_INPUT_FILE_PATH", 'eslint --fix "$(jq -r .tool_input.file_path)"', "PostToolUse"
    ),
    phantom('echo "$TOOL_INPUT" | jq -r .command >> log.txt', "jq -r .tool_input.command >> log.txt"),
    phantom(
        'test "$CLAUDE_TOOL_NAME" = Bash && exit 0; echo x >> log.txt',
        'test "$(jq -r .tool_name)" = Bash && exit 0; echo x >> log.txt',
    ),
    phantom('notify-send "$CLAUDE_MESSAGE"', 'notify-send "$(jq -r .message)"', "Notification"),
    phantom(
        'echo "$FILE_PATH" >> log.txt',
        'FILE_PATH=$(jq -r .tool_input.file_path); echo "$FILE_PATH" >> log.txt',
        "PostToolUse",
    ),
    phantom('cd "$CLAUDE_PROJECT_ROOT" && make lint', 'cd "$CLAUDE_PROJECT_DIR" && make lint', "PostToolUse"),
    phantom('cd "$CLAUDE_WORKSPACE"; make', 'cd "$CLAUDE_PROJECT_DIR"; make', "Stop"),
    scripted("a.sh", PHANTOM_SH, ("\nif", "CLAUDE_COMMAND=$(jq -r .tool_input.command)\nif"), ("HK413",)),
    scripted(
        "a.py",
        PHANTOM_PY,
        ("os.environ['CLAUDE_TOOL_INPUT_COMMAND']", "json.load(sys.stdin)['tool_input']['command']"),
        ("HK413",),
    ),
    scripted(
        "a.py",
        "from os import getenv\nprint(getenv('CLAUDE_USER_PROMPT'))\n",
        ("USER_PROMPT", "PROJECT_DIR"),
        ("HK413",),
        "UserPromptSubmit",
    ),
]
EXITS = [
    guard(
        "grep -q 'DROP TABLE' && { echo 'refusing to drop tables' >&2; false; }",
        "grep -q 'DROP TABLE' && { echo 'refusing to drop tables' >&2; exit 2; }; true",
    ),
    guard(
        "if grep -qE '(^|/)\\.env'; then echo 'secrets are off limits' 1>&2; exit 1; fi",
        "if grep -qE '(^|/)\\.env'; then echo 'secrets are off limits' 1>&2; exit 2; fi",
    ),
    guard(
        "jq -e '.tool_input.command | test(\"sudo\")' >/dev/null && echo 'sudo is not permitted' >&2 && exit 1; exit 0",
        "jq -e '.tool_input.command | test(\"sudo\")' >/dev/null && echo 'sudo is not permitted' >&2 && exit 2; exit 0",
    ),
    guard(
        "bash -c 'read -r x; if [[ $x == *prod* ]]; then echo \"never touch prod\" >&2; exit 1; fi'",
        "bash -c 'read -r x; if [[ $x == *prod* ]]; then echo \"never touch prod\" >&2; exit 2; fi'",
    ),
    guard(
        READ + "[[ $c =~ force ]] && { echo denied; exit 1; }; exit 0",
        READ + "[[ $c =~ force ]] && { echo denied >&2; exit 2; }; exit 0",
    ),
    guard(
        "test -f .approved || { echo 'Not approved yet' >&2; exit 1; }",
        "test -f .approved || { echo 'Not approved yet' >&2; exit 2; }",
    ),
    guard(
        "npm test >/dev/null 2>&1 || { echo 'Tests must pass before you stop' >&2; exit 1; }",
        "npm test >/dev/null 2>&1 || { echo 'Tests must pass before you stop' >&2; exit 2; }",
        "Stop",
    ),
    scripted("g.py", RETURNED_PY, ("return 1", "return 2"), GUARDED),
    scripted("g.py", FAILED_PY, ("raise SystemExit('Blocked: mkfs')", EXIT_2), GUARDED),
    scripted(
        "g.py",
        FAILED_PY.replace("SystemExit", "PermissionError"),
        ("raise PermissionError('Blocked: mkfs')", EXIT_2),
        GUARDED,
    ),
    scripted(
        "g.py", ASSERTED_PY, ("assert 'mkfs' not in c, 'Blocked: mkfs'", f"if 'mkfs' in c:\n    {EXIT_2}"), GUARDED
    ),
    scripted("g.js", EVENT_JS, ("exit(1)", "exit(2)"), GUARDED),
    scripted("g.js", THROWN_JS, ("throw new Error('Blocked: mkfs');", STDERR_2), GUARDED),
    scripted("g.sh", CALLED_SH, ("exit 1", "exit 2"), GUARDED),
    scripted("g.sh", COUNTED_SH, ("code=1", "code=2"), GUARDED),
]
ANSWERS = [
    answer({"decision": "reject", "reason": "no"}),
    answer({"decision": "deny_all"}, "Stop", BLOCK),
    answer({"permission": "deny"}),
    answer({"hookSpecificOutput": {"hookEventName": "PreToolUse", "decision": "deny"}}),
    answer({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "block"}}),
    answer({"hookSpecificOutput": {"permissionDecision": "deny"}}, rule="HK506"),
    answer({"ok": False, "reason": "tests fail"}, "Stop", BLOCK),
    answer(
        {"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "deny"}},
        "PostToolUse",
        BLOCK,
        "HK601",
    ),
    answer({"additionalContext": "branch main"}, "SessionStart", TEXT),
    answer({"context": "branch main"}, "UserPromptSubmit", BLOCK),
    answer({"updatedInput": {"command": "ls"}}),
    answer({"stop": True, "stopReason": "x"}, "PostToolUse", '{"continue": false, "stopReason": "enough"}'),
    answer({"error": "not allowed"}),
    inline("jq -n '{allow: false}'", f"echo '{DENY}'", ("HK518", "HK504", "HK505")),
    inline("printf '{\"blocked\": true}\\n'", f"echo '{DENY}'", ("HK518", "HK504", "HK505")),
    inline('cat <<EOF\n{"allowed": false}\nEOF', f"echo '{DENY}'", ("HK518", "HK504", "HK505")),
    scripted(
        "a.py", "import json, sys\njson.dump({'block': True}, sys.stdout)\n", ("{'block': True}", DENY), ("HK518",)
    ),
    scripted(
        "a.js",
        "process.stdout.write(JSON.stringify({ allow: false }));\n",
        ("{ allow: false }", DENY),
        ("HK518",),
    ),
]
SYNTAX = [
    broken("if [ -f x ] then echo y; fi", "if [ -f x ]; then echo y >> log; fi"),
    broken("echo 'it's done'", 'echo "it\'s done" >> log'),
    broken("cat | | jq .", "cat | jq . > log"),
    broken("do echo x; done", "for i in 1; do echo x >> log; done"),
    broken("f() { echo x", "f() { echo x >> log; }; f"),
    broken("echo `date", "echo `date` >> log"),
    broken("echo ${HOME", "echo ${HOME} >> log"),
    broken("python3 -c 'import json\nif True\n    print(1)'", "python3 -c 'import json\nif True:\n    print(1)' > log"),
    broken("node -e 'const x = ;'", "node -e 'const x = 1;'"),
    broken('python3 -c "import sys; print(sys.argv[1"', 'python3 -c "import sys; print(sys.argv)" > log'),
    broken("elif true; then echo; fi", "if true; then echo >> log; fi"),
    broken("true; ; false", "true; false"),
]

FAMILIES = {"matchers": MATCHERS, "phantoms": PHANTOMS, "exits": EXITS, "answers": ANSWERS, "syntax": SYNTAX}
ALL = [pytest.param(pair, id=f"{name}-{index}") for name, pairs in FAMILIES.items() for index, pair in enumerate(pairs)]


def test_nine_of_ten_new_variants_are_found(tmp_path: Path) -> None:
    missed = [
        pair.bad.files
        for index, pair in enumerate(pair for pairs in FAMILIES.values() for pair in pairs)
        if not serious(pair.bad, tmp_path / str(index)) & set(pair.rules)
    ]
    assert len(ALL) >= 60
    assert len(missed) <= len(ALL) * (1 - WANTED), missed


@pytest.mark.parametrize("pair", ALL)
def test_the_correct_twin_of_a_new_variant_is_left_alone(pair: Pair, tmp_path: Path) -> None:
    assert serious(pair.good, tmp_path) & set(pair.rules) == set()
