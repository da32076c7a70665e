"""`hookwright trace`, `hookwright stats` and `hookwright doctor` over journals that real runs wrote."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from command_line import Shell
from hookwright.cli.journaloptions import moment
from hookwright.errors import ConfigError
from hookwright.observers.journal.reader import Filter, journal_files, records
from hookwright.observers.percentiles import percentile
from support import hooks_for, script, settings

HOOKS: dict[str, Any] = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]},
            {"matcher": "Write", "hooks": [{"type": "command", "command": "exit 1"}]},
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "sleep 9", "timeout": 0.1}]}],
        "Notification": [{"hooks": [{"type": "command", "command": "true"}]}],
    }
}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path)
    settings(shell.home, HOOKS)
    return shell


def journal(shell: Shell) -> Path:
    return shell.home / ".local" / "state" / "hookwright" / "journal.jsonl"


def fired(shell: Shell) -> Shell:
    shell("fire", "PreToolUse", "--sample", "Bash")
    shell("fire", "PreToolUse", "--sample", "Write")
    shell("fire", "Stop")
    return shell


def test_trace_shows_runs_skips_and_events(shell: Shell) -> None:
    lines = fired(shell)("trace").stdout.splitlines()
    assert len(lines) == 8
    assert "PreToolUse:Bash        deny" in lines[0]
    assert lines[0].endswith("echo no >&2; exit 2  [echo no >&2; exit 2]: no")
    assert "skipped" in lines[1]
    assert lines[1].endswith("exit 1  matcher")
    assert lines[2].endswith("= 1 ran, 1 skipped")
    assert "cancelled" in lines[6]
    assert "proceed" in lines[7]
    assert lines[7].endswith("= 1 ran, 0 skipped, 1 without a verdict")


@pytest.mark.parametrize(
    ("args", "count"),
    [
        ([], 8),
        (["-n", "2"], 2),
        (["--event", "Stop"], 2),
        (["--tool", "Write"], 3),
        (["--decision", "deny"], 2),
        (["--decision", "deny", "--kind", "run"], 1),
        (["--outcome", "error"], 2),
        (["--outcome", "skipped"], 2),
        (["--handler", "sleep"], 1),
        (["--since", "1h"], 8),
        (["--since", "2199-01-01"], 0),
        (["--session", "no-such"], 0),
    ],
)
def test_trace_filters(shell: Shell, args: list[str], count: int) -> None:
    fired(shell)
    done = shell("trace", "--json", *args)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, count)
    assert all(json.loads(line)["event"] for line in done.stdout.splitlines())


def test_trace_refuses_what_it_cannot_mean(shell: Shell) -> None:
    assert "Did you mean `Stop`?" in shell("trace", "--event", "Stp").stderr
    assert "30m, 2h" in shell("trace", "--since", "yesterday").stderr
    assert "no such records" in shell("trace").stderr


def test_trace_follows_across_a_rotation(shell: Shell) -> None:
    shell("fire", "PreToolUse", "--sample", "Bash")
    process = shell.start("trace", "-f", "-n", "1", "--kind", "event", "--json")
    assert process.stdout is not None
    try:
        first = json.loads(process.stdout.readline())
        time.sleep(0.3)
        shell("fire", "Stop")
        second = json.loads(process.stdout.readline())
        os.rename(journal(shell), f"{journal(shell)}.1")
        shell("fire", "Notification")
        third = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.stdout.close()
    assert [record["event"] for record in (first, second, third)] == ["PreToolUse", "Stop", "Notification"]


def test_rotated_files_are_read_in_order_and_torn_lines_left_out(tmp_path: Path) -> None:
    for name, times in (("journal.jsonl.1", [1, 2]), ("journal.jsonl.2", [3]), ("journal.jsonl", [4])):
        lines = [json.dumps({"t": t, "kind": "run", "event": "Stop"}) for t in times]
        (tmp_path / name).write_text("\n".join(lines) + '\n{"t": 9, "ki')
    assert [record["t"] for record in records(str(tmp_path), Filter())] == [1, 2, 3, 4]
    assert len(journal_files(str(tmp_path))) == 3
    assert list(records(str(tmp_path / "none"), Filter())) == []


def test_moments() -> None:
    assert moment("2h", 10_000) == 2_800
    assert moment("1970-01-02T00:00:00+00:00", 0) == 86_400
    with pytest.raises(ConfigError):
        moment("soon", 0)


@pytest.mark.parametrize(("share", "right"), [(0.5, 5.0), (0.95, 10.0), (0.0, 1.0), (1.0, 10.0)])
def test_percentiles_are_of_the_nearest_rank(share: float, right: float) -> None:
    assert percentile([float(n) for n in range(10, 0, -1)], share) == right
    assert percentile([], share) == 0.0


LATE: dict[str, Any] = hooks_for(
    "PreToolUse",
    {"type": "command", "command": "exit 7", "async": True},
    {"type": "command", "command": "sleep 9", "async": True, "timeout": 0.1},
)


def test_trace_shows_how_background_hooks_ended(shell: Shell) -> None:
    settings(shell.home, LATE)
    shell("fire", "PreToolUse")
    assert [line.split()[3] for line in shell("trace", "--kind", "run").stdout.splitlines()] == ["async", "async"]
    late = {line.split()[3]: line for line in shell("trace", "--kind", "late").stdout.splitlines()}
    assert set(late) == {"error", "cancelled"}
    assert late["error"].endswith("in the background: exit 7  Failed with non-blocking status code: No stderr output")
    assert "in the background: sleep 9  timed out after 0.1 s" in late["cancelled"]
    assert len(shell("trace", "--outcome", "error").stdout.splitlines()) == 1
    assert len(shell("trace").stdout.splitlines()) == 5


def test_stats_count_how_background_hooks_ended(shell: Shell) -> None:
    settings(shell.home, LATE)
    shell("fire", "PreToolUse")
    rows = {row["handler"]: row for row in shell.json("stats")["hooks"]}
    failed, slow = rows["exit 7"], rows["sleep 9"]
    assert (failed["runs"], failed["failed"], failed["timed_out"], failed["no_end"]) == (1, 1, 0, 0)
    assert (slow["runs"], slow["failed"], slow["timed_out"], slow["p50_ms"] >= 100) == (1, 1, 1, True)


def test_stats_say_when_the_end_of_a_background_hook_is_not_recorded(shell: Shell) -> None:
    """As in a journal of an earlier version, or of a host that was killed."""
    settings(shell.home, LATE)
    shell("fire", "PreToolUse")
    lines = journal(shell).read_text().splitlines()
    old = [json.loads(line) for line in lines if '"kind":"late"' not in line]
    written = [{**record, "ending": "success"} if record["kind"] == "run" else record for record in old]
    journal(shell).write_text("".join(json.dumps(record) + "\n" for record in written))
    row = next(row for row in shell.json("stats")["hooks"] if row["handler"] == "exit 7")
    assert (row["runs"], row["failed"], row["no_end"]) == (1, 0, 1)
    assert "1 of them in the background without a recorded end" in shell("stats").stdout
    assert len(shell("trace").stdout.splitlines()) == 3


# ── stats ───────────────────────────────────────────────────────────────────


def test_stats_count_refusals_failures_and_silence(shell: Shell) -> None:
    fired(shell)
    shell("fire", "PreToolUse", "--sample", "Bash")
    found = shell.json("stats")
    rows = {row["handler"]: row for row in found["hooks"]}
    deny, broken, slow = rows["echo no >&2; exit 2"], rows["exit 1"], rows["sleep 9"]
    assert (deny["runs"], deny["refused"], deny["refused_rate"], deny["failed"], deny["skipped"]) == (2, 2, 1.0, 0, 1)
    assert (broken["runs"], broken["failed"], broken["timed_out"], broken["skipped"]) == (1, 1, 0, 2)
    assert (slow["timed_out"], slow["p95_ms"] >= 100) == (1, True)
    assert deny["p50_ms"] <= deny["p95_ms"] <= deny["max_ms"]
    assert [row["event"] for row in found["never_fired"]] == ["Notification"]
    text = shell("stats").stdout
    assert "100%" in text
    assert "1 of them at the time limit" in text
    assert "never fired in 1 min" in text
    assert "gave no verdict once" in text
    assert "Notification  true  ~/.claude/settings.json" in text


def test_a_project_hook_counts_only_in_its_project(shell: Shell, tmp_path: Path) -> None:
    settings(shell.project, hooks_for("Notification", {"type": "command", "command": "exit 0"}))
    other = tmp_path / "other"
    settings(other, hooks_for("Notification", {"type": "command", "command": "exit 0"}))
    shell("fire", "Notification", "--project", str(other), "--trust")
    silent = shell.json("stats", "--event", "Notification")["never_fired"]
    assert [row["handler"] for row in silent] == ["exit 0"]
    shell("fire", "Notification", "--trust")
    assert shell.json("stats", "--event", "Notification")["never_fired"] == []


def test_an_empty_journal_is_said(shell: Shell) -> None:
    assert "the journal is empty" in shell("stats").stdout


# ── doctor ──────────────────────────────────────────────────────────────────


def findings(shell: Shell, *args: str, **env: str) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for row in shell.json("doctor", *args, **env):
        found.setdefault(row["part"], []).append((row["state"], row["text"]))
    return found


def test_doctor_fires_a_canary_and_tells_every_part(shell: Shell) -> None:
    shell("fire", "Stop")
    found = findings(shell)
    assert list(found) == ["version", "extras", "files", "hooks", "PATH", "trust", "journal", "canary"]
    assert found["canary"][0][0] == "good"
    assert "its refusal came back" in found["canary"][0][1]
    assert any("settings.json: read" in text for _, text in found["files"])
    assert sum("absent" in text for _, text in found["files"]) == 3
    assert found["hooks"] == [("good", "4 active from 1 file")]
    assert found["PATH"] == [("good", os.environ["PATH"])]
    assert "1 file" in found["journal"][0][1]
    done = shell("doctor")
    assert (done.returncode, "everything is in order" in done.stdout) == (0, True)


def test_doctor_tells_why_hooks_are_off(shell: Shell) -> None:
    settings(shell.project, hooks_for("Stop", {"type": "command", "command": "true"}))
    found = findings(shell)
    assert found["hooks"][0] == ("good", "4 active from 2 files, 1 off (1 untrusted)")
    assert "hookwright trust" in found["hooks"][1][1]
    assert ("warning", "1 of 1 items of this project are not trusted: hookwright trust") in found["trust"]
    assert shell("doctor").returncode == 0


def test_doctor_finds_what_is_broken(shell: Shell) -> None:
    settings(shell.home, hooks_for("Stop", {"type": "command", "command": "no-such-program --flag"}))
    settings(shell.project, "{broken")
    state = shell.home / "state"
    state.mkdir()
    (state / "trust.json").write_text("{}")
    (state / "trust.json").chmod(0o666)
    found = findings(shell, HOOKWRIGHT_STATE_DIR=str(state))
    assert any(state == "bad" and "cannot be read" in text for state, text in found["files"])
    assert any("cannot work: `no-such-program` is not on PATH" in text for _, text in found["hooks"])
    assert found["trust"][0][0] == "bad"
    assert shell("doctor", HOOKWRIGHT_STATE_DIR=str(state)).returncode == 1


def test_doctor_list_and_explain_name_hooks_that_cannot_work_here(shell: Shell) -> None:
    kinds: list[dict[str, Any]] = [
        {"type": "prompt", "prompt": "fine?"},
        {"type": "mcp_tool", "server": "audit", "tool": "log"},
        {"type": "http", "url": "http://127.0.0.1:9/hook"},
        {"type": "command", "command": "no-such-program --check"},
        {"type": "command", "command": "true"},
    ]
    settings(shell.home, {"hooks": {"Stop": [{"hooks": kinds}], "PreToolUse": [{"hooks": kinds[-1:]}]}})
    found = [text for row, text in findings(shell)["hooks"] if row == "bad"]
    assert [text.split(" cannot work: ")[1].split(" (")[0].split(":")[0] for text in found] == [
        "no API key",
        "no server `audit` in .mcp.json; only a run with --mcp-config can have it",
        "nothing answers at 127.0.0.1",
        "`no-such-program` is not on PATH",
    ]
    assert shell("doctor").returncode == 1
    listed = shell("list").stdout
    assert "active, but no API key: set ANTHROPIC_API_KEY (or OPENAI_API_KEY)" in listed
    assert "active, but `no-such-program` is not on PATH" in listed
    assert "6 active (3 cannot work here), 0 off" in listed
    assert "but no API key" in shell("explain", "Stop").stdout
    (shell.project / ".mcp.json").write_text('{"mcpServers": {"audit": {"command": "true"}}}')
    assert "no server" not in shell("list", "Stop", ANTHROPIC_API_KEY="k").stdout
    assert "API key" not in shell("list", "Stop", ANTHROPIC_API_KEY="k").stdout


def test_doctor_names_hooks_that_failed_whenever_they_ran(shell: Shell) -> None:
    broken = {"type": "command", "command": "echo ruff is missing >&2; exit 1"}
    settings(shell.home, {"hooks": {"Stop": [{"hooks": [broken, {"type": "command", "command": "true"}]}]}})
    shell("fire", "Stop")
    assert not any("failed in all" in text for _, text in findings(shell)["hooks"])
    shell("fire", "Stop")
    (text,) = [text for row, text in findings(shell)["hooks"] if "failed in all" in text and row == "bad"]
    assert "exit 1 failed in all of its last 2 runs" in text
    assert "ruff is missing" in text


def test_list_knows_its_events_and_has_one_heading_for_each(shell: Shell) -> None:
    hook = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    both = {"hooks": {**hook["hooks"], "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    settings(shell.home, both)
    settings(shell.project, hook)
    assert [line.split()[0] for line in shell("list").stdout.splitlines() if line[:1].isupper()] == [
        "PreToolUse",
        "Stop",
    ]
    done = shell("list", "stop")
    assert done.returncode != 0
    assert "`stop` is not an event. Did you mean `Stop`?" in done.stderr


def test_doctor_notices_files_that_others_may_touch(shell: Shell) -> None:
    shell("fire", "Stop")
    journal(shell).chmod(0o644)
    (shell.home / ".claude" / "settings.json").chmod(0o666)
    found = findings(shell)
    assert any(state == "warning" and "chmod 600" in text for state, text in found["journal"])
    assert any(state == "warning" and "other users may write it" in text for state, text in found["files"])


def test_doctor_names_a_missing_extra_that_hooks_need(shell: Shell, tmp_path: Path) -> None:
    settings(shell.home, hooks_for("PreToolUse", {"type": "http", "url": "http://127.0.0.1:9/"}))
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hide:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'h11': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hide())\n"
    )
    found = findings(shell, PYTHONPATH=str(tmp_path))
    assert any(state == "bad" and "hookwright[http]" in text for state, text in found["extras"])


def test_stats_say_when_older_records_were_removed(shell: Shell) -> None:
    shell("fire", "PreToolUse", "--sample", "Bash")
    assert "window cut" not in shell("stats").stdout
    head, _, rest = journal(shell).read_text().partition("\n")
    removed = time.time() - 3600
    journal(shell).write_text(json.dumps(json.loads(head) | {"cut": removed}) + "\n" + rest)
    assert "window cut at 20" in shell("stats", "--since", "2h").stdout
    assert json.loads(shell("stats", "--json", "--since", "2h").stdout)["window_cut_at"] > removed
    assert "window cut" not in shell("stats", "--since", "30m").stdout


def test_events_without_hooks_are_only_traced_on_request(shell: Shell) -> None:
    settings(shell.home, hooks_for("Stop", {"type": "command", "command": "true"}))
    shell("fire", "Stop")
    shell("fire", "SessionStart")
    few, every = shell("trace").stdout, shell("trace", "--all").stdout
    assert ("Stop" in few, "SessionStart" in few) == (True, False)
    assert ("Stop" in every, "SessionStart" in every) == (True, True)


def test_a_program_that_a_shell_script_calls_is_missing(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "cat"):
        (folder / name).symlink_to(str(shutil.which(name)))
    guard = "c=$(jq -r .tool_input.command)\ncase $c in *mkfs*) exit 2;; esac"
    script(shell.home / "hooks" / "guard.sh", guard)
    script(shell.home / "hooks" / "maybe.sh", "if command -v jq >/dev/null; then jq . ; fi")
    handlers = [{"type": "command", "command": f"~/hooks/{name}.sh"} for name in ("guard", "maybe")]
    settings(shell.home, hooks_for("PreToolUse", *handlers, {"type": "command", "command": "cat | jq -e .x || exit 2"}))
    bad = [text for row, text in findings(shell, PATH=str(folder))["hooks"] if row == "bad"]
    assert len(bad) == 2, "a script that tests for the program first can work without it"
    assert all("cannot work: it uses `jq`, which is not on PATH" in text for text in bad)
    assert "active, but it uses `jq`" in shell("list", PATH=str(folder)).stdout
