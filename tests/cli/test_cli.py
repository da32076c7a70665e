"""The command line as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Shell
from support import hooks_for, script, settings


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


GUARD = hooks_for("PreToolUse", {"type": "command", "command": "echo not here >&2; exit 2"}, matcher="Bash")


def test_help_and_version(shell: Shell) -> None:
    assert shell("--version").stdout.startswith("hookwright ")
    assert "fire" in shell("--help").stdout
    assert shell().returncode == 2
    wrong = shell("fier")
    assert (wrong.returncode, "not a command" in wrong.stderr) == (2, True)
    assert shell("fire", "--nope").returncode == 2


@pytest.mark.req("R-360")
def test_fire_tells_a_deny_from_the_handler_to_the_reader(shell: Shell) -> None:
    settings(shell.home, GUARD)
    done = shell("fire", "PreToolUse", "--tool", "Bash", "--input", '{"command": "rm -rf /"}')
    assert done.returncode == 2
    assert "exit 2" in done.stdout
    assert "BLOCKED" in done.stdout
    assert "model sees         PreToolUse:Bash hook error: [echo not here >&2; exit 2]: not here" in done.stdout
    assert "~/.claude/settings.json:" in done.stdout
    assert "\x1b" not in done.stdout


def test_fire_reads_an_event_from_stdin(shell: Shell) -> None:
    settings(shell.home, GUARD)
    event = {
        "session_id": "s",
        "transcript_path": str(shell.home / "t.jsonl"),
        "cwd": str(shell.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t",
        "a_newer_field": 1,
    }
    assert shell("fire", stdin=json.dumps(event)).returncode == 2
    broken = shell("fire", stdin="{")
    assert (broken.returncode, "not valid JSON" in broken.stderr) == (2, True)
    missing = shell("fire", stdin=json.dumps({**event, "tool_name": 7}))
    assert "tool_name" in missing.stderr


def test_fire_says_when_no_hook_checked_anything(shell: Shell) -> None:
    settings(shell.home, GUARD)
    done = shell("fire", "PreToolUse", "--tool", "Write")
    assert done.returncode == 0
    assert "skipped, matcher: `Bash` (exact names) does not match `Write`" in done.stdout
    assert "PROCEED, no hook checked this" in done.stdout


def test_fire_tells_broken_json_and_a_timeout(shell: Shell) -> None:
    settings(
        shell.home,
        hooks_for(
            "PreToolUse",
            {"type": "command", "command": "echo '{bad}'"},
            {"type": "command", "command": "sleep 9", "timeout": 0.2},
        ),
    )
    done = shell("fire", "PreToolUse")
    assert "[broken-json]" in done.stdout
    assert "timed out at 0.2 s" in done.stdout
    assert "PROCEED, no hook gave a verdict" in done.stdout


@pytest.mark.req("R-366")
def test_untrusted_hooks_are_skipped_loudly_until_trusted(shell: Shell) -> None:
    script(shell.project / ".claude" / "hooks" / "g.sh", "exit 2")
    settings(shell.project, hooks_for("PreToolUse", {"type": "command", "command": ".claude/hooks/g.sh"}))
    before = shell("fire", "PreToolUse")
    assert (before.returncode, "1 hook of this project is off" in before.stderr, "untrusted" in before.stdout) == (
        0,
        True,
        True,
    )
    assert shell("fire", "PreToolUse", "--trust").returncode == 2
    assert shell("fire", "PreToolUse", HOOKWRIGHT_TRUST="1").returncode == 2
    assert shell("fire", "PreToolUse").returncode == 0
    shown = shell("trust", "--show")
    assert (shown.returncode, "+exit 2" in shown.stdout) == (2, True)
    assert shell("trust", "--yes").returncode == 0
    assert shell("fire", "PreToolUse").returncode == 2
    script(shell.project / ".claude" / "hooks" / "g.sh", "exit 0 # weaker")
    changed = shell("fire", "PreToolUse")
    assert (changed.returncode, "changed since trusted" in changed.stdout) == (0, True)
    assert "weaker" in shell("trust", "--show").stdout
    assert shell("trust", "--revoke").returncode == 0
    assert "untrusted" in shell("fire", "PreToolUse").stdout


def test_trust_asks_a_person_or_nobody(shell: Shell) -> None:
    settings(shell.project, GUARD)
    done = shell("trust")
    assert (done.returncode, "--yes" in done.stderr) == (2, True)


@pytest.mark.req("R-357", "R-013")
def test_list_shows_order_place_and_state(shell: Shell) -> None:
    settings(shell.home, GUARD)
    settings(shell.project, hooks_for("Stop", {"type": "command", "command": "true", "timeout": 5}))
    out = shell("list").stdout
    assert out.index("PreToolUse") < out.index("Stop")
    assert "active, `Bash` (exact names)" in out
    assert "off: untrusted" in out
    assert "timeout 5 s" in out
    rows = shell.json("list")["hooks"]
    assert [(row["event"], row["scope"], row["state"]) for row in rows] == [
        ("PreToolUse", "user", "active"),
        ("Stop", "project", "untrusted"),
    ]
    assert shell("list").stdout == out


def test_explain_follows_the_chain_without_running(shell: Shell) -> None:
    settings(
        shell.home,
        {
            "hooks": {
                "PreToolUse": [
                    {"matcher": "Bash", "hooks": [{"type": "command", "command": "touch ran"}]},
                    {"matcher": "Write|Edit", "hooks": [{"type": "command", "command": "b"}]},
                    {"matcher": "^Ba", "hooks": [{"type": "command", "command": "c", "if": "Bash(git *)"}]},
                ],
                "Stop": [{"hooks": [{"type": "command", "command": "d"}]}],
            }
        },
    )
    out = shell("explain", "PreToolUse", "--tool", "Bash", "--input", '{"command": "ls"}').stdout
    assert "`Bash` (exact names) matches `Bash`" in out
    assert "would run /bin/sh -c 'touch ran'" in out
    assert "`Write|Edit` (exact names) does not match `Bash`" in out
    assert "`Bash(git *)` does not match this call" in out
    assert "1 hook of other events" in out
    assert not (shell.project / "ran").exists()
    chains = shell.json("explain", "PreToolUse", "--tool", "Bash", "--input", '{"command": "git status"}')
    assert [chain["would_run"] for chain in chains] == [True, False, True, False]


def test_explain_never_calls_an_untrusted_hook_trusted(shell: Shell) -> None:
    settings(shell.project, GUARD)
    for tool, last in (("Bash", ("trusted", False)), ("Write", ("matcher", False))):
        (chain,) = shell.json("explain", "PreToolUse", "--tool", tool)
        assert [(step["step"], step["passed"]) for step in chain["chain"]][-1] == last


@pytest.mark.req("R-015", "R-366")
def test_explain_says_that_a_users_guard_runs_beside_an_untrusted_copy(shell: Shell) -> None:
    settings(shell.home, hooks_for("PreToolUse", {"type": "command", "command": "exit 2"}))
    copy = {"type": "command", "command": "exit 2", "onFailure": "block"}
    settings(shell.project, hooks_for("PreToolUse", copy))
    said = [(chain["would_run"], chain["chain"][-1]["step"]) for chain in shell.json("explain", "PreToolUse")]
    assert said == [(True, "dedupe"), (False, "trusted")]
    assert [row["state"] for row in shell.json("list")["hooks"]] == ["active", "untrusted"]
    assert shell("fire", "PreToolUse").returncode == 2


SKILL = """---
name: deploying
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: exit 2
---
"""


@pytest.mark.req("R-353", "R-357")
def test_hooks_of_skills_and_agents_are_listed_with_when_they_run(shell: Shell) -> None:
    for path, text in (
        (shell.home / ".claude" / "skills" / "deploy" / "SKILL.md", SKILL),
        (shell.project / ".claude" / "agents" / "reviewer.md", SKILL.replace("deploying", "reviewer")),
    ):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    states = {(row["event"], row["state"], row["detail"]) for row in shell.json("list")["hooks"]}
    assert states == {
        ("PreToolUse", "component not active", "only while the skill `deploying` is active"),
        ("PreToolUse", "component not active", "only while the agent `reviewer` is active"),
    }
    out = shell("list").stdout
    assert "only while the skill `deploying` is active, `Bash`" in out
    assert "0 active, 0 off, 2 only while a skill or agent is active" in out
    chains = shell.json("explain", "PreToolUse", "--tool", "Bash")
    assert [(chain["would_run"], chain["chain"][-1]["step"]) for chain in chains] == [(False, "enabled")] * 2
    hooks = [row for row in shell.json("doctor") if row["part"] == "hooks"]
    expected = "0 active from 2 files, 2 only while a skill or agent is active"
    assert [(row["state"], row["text"]) for row in hooks] == [("good", expected)]


@pytest.mark.req("R-034", "R-033", "R-029")
def test_configuration_problems_are_on_stderr_and_stdout_stays_json(shell: Shell) -> None:
    settings(shell.home, {"hooks": {"PreTool": [], "PreToolUse": [{"hooks": [{"type": "command"}]}]}})
    done = shell("fire", "PreToolUse", "--json")
    assert json.loads(done.stdout)["ran"] == []
    assert "Did you mean PreToolUse?" in done.stderr
    assert "settings.json:" in done.stderr


def test_a_missing_settings_file_is_an_error(shell: Shell) -> None:
    done = shell("fire", "Stop", "--settings", "nope.json")
    assert (done.returncode, "nope.json" in done.stderr) == (2, True)


def test_fire_writes_a_journal_and_can_leave_it(shell: Shell) -> None:
    settings(shell.home, GUARD)
    shell("fire", "PreToolUse", "--no-journal")
    journal = shell.home / ".local" / "state" / "hookwright" / "journal.jsonl"
    assert not journal.exists()
    shell("fire", "PreToolUse")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["journal", "handler", "run", "event"]


def test_background_hooks_are_waited_for_and_shown(shell: Shell) -> None:
    answer = '{"systemMessage": "late news"}'
    settings(
        shell.home, hooks_for("Stop", {"type": "command", "command": f"sleep 0.2; echo '{answer}'", "async": True})
    )
    done = shell("fire", "Stop")
    assert "went to the background" in done.stdout
    assert "late news" in done.stdout


def test_terminal_escapes_of_a_hook_are_neutralised(shell: Shell) -> None:
    settings(
        shell.home, hooks_for("PreToolUse", {"type": "command", "command": r"printf '\033[2Jgone\007' >&2; exit 2"})
    )
    done = shell("fire", "PreToolUse")
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
    assert "␛[2Jgone" in done.stdout


def test_colour_only_where_it_is_wanted(shell: Shell) -> None:
    settings(shell.home, GUARD)
    assert "\x1b[31m" in shell("fire", "PreToolUse", FORCE_COLOR="1").stdout
    assert "\x1b" not in shell("fire", "PreToolUse", NO_COLOR="1").stdout
