"""`hookwright test` as an author or a build server calls it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest

from command_line import Shell
from support import hooks_for, settings

GUARD = hooks_for("PreToolUse", {"type": "command", "command": "echo use a branch >&2; exit 2"}, matcher="Bash")
CASES = """\
# what the guard must do
defaults: {event: PreToolUse, tool: Bash}
cases:
  - name: refused
    input: {command: git push -f}
    expect: {decision: deny, reason: branch}   # not trunk
  - name: wrong <&> "name"
    expect:
      # the decision is wrong
      decision: allow
      reason: use a
  - name: unsaid
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    settings(shell.project, GUARD)
    folder = shell.project / ".claude" / "hooks" / "tests"
    folder.mkdir(parents=True)
    (folder / "guard.yaml").write_text(CASES)
    return shell


def test_failures_are_told_with_place_difference_and_handlers(shell: Shell) -> None:
    done = shell("test", "--trust")
    assert done.returncode == 1
    assert "✗ .claude/hooks/tests/guard.yaml  2 of 3 failed" in done.stdout
    assert ".claude/hooks/tests/guard.yaml:7" in done.stdout
    assert "decision: expected allow, got deny" in done.stdout
    assert "ran echo use a branch >&2; exit 2: blocking" in done.stdout
    assert "1 passed, 2 failed" in done.stdout
    assert "refused" not in done.stdout
    assert "✓ refused" in shell("test", "--trust", "-v").stdout


def test_a_filter_picks_cases_and_success_is_0(shell: Shell) -> None:
    done = shell("test", "--trust", "-k", "REFUSED")
    assert (done.returncode, "1 passed in" in done.stdout) == (0, True)
    nothing = shell("test", "--trust", "-k", "nothing")
    assert (nothing.returncode, "no cases named like nothing" in nothing.stderr) == (2, True)


def test_untrusted_hooks_are_never_run_and_never_pass(shell: Shell) -> None:
    done = shell("test")
    assert (done.returncode, done.stdout) == (2, "")
    assert "not trusted" in done.stderr
    assert shell("trust", "--yes").returncode == 0
    assert shell("test", "-k", "refused").returncode == 0


@pytest.mark.parametrize("args", [["nope.yaml"], ["--format", "html"], ["-j", "0"], ["--nope"]])
def test_usage_errors_are_2(shell: Shell, args: list[str]) -> None:
    assert shell("test", "--trust", *args).returncode == 2


def test_a_broken_file_is_2_and_names_the_line(shell: Shell) -> None:
    path = shell.project / "broken.yaml"
    path.write_text("- name: a\n  evnt: Stop\n")
    done = shell("test", "--trust", "broken.yaml")
    assert (done.returncode, "broken.yaml:2: unknown key `evnt`" in done.stderr) == (2, True)


def test_tap_is_what_a_tap_reader_expects(shell: Shell) -> None:
    lines = shell("test", "--trust", "--format", "tap").stdout.splitlines()
    assert lines[:3] == ["TAP version 14", "1..3", "ok 1 - .claude/hooks/tests/guard.yaml::refused"]
    results = [line for line in lines if not line.startswith(" ")][2:]
    assert [line.split(" - ")[0] for line in results] == ["ok 1", "not ok 2", "not ok 3"]
    assert "    - 'decision: expected allow, got deny: [echo use a branch >&2; exit 2]: use a branch'" in lines
    assert lines.count("  ---") == lines.count("  ...") == 2


def test_junit_is_valid_xml_with_counts(shell: Shell) -> None:
    done = shell("test", "--trust", "--format", "junit", "--out", "report.xml")
    assert (done.returncode, done.stdout, "2 failed" in done.stderr) == (1, "", True)
    top = Xml.parse(shell.project / "report.xml").getroot()
    assert (top.get("tests"), top.get("failures")) == ("3", "2")
    cases = top.findall("./testsuite/testcase")
    assert [case.get("name") for case in cases] == ["refused", 'wrong <&> "name"', "unsaid"]
    failures = [failure.get("message") for failure in top.iter("failure")]
    assert str(failures[0]).startswith("decision: expected allow, got deny")
    printed = [case.findtext("system-err") for case in cases]
    assert printed[0] is None, "a passed case carries no streams"
    assert str(printed[1]).endswith("use a branch\n")
    assert str(printed[1]).startswith("[echo use a branch >&2; exit 2]\n"), "after the name of the hook that printed it"


def test_json_has_the_whole_outcome(shell: Shell) -> None:
    found = shell.json("test", "--trust")
    assert (found["passed"], found["failed"]) == (1, 2)
    assert found["cases"][1]["problems"][0]["key"] == "decision"
    assert found["cases"][0]["outcome"]["reason"].endswith("use a branch")


def test_update_records_only_what_differs_and_keeps_comments(shell: Shell) -> None:
    path = shell.project / ".claude" / "hooks" / "tests" / "guard.yaml"
    done = shell("test", "--trust", "--update")
    assert (done.returncode, "recorded 2 cases" in done.stderr) == (0, True)
    text = path.read_text()
    for kept in ("# what the guard must do", "# not trunk", "# the decision is wrong", "reason: use a\n"):
        assert kept in text
    assert "decision: deny\n" in text
    assert text.endswith("  - name: unsaid\n    expect:\n      decision: deny\n      reason: use a branch\n")
    assert shell("test", "--trust").returncode == 0
    assert "nothing to record" in shell("test", "--trust", "--update").stderr
    assert path.read_text() == text


def test_update_writes_json_too(shell: Shell) -> None:
    path = shell.project / "cases.json"
    path.write_text(json.dumps([{"event": "PreToolUse", "expect": {"files": {"a": "x"}, "ran": 0}}]))
    assert shell("test", "--trust", "--update", "cases.json").returncode == 0
    assert json.loads(path.read_text())[0]["expect"] == {"files": {"a": None}, "ran": 1}
    assert shell("test", "--trust", "cases.json").returncode == 0


def test_a_case_in_which_no_hook_ran_is_pointed_at(shell: Shell) -> None:
    path = shell.project / "cases.json"
    path.write_text(json.dumps([{"name": "silence", "event": "Stop", "expect": {"decision": "none"}}]))
    done = shell("test", "--trust", "cases.json")
    assert (done.returncode, "no hook ran in 1 of them, for example 'silence'" in done.stdout) == (0, True)
