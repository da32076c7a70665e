"""The traps that hook authors report most: what check says about each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookwright.lint import Finding
from hookwright.lint.catalogue.samples import (
    HOOKS,
    SETTINGS,
    bash,
    command,
    conf,
    group,
    node,
    one,
    python,
    script,
    settings,
)
from hookwright.lint.model import Sample
from hookwright.protocol.diagnostics import Severity
from lint.projects import check, write

READ = "command=$(jq -r '.tool_input.command')\n"


def found_in(sample: Sample, tmp_path: Path) -> dict[str, Finding]:
    root = write(sample, tmp_path / "project")
    return {item.rule: item for item in check(root, tmp_path / "home")}


# ── pain 8: exit 1 does not block ───────────────────────────────────────────

EXIT_1 = {
    "bash with words of refusal": script(
        "guard.sh",
        bash(READ + 'if [[ "$command" == *"push --force"* ]]; then\n  echo "Denied: no force." >&2\n  exit 1\nfi\n'),
    ),
    "bash without words, on a dangerous pattern": script(
        "guard.sh", bash(READ + "if grep -q 'rm -rf' <<<\"$command\"; then\n  exit 1\nfi\n")
    ),
    "a function that refuses": script(
        "guard.sh",
        bash(
            'deny() {\n  echo "Blocked: $1" >&2\n  exit 1\n}\n'
            + READ
            + 'case "$command" in\n  sudo*) deny sudo ;;\nesac\n'
        ),
    ),
    "python": script(
        "guard.py",
        python(
            'import json, sys\n\nevent = json.load(sys.stdin)\nif event["tool_input"]["command"].startswith("sudo"):\n'
            '    print("Not allowed.", file=sys.stderr)\n    sys.exit(1)\n'
        ),
    ),
    "python by the return value of main": script(
        "guard.py",
        python(
            "import json, sys\n\n\ndef main():\n    event = json.load(sys.stdin)\n"
            '    if "sudo" in event["tool_input"]["command"]:\n'
            '        print("Blocked.", file=sys.stderr)\n        return 1\n'
            "    return 0\n\n\nif __name__ == '__main__':\n    sys.exit(main())\n"
        ),
    ),
    "node": script(
        "guard.js",
        node(
            "const event = JSON.parse(require('fs').readFileSync(0, 'utf8'));\n"
            "if (/sudo/.test(event.tool_input.command)) {\n  console.error('Blocked: sudo');\n  process.exit(1);\n}\n"
        ),
    ),
}


@pytest.mark.parametrize("sample", EXIT_1.values(), ids=EXIT_1.keys())
def test_a_guard_that_exits_1_is_told_that_the_call_proceeds(sample: Sample, tmp_path: Path) -> None:
    found = found_in(sample, tmp_path)
    assert "the call proceeds" in found["HK401"].what


NOT_EXIT_1 = {
    "an error of its own": script(
        "guard.sh", bash('command -v jq >/dev/null || {\n  echo "jq is missing" >&2\n  exit 1\n}\n')
    ),
    "a decision as JSON, which counts at every status": script(
        "guard.sh",
        bash(
            READ
            + 'case "$command" in\n  sudo*)\n    echo \'{"hookSpecificOutput": {"hookEventName": "PreToolUse", '
            + '"permissionDecision": "deny", "permissionDecisionReason": "Blocked."}}\'\n    exit 1\n    ;;\nesac\n'
        ),
    ),
    "an event on which nothing can be refused": script(
        "log.sh", bash('echo "Blocked: nothing" >&2\nexit 1\n'), event="SessionEnd"
    ),
    "broken input": script(
        "guard.py",
        python(
            "import json, sys\n\ntry:\n    json.load(sys.stdin)\nexcept ValueError:\n"
            '    print("refused to read", file=sys.stderr)\n    sys.exit(1)\n'
        ),
    ),
}


@pytest.mark.parametrize("sample", NOT_EXIT_1.values(), ids=NOT_EXIT_1.keys())
def test_an_exit_1_that_refuses_nothing_is_left_alone(sample: Sample, tmp_path: Path) -> None:
    assert "HK401" not in found_in(sample, tmp_path)


# ── pain 9: exit 2 without meaning it ───────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ('python3 "$CLAUDE_PROJECT_DIR"/gone.py', "exits 2"),
        ('sh "$CLAUDE_PROJECT_DIR"/gone.sh', "exits 2"),
        ('perl "$CLAUDE_PROJECT_DIR"/gone.pl', "exits 2"),
        ('bash "$CLAUDE_PROJECT_DIR"/gone.sh', "exits 127"),
        ('node "$CLAUDE_PROJECT_DIR"/gone.js', "exits 1"),
        ('"$CLAUDE_PROJECT_DIR"/gone.sh', "exits 127"),
    ],
)
def test_a_missing_script_is_told_with_its_status(line: str, status: str, tmp_path: Path) -> None:
    what = found_in(one("PreToolUse", command(line), matcher="Bash"), tmp_path)["HK301"].what
    assert status in what
    assert ("*block*" in what) is (status == "exits 2")


def test_a_script_that_is_looked_for_first_is_no_surprise(tmp_path: Path) -> None:
    line = '[ -f "$CLAUDE_PROJECT_DIR"/gone.py ] && python3 "$CLAUDE_PROJECT_DIR"/gone.py'
    assert "HK301" not in found_in(one("PreToolUse", command(line), matcher="Bash"), tmp_path)


def test_a_merge_conflict_blocks_everything(tmp_path: Path) -> None:
    body = bash("<<<<<<< HEAD\nexit 0\n=======\nexit 1\n>>>>>>> topic\n")
    found = found_in(script("guard.sh", body, event="UserPromptSubmit"), tmp_path)["HK304"]
    assert (found.at.line, "merge conflict" in found.what, "*block*" in found.what) == (2, True, True)


def test_a_bashism_in_a_command_line_ends_with_2(tmp_path: Path) -> None:
    sample = one("PreToolUse", command('grep -q sudo <<< "$(jq -r .tool_input.command)"'), matcher="Bash")
    assert "exit status 2, and 2 means *block*" in found_in(sample, tmp_path)["HK309"].what


@pytest.mark.parametrize("line", ["make check", "npx tsc", "npx stylelint x.css", "uv run make"])
def test_a_tool_whose_failure_is_2_is_found(line: str, tmp_path: Path) -> None:
    assert "HK407" in found_in(one("UserPromptSubmit", command(line)), tmp_path)


@pytest.mark.parametrize(
    "line", ["make check || exit 1", "npm test", "ruff check .", "npx eslint .", "python3 -m pytest"]
)
def test_a_status_that_is_mapped_is_left_alone(line: str, tmp_path: Path) -> None:
    assert "HK407" not in found_in(one("UserPromptSubmit", command(line)), tmp_path)


# ── pain 11: JSON that is silently not obeyed ───────────────────────────────

DENY = '"permissionDecision": "deny", "permissionDecisionReason": "no"'
ANSWERS = {
    "decision at the top level": (f"{{{DENY}}}", "HK504"),
    "no event name": (f'{{"hookSpecificOutput": {{{DENY}}}}}', "HK506"),
    "another event's name": (f'{{"hookSpecificOutput": {{"hookEventName": "PostToolUse", {DENY}}}}}', "HK506"),
    "a word that is not in the list": (
        '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "block"}}',
        "HK505",
    ),
    "deny as the old decision": ('{"decision": "deny", "reason": "no"}', "HK505"),
    "decision inside": ('{"hookSpecificOutput": {"hookEventName": "PreToolUse", "decision": "block"}}', "HK504"),
    "a trailing comma": ('{"decision": "block", "reason": "no",}', "HK501"),
    "two objects": ('{"decision": "block", "reason": "no"}{"continue": false}', "HK502"),
}


@pytest.mark.parametrize(("answer", "rule"), ANSWERS.values(), ids=ANSWERS.keys())
@pytest.mark.parametrize("way", ["echo", "heredoc", "printf"])
def test_an_answer_that_is_not_obeyed_is_found(answer: str, rule: str, way: str, tmp_path: Path) -> None:
    said = {
        "echo": f"echo '{answer}'\n",
        "heredoc": f"cat <<'JSON'\n{answer}\nJSON\n",
        "printf": f"printf '%s\\n' '{answer}'\n",
    }
    assert rule in found_in(script("guard.sh", bash(said[way])), tmp_path)


def test_the_same_answers_are_read_in_python_and_node(tmp_path: Path) -> None:
    wrong = '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'
    in_python = script("guard.py", python(f"import json\n\nprint(json.dumps({wrong}))\n"))
    in_node = script("guard.js", node(f"console.log(JSON.stringify({wrong}));\n"))
    assert "HK506" in found_in(in_python, tmp_path / "a")
    assert "HK506" in found_in(in_node, tmp_path / "b")


def test_text_before_the_json_is_found(tmp_path: Path) -> None:
    body = bash('echo "checking"\necho \'{"decision": "block", "reason": "no"}\'\n')
    assert found_in(script("guard.sh", body), tmp_path)["HK503"].at.line == 3


def test_a_value_pasted_into_json_is_found(tmp_path: Path) -> None:
    body = bash(READ + 'echo "{\\"decision\\": \\"block\\", \\"reason\\": \\"not $command\\"}"\n')
    assert "`tool_input.command` is pasted" in found_in(script("guard.sh", body), tmp_path)["HK501"].what


def test_a_value_that_jq_quotes_is_left_alone(tmp_path: Path) -> None:
    body = bash(READ + 'jq -n --arg r "not $command" \'{decision: "block", reason: $r}\'\n')
    assert "HK501" not in found_in(script("guard.sh", body), tmp_path)


# ── pain 14: rewrites ───────────────────────────────────────────────────────


def rewriter(name: str) -> dict[str, str]:
    return {
        HOOKS + name: python(
            "import json, sys\n\nevent = json.load(sys.stdin)\n"
            'made = {**event["tool_input"], "timeout": 1000}\n'
            'print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": made}}))\n'
        )
    }


def two(first: str, second: str) -> Sample:
    run = [command(f'"$CLAUDE_PROJECT_DIR"/{HOOKS}{name}') for name in ("a.py", "b.py")]
    hooks = {"PreToolUse": [group(run[0], matcher=first), group(run[1], matcher=second)]}
    return Sample({SETTINGS: settings(hooks), **rewriter("a.py"), **rewriter("b.py")})


def test_two_rewriters_of_the_same_calls_are_found_with_both_outcomes(tmp_path: Path) -> None:
    what = found_in(two("Bash", "Bash|Edit"), tmp_path)["HK631"].what
    assert "Claude Code the one that finishes last wins" in what
    assert "Hookwright the one declared last (D1)" in what


def test_two_rewriters_of_different_calls_are_left_alone(tmp_path: Path) -> None:
    assert "HK631" not in found_in(two("Bash", "Edit"), tmp_path)


def test_a_rewrite_that_drops_fields_is_found(tmp_path: Path) -> None:
    partial = (
        "import json\n\nprint(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', "
        "'updatedInput': {'command': 'ls'}}}))\n"
    )
    found = found_in(script("a.py", python(partial), matcher="Bash"), tmp_path)
    assert "`timeout`" in found["HK514"].what


# ── where Hookwright differs, the message describes both ────────────────────────


def test_both_outcomes_are_described_where_they_differ(tmp_path: Path) -> None:
    flat = found_in(conf({"PreToolUse": [{"type": "command", "command": "x"}]}), tmp_path / "a")["HK103"].what
    assert "Claude Code then ignores the whole file" in flat
    assert "Hookwright ignores only the entry (D2)" in flat
    lifted = found_in(conf({"Stop": [{"command": "x"}]}), tmp_path / "c")["HK103"]
    assert lifted.severity is Severity.ERROR
    assert "Claude Code silently drops it" in lifted.what
    assert "Hookwright reads it" in lifted.what
    request = script("guard.sh", bash("echo 'Blocked.' >&2\nexit 2\n"), event="PermissionRequest")
    what = found_in(request, tmp_path / "b")["HK601"].what
    assert "Claude Code ignores exit 2" in what
    assert "Hookwright denies (D11)" in what


# ── hostile names ───────────────────────────────────────────────────────────

PATH = "jq -r .tool_input.file_path"


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        (f"{PATH} | xargs -I{{}} sh -c 'lint {{}}'", Severity.ERROR),
        (f"{PATH} | xargs prettier --write", Severity.INFO),
        (f"{PATH} | xargs -d '\\n' prettier --write", None),
        (f"{PATH} | xargs -I{{}} prettier --write {{}}", None),
        (f'sh -c "lint $({PATH})"', Severity.ERROR),
        (f'sh -c \'lint "$1"\' _ "$({PATH})"', None),
        (f'eval "lint $({PATH})"', Severity.ERROR),
        (f'lint "$({PATH})"', None),
    ],
)
def test_a_name_that_becomes_code_is_found(line: str, severity: Severity | None, tmp_path: Path) -> None:
    found = found_in(one("PostToolUse", command(line), matcher="Edit"), tmp_path).get("HK803")
    assert (found.severity if found is not None else None) is severity
