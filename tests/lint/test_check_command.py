"""`hookwright check` and `hookwright rules` as a user starts them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from command_line import Shell
from docpages import ROOT
from hookwright.cli import main
from hookwright.lint import RULES, Finding, Subject
from hookwright.lint.catalogue.samples import HOOKS, SETTINGS, bash, command, group, python, script, settings
from hookwright.lint.checks import CHECKS
from hookwright.lint.model import Sample
from lint.projects import line_of, write

EXIT_1 = RULES["HK401"].bad
GUARD = RULES["HK807"].bad
QUIET = Sample({SETTINGS: settings({"Stop": [group(command("cat >> log.jsonl", timeout=5))]})})


class Here(Shell):
    """The same project and home, with the command called in this process: a start costs more than a check."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        super().__init__(folder)
        self.patch = patch
        self.capture = capture

    def __call__(self, *args: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        assert not stdin
        wanted = {**self.env, **env}
        with self.patch.context() as patch:
            patch.chdir(self.project)
            for name in list(os.environ):
                patch.delenv(name)
            for name, value in wanted.items():
                patch.setenv(name, value)
            status = main(list(args))
        said = self.capture.readouterr()
        return subprocess.CompletedProcess(args, status, said.out, said.err)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Here(tmp_path, monkeypatch, capsys)


def ids(done: subprocess.CompletedProcess[str]) -> set[str]:
    return {item["id"] for item in json.loads(done.stdout)}


# ── what is printed ─────────────────────────────────────────────────────────


def test_a_finding_has_place_rule_what_why_and_fix(shell: Shell) -> None:
    write(EXIT_1, shell.project)
    done = shell("check", "--select", "HK401")
    name, line = line_of(EXIT_1)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == f"{name}:{line}:3 error HK401 exit-1-guard"
    assert "the call proceeds" in done.stdout
    assert re.search(r"why: .*\n(?:.*\n)*.*fix: Exit 2 with the reason on stderr", done.stdout)


def test_a_clean_project_exits_0_as_a_program_of_its_own(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    write(QUIET, shell.project)
    done = shell("check")
    assert (done.returncode, done.stdout) == (0, "No findings: 1 hook in 1 file.\n")


def test_nothing_to_check_is_not_reported_as_nothing_found(shell: Shell) -> None:
    done = shell("check")
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "Nothing to check")


def test_info_does_not_fail(shell: Shell) -> None:
    write(RULES["HK411"].bad, shell.project)
    done = shell("check", "--format", "json")
    assert ids(done) == {"HK411"}
    assert done.returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [("--format", "xml"), ("no-such-place",), ("--select", "XX9"), ("--target", "netscape"), ("README.txt",)],
)
def test_usage_errors_exit_2_and_name_the_value(shell: Shell, arguments: tuple[str, ...]) -> None:
    (shell.project / "README.txt").write_text("hello")
    done = shell("check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert arguments[-1] in done.stderr


def test_control_characters_of_a_file_never_reach_the_terminal(shell: Shell) -> None:
    hooks = {"PreTool\x1b[31mUse": [group(command("x"))]}
    write(Sample({SETTINGS: settings(hooks)}), shell.project)
    assert "\x1b" not in shell("check").stdout


def test_json_has_every_field(shell: Shell) -> None:
    write(EXIT_1, shell.project)
    done = shell("check", "--json", "--select", "HK401")
    (record,) = json.loads(done.stdout)
    name, line = line_of(EXIT_1)
    assert {key: record[key] for key in ("id", "name", "severity", "path", "line", "column", "fixable")} == {
        "id": "HK401",
        "name": "exit-1-guard",
        "severity": "error",
        "path": name,
        "line": line,
        "column": 3,
        "fixable": False,
    }
    assert record["what"]
    assert record["why"] == RULES["HK401"].why
    assert record["write"]


def test_sarif_names_rules_places_and_levels(shell: Shell) -> None:
    write(EXIT_1, shell.project)
    report: dict[str, Any] = json.loads(shell("check", "--format", "sarif").stdout)
    (run,) = report["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    (result,) = [item for item in run["results"] if item["ruleId"] == "HK401"]
    place = result["locations"][0]["physicalLocation"]
    name, line = line_of(EXIT_1)
    assert report["version"] == "2.1.0"
    assert rules[result["ruleIndex"]] == "HK401"
    assert (result["level"], place["artifactLocation"]["uri"]) == ("error", name)
    assert place["region"] == {"startLine": line, "startColumn": 3}
    assert {item["level"] for item in run["results"]} <= {"error", "warning", "note"}


def test_github_annotations_are_one_line_each(shell: Shell) -> None:
    write(EXIT_1, shell.project)
    lines = shell("check", "--format", "github", "--select", "HK401").stdout.splitlines()
    name, line = line_of(EXIT_1)
    assert len(lines) == 1
    assert lines[0].startswith(f"::error file={name},line={line},col=3,title=HK401 exit-1-guard::Exit 1 after")


# ── what is checked ─────────────────────────────────────────────────────────


def test_rules_are_chosen_by_beginnings_and_the_longer_one_decides(shell: Shell) -> None:
    write(GUARD, shell.project)
    assert ids(shell("check", "--json")) == set()
    assert ids(shell("check", "--json", "--strict")) == {"HK806", "HK807"}
    assert ids(shell("check", "--json", "--select", "HK7,HK807")) == {"HK807"}
    assert ids(shell("check", "--json", "--strict", "--ignore", "HK8")) == set()
    assert ids(shell("check", "--json", "--ignore", "HK8", "--select", "HK,HK806")) == {"HK806"}
    assert ids(shell("check", "--json", "--strict", "--min-severity", "error")) == set()


def test_the_users_own_settings_are_read_on_demand(shell: Shell) -> None:
    write(QUIET, shell.project)
    write(RULES["HK203"].bad, shell.home)
    assert ids(shell("check", "--json")) == set()
    assert "HK203" in ids(shell("check", "--json", "--user"))


def test_managed_settings_and_enabled_plugins_are_read_with_all(shell: Shell, tmp_path: Path) -> None:
    plugin = shell.home / ".claude" / "plugins" / "cache" / "market" / "tools" / "1.0.0"
    write(RULES["HK313"].bad, plugin)
    managed = tmp_path / "managed.json"
    managed.write_text(settings({"Stop": [group(command("x", timeout=5000))]}))
    write(Sample({SETTINGS: json.dumps({"enabledPlugins": {"tools@market": True}})}), shell.home)
    found = ids(shell("check", "--json", "--all", HOOKWRIGHT_MANAGED_SETTINGS=str(managed)))
    assert {"HK313", "HK107"} <= found
    assert not {"HK313", "HK107"} & ids(shell("check", "--json", "--user", HOOKWRIGHT_MANAGED_SETTINGS=str(managed)))


def test_a_settings_file_a_plugin_and_a_skill_can_be_named(shell: Shell) -> None:
    write(RULES["HK203"].bad, shell.project / "a")
    write(RULES["HK109"].bad, shell.project / "b")
    handler = "      hooks:\n        - type: command\n          command: echo\n---\n"
    skill = f"---\nname: x\nhooks:\n  PreToolUse:\n    - matcher: bash\n{handler}"
    write(Sample({"c/SKILL.md": skill}), shell.project)
    assert "HK203" in ids(shell("check", "--json", "a/.claude/settings.json"))
    assert "HK109" in ids(shell("check", "--json", "b"))
    (found,) = [item for item in json.loads(shell("check", "--json", "c/SKILL.md").stdout) if item["id"] == "HK203"]
    assert (found["path"], found["line"]) == ("c/SKILL.md", 5)


def test_a_broken_head_of_a_skill_is_found(shell: Shell) -> None:
    head = "---\nname: x\nhooks:\n  PreToolUse: [\n---\n"
    write(Sample({".claude/skills/x/SKILL.md": head}), shell.project)
    assert ids(shell("check", "--json")) == {"HK111"}


def test_other_agents_and_versions_are_asked_for(shell: Shell) -> None:
    write(RULES["HK903"].bad, shell.project)
    assert {"HK903", "HK904"} <= ids(shell("check", "--json", "--target", "gemini,codex"))
    assert not {"HK903", "HK904"} & ids(shell("check", "--json"))


# ── suppressions ────────────────────────────────────────────────────────────


def test_a_comment_with_a_reason_suppresses_and_one_without_is_a_finding(shell: Shell) -> None:
    body = EXIT_1.files[HOOKS + "guard.sh"]
    path = shell.project / HOOKS / "guard.sh"
    write(EXIT_1, shell.project)
    path.write_text(body.replace("exit 1", "exit 1 # hookwright: ignore HK401 -- a wrapper turns 1 into 2"))
    assert not {"HK401", "HK001", "HK002"} & ids(shell("check", "--json"))
    path.write_text(body.replace("  exit 1", "  # hookwright: ignore HK401 -- a wrapper turns 1 into 2\n  exit 1"))
    assert not {"HK401", "HK001", "HK002"} & ids(shell("check", "--json"))
    path.write_text(body.replace("exit 1", "exit 1 # hookwright: ignore HK401"))
    assert {"HK401", "HK001"} <= ids(shell("check", "--json"))


def test_an_entry_of_hookwright_json_suppresses_in_settings(shell: Shell) -> None:
    write(GUARD, shell.project)
    entry = {"id": "HK806", "path": ".claude/settings.json", "pointer": "hooks.PreToolUse[0]", "reason": "a sandbox"}
    file = shell.project / ".claude" / "hookwright.json"
    file.write_text(json.dumps({"ignore": [entry]}))
    assert not {"HK806", "HK001", "HK002"} & ids(shell("check", "--json", "--strict"))
    file.write_text(json.dumps({"ignore": [{**entry, "reason": ""}]}))
    assert {"HK806", "HK001"} <= ids(shell("check", "--json", "--strict"))
    file.write_text(json.dumps({"ignore": [{**entry, "pointer": "hooks.Stop"}]}))
    assert {"HK806", "HK002"} <= ids(shell("check", "--json", "--strict"))
    file.write_text("{nothing")
    assert {"HK806", "HK001"} <= ids(shell("check", "--json", "--strict"))


# ── fixes ───────────────────────────────────────────────────────────────────

FIXES = {
    "HK101": ('"preToolUse"', '"PreToolUse"'),
    "HK103": ('{"type": "command", "command": "x"}', '{"hooks": [{"type": "command", "command": "x"}]}'),
    "HK105": ('"type": "Command"', '"type": "command"'),
    "HK106": ('"timeoutMs": 5000', '"timeout": 5'),
    "HK107": ('"timeout": 30000', '"timeout": 30'),
    "HK201": ('"matcher": "mcp__db"', '"matcher": "^mcp__db__"'),
    "HK203": ('"matcher": "bash|Edit"', '"matcher": "Bash|Edit"'),
    "HK206": ('"matcher": "mcp__*"', '"matcher": "^mcp__"'),
    "HK207": ('"matcher": "Write/Edit"', '"matcher": "Write|Edit"'),
    "HK217": ('"matcher": "Edit, Write"', '"matcher": "Edit|Write"'),
    "HK305": ('"command": "python3 hooks/x.py"', '"command": "python3 \\"${CLAUDE_PROJECT_DIR}\\"/hooks/x.py"'),
    "HK306": ('"command": "$CLAUDE_PROJECT_DIR/x.sh"', '"command": "\\"$CLAUDE_PROJECT_DIR/x.sh\\""'),
    "HK310": ('"command": "\'$CLAUDE_PROJECT_DIR/x.sh\'"', '"command": "\\"$CLAUDE_PROJECT_DIR/x.sh\\""'),
    "HK312": (
        '"shell": "powershell", "command": "$CLAUDE_PROJECT_DIR/x.ps1"',
        '"shell": "powershell", "command": "$env:CLAUDE_PROJECT_DIR/x.ps1"',
    ),
}


def odd_file(rule: str, part: str) -> str:
    """Lay a part into a file with odd spacing, all of which must survive."""
    if rule == "HK101":
        return (
            f'{{ "hooks":{{\n\t{part} : [ {{"hooks": [{{"type": "command", "command": "x"}}]}}]\n}} ,\n  "env":{{}} }}'
        )
    if rule == "HK103":
        return f'{{ "hooks":{{\n\t"Stop" : [ {part} ]\n}} ,\n  "env":{{}} }}'
    if "matcher" in part:
        run = '{"type": "command", "command": "true"}'
        return f'{{ "hooks":{{\n\t"PreToolUse" : [ {{{part}, "hooks": [{run}]}}]\n}} }}\n'
    if "command" in part and "type" not in part:
        return f'{{ "hooks":{{\n\t"Stop" : [ {{"hooks": [{{"type": "command",   {part}}}]}}]\n}} }}\n'
    if "type" in part:
        return f'{{ "hooks":{{\n\t"Stop" : [ {{"hooks": [{{{part},   "command": "true"}}]}}]\n}} }}\n'
    return f'{{ "hooks":{{\n\t"Stop" : [ {{"hooks": [{{"type": "command", "command": "true",  {part} }}]}}]\n}} }}\n'


@pytest.mark.parametrize("rule", FIXES)
def test_a_fix_changes_its_place_and_nothing_else(rule: str, shell: Shell) -> None:
    bad, good = FIXES[rule]
    path = shell.project / SETTINGS
    files = {SETTINGS: odd_file(rule, bad), "hooks/x.py": python("print()\n"), "x.sh": bash("true\n"), "x.ps1": "\n"}
    write(Sample(files), shell.project)
    shown = shell("check", "--diff", "--select", rule)
    assert path.read_text() == odd_file(rule, bad)
    done = shell("check", "--fix", "--select", rule)
    assert path.read_text() == odd_file(rule, good)
    assert done.stderr == shown.stderr
    assert re.search(r"^\+.*", done.stderr, re.MULTILINE)
    assert done.returncode == 0
    assert done.stdout.startswith("No findings: ")


def test_a_fix_keeps_a_byte_order_mark_and_the_mode(shell: Shell) -> None:
    path = shell.project / SETTINGS
    write(Sample({SETTINGS: "\ufeff" + odd_file("HK107", '"timeout": 30000')}), shell.project)
    path.chmod(0o600)
    shell("check", "--fix")
    assert path.read_text() == "\ufeff" + odd_file("HK107", '"timeout": 30')
    assert path.stat().st_mode & 0o777 == 0o600


def test_scripts_become_executable_and_lose_carriage_returns(shell: Shell) -> None:
    sample = script("log.sh", "#!/bin/sh\r\ncat >> log\r\n", event="Stop")
    write(sample, shell.project)
    path = shell.project / HOOKS / "log.sh"
    path.chmod(0o644)
    assert "HK303" in ids(shell("check", "--json"))
    done = shell("check", "--fix", "--select", "HK3")
    assert (path.read_bytes(), path.stat().st_mode & 0o111) == (b"#!/bin/sh\ncat >> log\n", 0o111)
    assert "chmod +x" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  // mine\n  "hooks": {"Stop": [],},\n}\n', '{\n  "hooks": {"Stop": []}\n}\n'),
        (
            '{"env": {"URL": "http://x/*y*/"}, /* both */ "hooks": {} // end\n}',
            '{"env": {"URL": "http://x/*y*/"}, "hooks": {}\n}',
        ),
        ('{"env": {"A": ",}"}, // one\n  // two\n}', '{"env": {"A": ",}"}\n}'),
        ('{"hooks": {NaN: 1,}}', '{"hooks": {NaN: 1,}}'),
        ('{"hooks": {"Stop": NaN,}}', '{"hooks": {"Stop": NaN,}}'),
    ],
)
def test_comments_and_trailing_commas_are_removed_if_the_rest_is_json(before: str, after: str, shell: Shell) -> None:
    write(Sample({SETTINGS: before}), shell.project)
    shell("check", "--fix", "--select", "HK111")
    assert (shell.project / SETTINGS).read_text() == after


def test_a_script_gets_the_interpreter_that_its_name_ends_with(shell: Shell) -> None:
    sample = script("log.py", "import sys\nsys.stdin.read()\n", event="Stop")
    write(sample, shell.project)
    path = shell.project / HOOKS / "log.py"
    path.chmod(0o755)
    assert shell("check", "--fix", "--select", "HK303").returncode == 0
    assert path.read_text() == "#!/usr/bin/env python3\nimport sys\nsys.stdin.read()\n"


def test_a_manifest_loses_the_line_that_breaks_it(shell: Shell) -> None:
    write(RULES["HK109"].bad, shell.project)
    shell("check", "--fix")
    assert json.loads((shell.project / ".claude-plugin" / "plugin.json").read_text()) == {"name": "tools"}


def test_the_exec_form_gets_its_words_apart(shell: Shell) -> None:
    write(RULES["HK308"].bad, shell.project)
    shell("check", "--fix", "--select", "HK308")
    (handler,) = json.loads((shell.project / SETTINGS).read_text())["hooks"]["Stop"][0]["hooks"]
    assert (handler["command"], handler["args"]) == ("python3", ["log.py"])


# ── trust and runs ──────────────────────────────────────────────────────────


def test_a_change_after_trust_is_found(shell: Shell) -> None:
    write(RULES["HK810"].bad, shell.project)
    assert shell("trust", "--yes").returncode == 0
    assert "HK810" not in ids(shell("check", "--json"))
    (shell.project / HOOKS / "log.sh").write_text("#!/usr/bin/env bash\ncat >> elsewhere\n")
    (found,) = [item for item in json.loads(shell("check", "--json").stdout) if item["id"] == "HK810"]
    name, line = line_of(RULES["HK810"].bad)
    assert (found["path"], found["line"]) == (name, line)
    assert "script changed" in found["what"]


def test_a_run_needs_trust_and_leaves_the_project_alone(shell: Shell) -> None:
    body = bash('touch ran\nprintf "%s" "{\\"a\\": "\n echo "}"\n')
    write(script("odd.sh", body, event="Stop"), shell.project)
    held = shell("check", "--run", "--json")
    assert "1 hook of " in held.stderr
    assert "not trusted and not run" in held.stderr
    assert ids(held) == set()
    done = shell("check", "--run", "--trust", "--json")
    assert "run Stop" in done.stderr
    assert ids(done) == {"HK501"}
    assert shell("trust", "--yes").returncode == 0
    assert ids(shell("check", "--run", "--json")) == {"HK501"}
    assert not (shell.project / "ran").exists()


def test_a_run_starts_every_check_once(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    started: Counter[str] = Counter()

    def counted(check: Callable[[Subject], Iterator[Finding]]) -> Callable[[Subject], Iterator[Finding]]:
        def counting(subject: Subject) -> Iterator[Finding]:
            started[check.__name__] += 1
            return check(subject)

        return counting

    monkeypatch.setattr("hookwright.lint.report.CHECKS", tuple(counted(check) for check in CHECKS))
    write(QUIET, shell.project)
    assert "run Stop" in shell("check", "--run", "--trust").stderr
    assert started == {check.__name__: 1 for check in CHECKS}


# ── rules ───────────────────────────────────────────────────────────────────


def test_rules_are_listed_and_explained(shell: Shell) -> None:
    table = shell("rules").stdout
    assert all(rule.id in table for rule in RULES.values())
    page = shell("rules", "HK401").stdout
    assert page.startswith("HK401 exit-1-guard (error)\n")
    assert re.search(r"exit 1 ←\n", page)
    assert page == shell("rules", "exit-1-guard").stdout
    assert len(json.loads(shell("rules", "--json").stdout)) == len(RULES)
    assert shell("rules", "HK999").returncode == 2


def test_there_are_the_rules_that_were_promised() -> None:
    counts = {family: sum(rule.startswith(f"HK{family}") for rule in RULES) for family in "0123456789"}
    assert counts == {"0": 2, "1": 13, "2": 17, "3": 16, "4": 17, "5": 19, "6": 13, "7": 7, "8": 11, "9": 21}


# ── speed ───────────────────────────────────────────────────────────────────


def test_fifty_hooks_are_checked_at_once(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    guard = EXIT_1.files[HOOKS + "guard.sh"]
    files = {f"{HOOKS}guard{number}.sh": guard for number in range(25)}
    files |= {f"{HOOKS}guard{number}.py": RULES["HK404"].bad.files[HOOKS + "guard.py"] for number in range(25)}
    handlers = [command(f'"$CLAUDE_PROJECT_DIR"/{name}') for name in files]
    write(Sample({SETTINGS: settings({"PreToolUse": [group(*handlers, matcher="Bash")]}), **files}), shell.project)
    started = time.perf_counter()
    done = shell("check", "--json")
    assert len([item for item in json.loads(done.stdout) if item["id"] == "HK401"]) == 25
    # Well under a second alone; the bound is for a machine that is busy with other things.
    assert time.perf_counter() - started < 5


# ── without the extras ──────────────────────────────────────────────────────


def test_the_core_alone_checks_settings_and_python_and_names_what_it_did_not_read(tmp_path: Path) -> None:
    shell = Shell(tmp_path)  # a process of its own, where the extras are not installed
    absent = tmp_path / "absent"
    absent.mkdir()
    for module in ("tree_sitter", "tree_sitter_bash", "tree_sitter_javascript", "ruamel"):
        (absent / f"{module}.py").write_text(f"raise ModuleNotFoundError(name={module!r})\n")
    test = "if 'mkfs' in json.load(sys.stdin)['tool_input']['command']:"
    guard = python(f"import json, sys\n{test}\n    sys.exit('Blocked')\n")
    write(script("guard.py", guard, matcher="bash"), shell.project)
    found = shell("check", "--json", PYTHONPATH=str(absent))
    assert {"HK203", "HK316", "HK402"} <= ids(found), "settings, what was not read, and Python"
    assert "pip install 'hookwright[lint]'" in found.stdout


def test_the_manifest_for_pre_commit_names_commands_that_work(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    write(RULES["HK203"].bad, shell.project)
    hooks = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text())
    statuses = {hook["id"]: shell(*hook["entry"].split()[1:]).returncode for hook in hooks}
    assert statuses == {"hookwright-check": 1, "hookwright-test": 2}, "a mistake, and no cases yet"
