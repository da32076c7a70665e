"""`list --all`, `check --agent`, `explain --agent` and `fire --agent`, on real files with real commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialects.recordings import recorded
from hookwright.cli import main
from hookwright.dialects.incoming import Translated, translate
from hookwright.dialects.reading.payloads import native_payload
from hookwright.dialects.table import dialect
from hookwright.protocol.events import PreToolUse
from hookwright.protocol.samples import sample, tool_input
from hookwright.protocol.wire import payload

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a project, in which commands run."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOOKWRIGHT_MANAGED_SETTINGS", str(tmp_path / "none"))
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def run(machine: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    assert machine.is_dir()

    def call(*args: str) -> tuple[int, str, str]:
        status = main(list(args))
        said = capsys.readouterr()
        return status, said.out, said.err

    return call


def put(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))


def hooks(event: str, command: str, **group: Any) -> dict[str, object]:
    return {"hooks": {event: [{**group, "hooks": [{"type": "command", "command": command}]}]}}


def test_list_all_names_every_hook_every_double_and_every_file_that_is_not_read(machine: Path, run: Run) -> None:
    project, home = machine / "project", machine / "home"
    put(project / ".claude" / "settings.json", hooks("PreToolUse", "./guard.sh", matcher="Bash"))
    put(project / ".github" / "hooks" / "guard.json", hooks("PreToolUse", "./guard.sh"))
    put(home / ".codex" / "hooks.json", hooks("Stop", "echo done"))
    put(project / ".gemini" / "settings.json", '{"hooks": ')
    status, out, _ = run("list", "--all", "--json")
    listed = json.loads(out)
    assert status == 0
    rows = {(hook["agent"], hook["event"], Path(hook["file"]).name, hook["line"]) for hook in listed["hooks"]}
    assert {
        ("claude", "PreToolUse", "settings.json", 7),
        ("vscode", "PreToolUse", "settings.json", 7),
        ("vscode", "PreToolUse", "guard.json", 6),
        ("copilot", "PreToolUse", "settings.json", 7),
        ("cursor", "PreToolUse", "settings.json", 7),
        ("codex", "Stop", "hooks.json", 6),
    } <= rows
    doubled = {(hook["agent"], Path(hook["file"]).name) for hook in listed["hooks"] if hook["runs_twice"]}
    assert {("vscode", "settings.json"), ("vscode", "guard.json")} <= doubled
    assert not {"claude", "codex", "cursor"} & {agent for agent, _ in doubled}
    [unread] = [item for item in listed["problems"] if item["unreadable"]]
    assert (unread["agent"], Path(unread["file"]).parent.name) == ("gemini", ".gemini")
    _, text, _ = run("list", "--all")
    assert "not read: .gemini/settings.json:1: it is not JSON" in text
    assert "runs twice: also .github/hooks/guard.json:6" in text


def test_check_for_an_agent_in_json_names_it_and_the_default_does_not(machine: Path, run: Run) -> None:
    put(machine / "project" / ".claude" / "settings.json", hooks("SessionEnd", "echo bye"))
    status, out, _ = run("check", "--for", "vscode,codex", "--json", ".claude/settings.json")
    assert status == 1
    assert {(item["agent"], item["id"]) for item in json.loads(out)} >= {("vscode", "HK904"), ("codex", "HK906")}
    _, plain, _ = run("check", "--json", ".claude/settings.json")
    assert not any("agent" in item or item["id"].startswith("HK9") for item in json.loads(plain))


def test_an_agent_that_is_not_one_is_an_error_with_the_names(run: Run) -> None:
    status, _, err = run("check", "--for", "codx")
    assert (status, "`codx` is not an agent; use one of codex" in err) == (2, True)
    status, _, err = run("fire", "--agent", "opencode", "PreToolUse")
    assert (status, "not covered" in err) == (2, True)
    status, _, err = run("check", "--agent", "codex", "hooks.json")
    assert (status, "not a file of Codex CLI; it reads" in err) == (2, True)
    status, _, err = run("explain", "--agent", "gemini", "BeforeModel")
    assert (status, "no counterpart" in err) == (2, True)


def test_check_agent_reads_the_agents_own_file_and_script(machine: Path, run: Run) -> None:
    put(machine / "project" / ".gemini" / "settings.json", hooks("PreToolUse", "echo hi"))
    put(machine / "project" / ".codex" / "hooks.json", hooks("PreToolUse", "exit 2", matcher="exec_command"))
    status, out, _ = run("check", "--agent", "codex", "--json")
    assert status == 1
    assert [(item["id"], item["line"]) for item in json.loads(out)] == [("HK903", 5), ("HK909", 9)]
    _, out, _ = run("check", "--agent", "gemini", "--json", ".gemini/settings.json")
    assert [(item["id"], item["line"]) for item in json.loads(out)] == [("HK921", 3)]


def test_a_silent_exit_2_is_said_to_run_the_tool_in_codex_and_refuses_in_kimi(machine: Path, run: Run) -> None:
    put(machine / "home" / ".codex" / "hooks.json", hooks("PreToolUse", "exit 2", matcher="Bash"))
    put(machine / "home" / ".kimi-code" / "config.toml", '[[hooks]]\nevent = "PreToolUse"\ncommand = "exit 2"\n')
    status, out, _ = run("fire", "--agent", "codex", "PreToolUse", "--tool", "Bash")
    assert status == 0
    assert "exit status 2 without text on stderr is a failure: Codex CLI runs the call" in out
    assert "not approved in Codex: skipped without a word" in out
    status, out, _ = run("fire", "--agent", "kimi", "PreToolUse", "--tool", "Bash")
    assert (status, "the event is refused: exit status 2" in out) == (2, True)


def test_a_projects_hook_runs_only_with_trust_and_its_silence_is_not_an_approval(machine: Path, run: Run) -> None:
    project = machine / "project"
    put(project / ".gemini" / "settings.json", hooks("BeforeTool", "touch ran; echo no >&2; exit 2"))
    status, out, _ = run("fire", "--agent", "gemini", "BeforeTool", "--tool", "Bash")
    assert (status, (project / "ran").exists()) == (0, False)
    assert "it came with the project and was not run" in " ".join(out.split())
    assert "1 hook did not run and may refuse" in " ".join(out.split())
    status, out, _ = run("fire", "--agent", "gemini", "PreToolUse", "--tool", "run_shell_command", "--trust")
    assert (status, (project / "ran").exists()) == (2, True)


def test_a_hook_reads_the_agents_own_payload(machine: Path, run: Run) -> None:
    put(machine / "home" / ".codex" / "hooks.json", hooks("PreToolUse", "cat > seen.json", matcher="Write"))
    assert run("fire", "--agent", "codex", "PreToolUse", "--tool", "Write")[0] == 0
    seen = json.loads((machine / "project" / "seen.json").read_text())
    assert seen["tool_name"] == "apply_patch"
    assert seen["tool_input"]["command"].startswith("*** Begin Patch\n*** Add File: ")


def test_the_limit_of_the_agent_ends_a_hook_and_lets_the_call_run(machine: Path, run: Run) -> None:
    value = hooks("BeforeTool", "sleep 20; exit 2")
    value["hooks"]["BeforeTool"][0]["hooks"][0]["timeout"] = 100  # type: ignore[index]
    put(machine / "home" / ".gemini" / "settings.json", value)
    status, out, _ = run("fire", "--agent", "gemini", "BeforeTool", "--json")
    assert (status, json.loads(out)["runs"][0]["why"]) == (0, "it reached its limit of 0.1 s")


def test_in_qwen_a_later_allow_beats_a_refusal(machine: Path, run: Run) -> None:
    allow = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'
    commands = ["echo no >&2; exit 2", f"echo '{allow}'"]
    listed = [{"hooks": [{"type": "command", "command": command} for command in commands]}]
    put(machine / "home" / ".qwen" / "settings.json", {"hooks": {"PreToolUse": listed}})
    status, out, _ = run("fire", "--agent", "qwen", "PreToolUse", "--tool", "Bash")
    assert (status, "a later `allow` beats an earlier refusal" in out) == (0, True)


def test_explain_says_which_hooks_run_and_runs_none(machine: Path, run: Run) -> None:
    put(machine / "home" / ".gemini" / "settings.json", hooks("BeforeTool", "touch ran", matcher="Bash"))
    _, out, _ = run("explain", "--agent", "gemini", "BeforeTool", "--tool", "Bash", "--json")
    [row] = json.loads(out)
    assert (row["would_run"], row["fails"]) == (False, "matcher")
    assert "`Bash` does not select `run_shell_command`" in row["why"]
    assert not (machine / "project" / "ran").exists()


@pytest.mark.parametrize("agent", ["codex", "gemini", "qwen", "kimi"])
def test_a_native_payload_has_the_fields_that_were_recorded(agent: str) -> None:
    table = dialect(agent)
    moment = table.moment_of("PreToolUse")
    assert moment is not None
    shell = next(tool for tool in table.tools if tool.claude == "Bash")
    seen = [line["payload"] for line in recorded(agent, "payload") if line["payload"].get("tool_name") == shell.name]
    made = native_payload(table, moment, payload(sample("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})))
    known = {field.name for field in table.fields}
    assert seen
    assert made.keys() & known == seen[0].keys() & known


@pytest.mark.parametrize("agent", ["codex", "gemini", "qwen", "kimi", "copilot", "opencode"])
@pytest.mark.parametrize("tool", ["Bash", "Write", "Edit"])
def test_a_native_payload_translates_back_to_the_same_call(agent: str, tool: str, tmp_path: Path) -> None:
    table = dialect(agent)
    moment = table.moment_of("PreToolUse")
    assert moment is not None
    given = tool_input(tool, str(tmp_path))
    event = sample("PreToolUse", cwd=str(tmp_path), tool_name=tool, tool_input=given)
    back = translate(table, native_payload(table, moment, payload(event)))
    assert isinstance(back, Translated)
    [first] = back.events
    assert isinstance(first, PreToolUse)
    key = "command" if tool == "Bash" else "file_path"
    assert given is not None
    assert (first.tool_name, first.tool_input[key], first.cwd) == (tool, given[key], str(tmp_path))


def test_import_prints_settings_and_names_every_loss(machine: Path, run: Run) -> None:
    handler = {"type": "command", "command": "./guard.sh", "timeout": 5000, "env": {"A": "1"}}
    events = {
        "BeforeTool": [{"matcher": "shell|write_file", "hooks": [handler]}, {"matcher": "Bash", "hooks": [handler]}],
        "BeforeModel": [{"hooks": [handler]}],
    }
    put(machine / "home" / ".gemini" / "settings.json", {"hooks": events})
    status, out, err = run("list", "--import", "gemini")
    written = {"type": "command", "command": "./guard.sh", "timeout": 5.0}
    assert status == 1
    assert json.loads(out) == {"hooks": {"PreToolUse": [{"matcher": "Bash|Write", "hooks": [written]}]}}
    for loss in (
        "`env` is not carried over",
        "no event for `BeforeModel`",
        "`Bash` selects no tool",
        "became `Bash|Write`",
    ):
        assert loss in err


def test_import_without_a_loss_ends_with_0(machine: Path, run: Run) -> None:
    put(machine / "home" / ".copilot" / "settings.json", {"hooks": {}})
    status, out, err = run("list", "--import", "copilot")
    assert (status, json.loads(out), err) == (0, {"hooks": {}}, "")
