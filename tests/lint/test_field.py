"""Small examples of what public configurations showed: false alarms that are gone, and files that are now read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookwright.lint.catalogue.samples import bash, command, conf, group, node, one, plugin, python, script, settings
from hookwright.lint.model import Sample
from hookwright.protocol.diagnostics import Severity
from lint.projects import STRICT, check, write


def rules(sample: Sample, tmp_path: Path, least: Severity = Severity.INFO) -> set[str]:
    """Return the rules that report a sample, remarks included unless only serious ones are wanted."""
    found = check(write(sample, tmp_path / "project"), tmp_path / "home", selection=STRICT)
    return {item.rule for item in found if least is Severity.INFO or item.severity is not Severity.INFO}


# ── false alarms ────────────────────────────────────────────────────────────

DENY = (
    '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", '
    '"permissionDecisionReason": "run the tests"}}'
)
BY_EVENT = """
const e = JSON.parse(require('fs').readFileSync(0, 'utf8'));
if (e.hook_event_name === 'UserPromptSubmit') {
  console.log('The branch is main.');
} else {
  console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } }));
}
"""
LINES = """
import json, sys

path = json.load(sys.stdin)["tool_input"]["file_path"]
for line in open(path).read().splitlines():
    if line.startswith("//"):
        print("Blocked: a comment", file=sys.stderr)
        sys.exit(2)
"""
STDIN = "let d='';process.stdin.on('data',c=>d+=c);process.stdin.on('end',()=>{console.error(d)})"
FALSE = {
    "a path with task- in it is not a secret": (one("Stop", command("./hooks/task-completion-notify.sh")), "HK802"),
    "a guard that refuses a switch is not switched off by it": (
        script(
            "g.sh",
            bash(
                "c=$(jq -r .tool_input.command)\n"
                f"if [[ $c == *--skip-tests* ]]; then\n  echo '{DENY}'\n  exit 0\nfi\n"
                "if [[ $c == mkfs ]]; then\n  echo 'Blocked: mkfs' >&2\n  exit 2\nfi\n"
            ),
        ),
        "HK417",
    ),
    "two handlers of one stdin are one reading": (one("Stop", command(f'node -e "{STDIN}"')), "HK406"),
    "a name in a message is not advice": (
        one("SessionStart", command('echo \'{"systemMessage": "Claude Notes plugin: no notes yet."}\'')),
        "HK509",
    ),
    "the branch of another event": (script("a.js", node(BY_EVENT), event="UserPromptSubmit"), "HK506"),
    "the branch of another event cannot decide here": (
        script("a.js", node(BY_EVENT), event="UserPromptSubmit"),
        "HK601",
    ),
    "a void answer approves nothing": (
        one("PreToolUse", command('echo \'{"decision": "allow"}\''), matcher="Bash"),
        "HK412",
    ),
    "lines of a file are not its path": (script("a.py", python(LINES), matcher="Edit"), "HK809"),
    "text after exec 1>&2 is on stderr": (
        script("a.sh", bash("exec 1>&2\necho 'Please remember the tests.'\n"), event="PostToolUse"),
        "HK602",
    ),
    "a check of the content is not about paths": (
        script(
            "a.sh",
            bash(
                'IN=$(cat)\nf=$(jq -r .tool_input.file_path <<<"$IN")\no=$(jq -r .tool_input.old_string <<<"$IN")\n'
                'if [[ $o == *DO-NOT-EDIT* ]]; then\n  echo "Blocked: $f is generated" >&2\n  exit 2\nfi\n'
            ),
            matcher="Edit",
        ),
        "HK214",
    ),
    "a refusal by exit 2 does not depend on the JSON": (
        one("PreToolUse", command('echo \'{"decision": "deny"}\'; exit 2'), matcher="Bash"),
        "HK505",
    ),
    "eslint keeps 2 for its own trouble": (one("PreToolUse", command("npx eslint ."), matcher="Bash"), "HK407"),
    "names of a flow, a version and a region": (
        conf({}, env={"GIT_FLOW_MAIN_BRANCH": "main", "PYTHON_VERSION": "3.12", "AWS_REGION": "x", "MY_API_KEY": "y"}),
        "HK113",
    ),
    "comments": (
        one("Stop", command("true", _comment="why", **{"// note": "later"})),
        "HK106",
    ),
    "keys that Claude Code itself writes": (
        one("Stop", command("true", asyncRewake=True, rewakeMessage="done", rewakeSummary="x")),
        "HK106",
    ),
}


@pytest.mark.parametrize(("sample", "rule"), FALSE.values(), ids=FALSE.keys())
def test_a_false_alarm_is_gone(sample: Sample, rule: str, tmp_path: Path) -> None:
    assert rule not in rules(sample, tmp_path)


def test_another_agents_name_beside_a_tools_is_only_a_remark(tmp_path: Path) -> None:
    sample = one("PreToolUse", command("true"), matcher="Bash|exec_command")
    assert "HK201" in rules(sample, tmp_path / "a")
    assert "HK201" not in rules(sample, tmp_path / "b", Severity.WARNING)


def test_a_block_of_messages_is_one_finding(tmp_path: Path) -> None:
    body = bash("echo 'Please run the tests.'\necho 'Never skip them.'\necho 'Always push.'\n")
    found = check(write(script("a.sh", body, event="PostToolUse"), tmp_path / "project"), tmp_path / "home")
    assert [item.at.line for item in found if item.rule == "HK602"] == [2]


# ── files that were not read ────────────────────────────────────────────────


def test_a_plugins_hooks_without_the_hooks_key_are_read(tmp_path: Path) -> None:
    wrong = command("echo no >&2; exit 1", timeout=5000)
    files = {"hooks/hooks.json": json.dumps({"PreToolUse": [group(wrong, matcher="bash")]}, indent=2)}
    assert {"HK203", "HK107"} <= rules(plugin(files), tmp_path)


def test_the_script_behind_a_tilde_is_read(tmp_path: Path) -> None:
    guard = tmp_path / "home" / ".claude" / "hooks" / "guard.sh"
    guard.parent.mkdir(parents=True)
    guard.write_text("#!/usr/bin/env bash\necho 'Blocked: always' >&2\nexit 1\n")
    guard.chmod(0o755)
    found = rules(one("PreToolUse", command("~/.claude/hooks/guard.sh"), matcher="Bash"), tmp_path)
    assert "HK401" in found
    assert "HK301" not in found


@pytest.mark.parametrize("line", ["'~'/.claude/hooks/guard.sh", '"~/.claude/hooks/guard.sh"', "./~/guard.sh"])
def test_a_tilde_in_quotes_or_inside_a_word_is_a_character(line: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    assert "HK301" in rules(one("PreToolUse", command(line), matcher="Bash"), tmp_path)


UNREAD = {
    "TypeScript": ("guard.ts", "process.exit(2);\n", 'bun "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.ts'),
    "PowerShell": ("guard.ps1", "exit 2\n", 'pwsh "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.ps1'),
    "programs for ruby": ("guard.rb", "exit 2\n", 'ruby "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.rb'),
    "too long": ("guard.sh", "true\n" * 6000, 'bash "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'),
}


@pytest.mark.parametrize("why", UNREAD)
def test_a_script_that_decides_and_is_not_read_is_remarked_on(why: str, tmp_path: Path) -> None:
    name, body, line = UNREAD[why]
    sample = one("PreToolUse", command(line), matcher="Bash", files={f".claude/hooks/{name}": body})
    found = check(write(sample, tmp_path / "project"), tmp_path / "home")
    remarks = [item for item in found if item.rule == "HK316"]
    assert len(remarks) == 1
    assert why in remarks[0].what
    assert remarks[0].severity is Severity.INFO


def test_powershell_as_a_command_is_remarked_on(tmp_path: Path) -> None:
    assert "HK316" in rules(one("PreToolUse", command("exit 2", shell="powershell"), matcher="Bash"), tmp_path)


def test_a_script_that_does_not_decide_needs_no_remark(tmp_path: Path) -> None:
    files = {".claude/hooks/log.ts": "console.log(1);\n"}
    line = 'bun "$CLAUDE_PROJECT_DIR"/.claude/hooks/log.ts || true; exit 0'
    sample = Sample(
        {".claude/settings.json": settings({"PreToolUse": [group(command(line), matcher="Bash")]}), **files}
    )
    assert "HK316" not in rules(sample, tmp_path)


def test_one_answer_that_two_callbacks_lead_to_is_one_document(tmp_path: Path) -> None:
    body = """
    function main(raw) {
      console.log(JSON.stringify({ systemMessage: raw }));
    }
    if (process.stdin.isTTY) {
      console.log(JSON.stringify({ systemMessage: 'no input' }));
    } else {
      let raw = '';
      process.stdin.on('data', c => raw += c);
      process.stdin.on('end', () => main(raw));
    }
    """
    assert "HK502" not in rules(script("a.js", node(body), event="Stop"), tmp_path)
