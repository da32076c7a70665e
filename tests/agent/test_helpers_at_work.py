"""Those who work beside the main agent: teammates, isolated subagents, verifying agents, servers, the classifier."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash, route, seen, tool
from hookwright.agent import AgentOptions, Person, open_agent
from hookwright.agent.transcript.paths import project_folder, session_path
from hookwright.mcp.values import ElicitationRequest, Elicited
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel

KIT = Path(__file__).parents[1] / "conformance" / "kit"
ALLOW = ("--allowedTools", "Bash,Agent,EnterWorktree,ExitWorktree")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def repository(place: Place) -> None:
    """Make the project a git repository with one commit."""
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=place.project, check=True, env=place.env)


# ── teammates ───────────────────────────────────────────────────────────────


@pytest.mark.req("R-342")
def test_teammates_write_to_each_other_and_complete_their_tasks(place: Place) -> None:
    place.hook("TaskCompleted")
    place.hook("SubagentStart")
    work = [
        [tool("TaskUpdate", taskId="1", status="in_progress", owner="ada")],
        [tool("SendMessage", to="team-lead", message="HALF-WAY")],
        [{"text": "first part"}],
        [{"when": "GO-ON-ADA"}, {"text": "second part"}],
    ]
    turns = [
        [tool("TaskCreate", subject="Do A", description="all")],
        [tool("Agent", description="d", prompt="SUBTASK", name="ada")],
        [{"text": "waiting"}],
        [{"when": "HALF-WAY"}, {"text": "heard"}],
        [{"when": "first part"}, tool("TaskList")],
        [{"when": "completed.*Do A"}, tool("SendMessage", to="ada", message="GO-ON-ADA")],
        [{"text": "sent"}],
        *seen("second part"),
    ]
    ran = place.run({"turns": turns, "routes": [route("ada", "SUBTASK", work)]}, *ALLOW)
    assert ran.text == "SAW"
    (payload,) = place.got("TaskCompleted")
    assert (payload["teammate_name"], payload["task_subject"]) == ("ada", "Do A")
    assert payload["agent_id"] == place.got("SubagentStart")[0]["agent_id"]
    assert len(place.got("SubagentStart")) == 2


def test_a_hook_may_end_a_teammate(place: Place) -> None:
    place.answer("TeammateIdle", {"continue": False, "stopReason": "enough"})
    turns = [
        [tool("Agent", description="d", prompt="SUBTASK", name="ada")],
        [bash("sleep 0.6")],
        [tool("SendMessage", to="ada", message="hello")],
        *seen("There is no member named ada"),
    ]
    ran = place.run({"turns": turns, "routes": [route("ada", "SUBTASK", [[{"text": "done"}]])]}, *ALLOW)
    assert ran.text == "SAW"


# ── worktrees ───────────────────────────────────────────────────────────────


@pytest.mark.req("R-343")
@pytest.mark.needs("git")
def test_git_makes_and_removes_worktrees_where_no_hook_does(place: Place) -> None:
    repository(place)
    turns = [
        [tool("EnterWorktree", name="feature")],
        [bash("pwd; git branch --show-current")],
        [{"when": "worktrees/feature\\nworktree-feature"}, tool("ExitWorktree", action="remove")],
        *seen(f"work in {place.project} again"),
    ]
    ran = place.run({"turns": turns}, *ALLOW)
    assert ran.text == "SAW"
    assert not (place.project / ".claude" / "worktrees" / "feature").exists()


@pytest.mark.parametrize(("command", "kept"), [("pwd", False), ("pwd; touch new.txt", True)])
@pytest.mark.needs("git")
def test_an_isolated_subagent_leaves_what_it_changed(place: Place, command: str, kept: bool) -> None:
    repository(place)
    place.hook("PostToolUse", matcher="Bash")
    starts = tool("Agent", description="d", prompt="SUBTASK", isolation="worktree", run_in_background=False)
    routes = [route("sub", "SUBTASK", [[bash(command)], [{"text": "done"}]])]
    place.run({"turns": [[starts], [{"text": "end"}]], "routes": routes}, *ALLOW)
    (payload,) = place.got("PostToolUse")
    worktree = Path(payload["tool_response"]["stdout"].splitlines()[0])
    assert worktree.parent == place.project / ".claude" / "worktrees"
    assert payload["cwd"] == str(worktree)
    assert worktree.exists() is kept


@pytest.mark.req("R-084")
def test_a_failing_worktree_hook_ends_the_start(place: Place) -> None:
    place.hook("WorktreeCreate", "echo no space >&2; exit 1")
    ran = place.run({"turns": [[{"text": "never"}]]}, "--worktree", "x")
    assert ran.code == 1
    assert "no space" in ran.stderr
    assert ran.results == []


# ── hooks that ask a model ──────────────────────────────────────────────────


@pytest.mark.req("R-151")
def test_an_agent_hook_uses_the_sessions_tools_under_its_rules(place: Place) -> None:
    place.hook("PreToolUse", matcher="Bash")
    handler = {"type": "agent", "prompt": "AGENTHOOK $ARGUMENTS"}
    place.hooks["PreToolUse"].append({"matcher": "Bash", "hooks": [handler]})
    verifier = [
        [bash("echo LOOKED > looked.txt"), bash("rm -rf never")],
        [{"when": "denied by the rule"}, tool("StructuredOutput", ok=False, reason="NOT-GOOD")],
        [tool("StructuredOutput", ok=True)],
    ]
    script = {"turns": [[bash("echo x")], *seen("NOT-GOOD")], "routes": [route("agent-hook", "AGENTHOOK", verifier)]}
    ran = place.run(script, "--allowedTools", "Bash", "--disallowedTools", "Bash(rm:*)")
    assert ran.text == "SAW"
    assert (place.project / "looked.txt").read_text() == "LOOKED\n"
    inner = [payload for payload in place.got("PreToolUse") if "agent_id" in payload]
    assert [payload["tool_input"]["command"] for payload in inner] == ["echo LOOKED > looked.txt", "rm -rf never"]
    assert all(payload["agent_id"].startswith("hook-agent-") for payload in inner)
    assert all(payload["permission_mode"] == "dontAsk" for payload in inner)


def test_a_prompt_hook_at_the_end_of_a_subagent_reads_its_conversation(place: Place) -> None:
    place.hooks["SubagentStop"] = [{"hooks": [{"type": "prompt", "prompt": "PROMPTHOOK done?"}]}]
    verdict = [[{"text": '{"ok": true, "reason": ""}'}]]
    routes = [
        {**route("judge", "SUBTASK[\\s\\S]*SUB-ANSWER[\\s\\S]*PROMPTHOOK", verdict, on="any"), "tools": False},
        route("sub", "SUBTASK", [[{"text": "SUB-ANSWER"}]]),
    ]
    starts = tool("Agent", description="d", prompt="SUBTASK", run_in_background=False)
    ran = place.run({"turns": [[starts], [{"text": "end"}]], "routes": routes}, *ALLOW)
    assert ran.tool_results()[0]["content"] == [{"type": "text", "text": "SUB-ANSWER"}]
    assert ran.of("system", "informational") == []


@pytest.mark.parametrize(
    ("said", "runs"),
    [('{"allow": true, "reason": "fine"}', True), ('{"allow": false, "reason": "RISKY"}', False), ("maybe", False)],
)
def test_the_classifier_decides_in_auto_mode(place: Place, said: str, runs: bool) -> None:
    place.hook("PermissionDenied")
    judge = {**route("classifier", "user_request", [[{"text": said}]], on="last"), "tools": False}
    place.run({"turns": [[bash("touch ran.txt")], [{"text": "end"}]], "routes": [judge]}, "--permission-mode", "auto")
    assert (place.project / "ran.txt").exists() is runs
    reasons = [payload["reason"] for payload in place.got("PermissionDenied")]
    assert reasons == ([] if runs else ["RISKY" if "RISKY" in said else "Classifier unavailable"])


# ── servers ─────────────────────────────────────────────────────────────────


@pytest.mark.req("R-347")
def test_a_person_answers_a_server_and_hooks_see_the_answer(place: Place) -> None:
    place.hook("Notification")
    place.hook("ElicitationResult")
    place.command({})
    servers = {"fake": {"command": "python3", "args": [str(KIT / "fake_mcp.py")]}}
    options = AgentOptions(
        cwd=str(place.project),
        env=place.env,
        home=str(place.home),
        mcp_config=(json.dumps({"mcpServers": servers}),),
        allowed_tools=("mcp__fake__elicit",),
    )
    asked: list[ElicitationRequest] = []

    async def fill_in(elicitation: ElicitationRequest) -> Elicited:
        asked.append(elicitation)
        return Elicited("accept", {"name": "Zoe"})

    async def scenario() -> Any:
        model = ScriptedModel(parse_script({"turns": [[tool("mcp__fake__elicit")], *seen("Zoe")]}))
        async with open_agent(options, model=model, person=Person(fill_in=fill_in)) as agent:
            return await agent.run("go")

    assert asyncio.run(scenario()).text == "SAW"
    assert asked[0].message == "Your name?"
    (payload,) = place.got("ElicitationResult")
    assert (payload["action"], payload["content"]) == ("accept", {"name": "Zoe"})
    kinds = [payload["notification_type"] for payload in place.got("Notification")]
    assert sorted(kinds) == ["elicitation_dialog", "elicitation_response"]


def test_a_server_that_cannot_be_reached_is_told_and_the_rest_works(place: Place) -> None:
    config = json.dumps({"mcpServers": {"gone": {"command": "no-such-program-here"}}})
    ran = place.run({"turns": [[{"text": "fine"}]]}, "--mcp-config", config)
    assert ran.text == "fine"
    assert "gone" in ran.stderr
    assert ran.lines[0]["mcp_servers"] == [{"name": "gone", "status": "failed"}]


@pytest.mark.req("R-143")
def test_an_agent_hook_reads_the_sessions_transcript_and_nothing_beside_it(place: Place) -> None:
    session = "0f0e0d0c-0b0a-4908-8706-050403020100"
    path = session_path(project_folder(str(place.home / ".claude"), str(place.project), place.env), session)
    beside = Path(path).parent / "other.jsonl"
    beside.parent.mkdir(parents=True, exist_ok=True)
    beside.write_text("SECRET\n")
    place.hooks["Stop"] = [{"hooks": [{"type": "agent", "prompt": "AGENTHOOK $ARGUMENTS"}]}]
    verifier = [
        [tool("Read", file_path=path)],
        [{"when": "SAID-BY-THE-MODEL"}, tool("Grep", pattern="SECRET", path=str(beside))],
        [{"when": "Permission to use Grep has been denied"}, tool("StructuredOutput", ok=True)],
        [tool("StructuredOutput", ok=False, reason="not as expected")],
    ]
    script = {
        "turns": [[{"text": "SAID-BY-THE-MODEL"}], [{"text": "never"}]],
        "routes": [route("agent-hook", "AGENTHOOK", verifier)],
    }
    ran = place.run(script, "--session-id", session)
    assert (ran.code, ran.text) == (0, "SAID-BY-THE-MODEL"), ran.stderr


@pytest.mark.req("R-348")
def test_the_end_of_a_background_command_is_a_notification(place: Place) -> None:
    place.hook("Notification")
    starts = tool("Bash", command="exit 3", description="Build", run_in_background=True)
    place.run({"turns": [[starts], [bash("sleep 0.5")], [{"text": "end"}]]}, *ALLOW)
    (payload,) = place.got("Notification")
    assert payload["notification_type"] == "background_command_ended"
    assert payload["message"] == 'Background command "Build" failed (exit code 3)'
