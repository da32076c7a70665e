"""The loop with hooks, as a whole: first message, stop, context and callback, message, order, suppression, failure."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash, route, seen
from hookwright.agent import AgentOptions, open_agent
from hookwright.agent.state.updates import Added, Note, Update
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def context(event: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def attachments(place: Place, kind: str) -> list[dict[str, Any]]:
    """Read the transcript of the only session: its attachments of one kind."""
    (path,) = (place.home / ".claude" / "projects").rglob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    found = [line["attachment"] for line in lines if line["type"] == "attachment"]
    return [attachment for attachment in found if attachment["type"] == kind]


@pytest.mark.req("R-389", "R-328")
def test_the_first_message_carries_what_session_start_said(place: Place) -> None:
    place.hook("SessionStart", "echo CTX-first")
    assert place.run({"turns": seen("CTX-first[\\s\\S]*PROMPT")}).text == "SAW"


@pytest.mark.req("R-389", "R-264", "R-331")
def test_a_stop_ends_the_run_before_the_next_model_call(place: Place) -> None:
    place.answer("PostToolUse", {"continue": False, "stopReason": "STOP-why"})
    ran = place.run({"turns": [[bash("echo x")], [{"text": "NEVER"}]]}, "--allowedTools", "Bash")
    assert ran.results[-1]["terminal_reason"] == "hook_stopped"
    assert "NEVER" not in ran.stdout
    assert "STOP-why" in ran.stdout


@pytest.mark.req("R-389", "R-333", "R-335", "R-294")
def test_context_is_in_the_next_request_in_order_and_a_screen_hears_of_it(place: Place) -> None:
    heard: list[Update] = []
    place.hook("PostToolUse", f"sleep 0.3; printf '%s' '{json.dumps(context('PostToolUse', 'CTX-one'))}'")
    place.answer("PostToolUse", context("PostToolUse", "CTX-two"))
    place.command({"turns": []})
    script = {"turns": [[bash("echo x")], *seen("CTX-one[\\s\\S]*CTX-two")]}
    given = AgentOptions(cwd=str(place.project), env=place.env, home=str(place.home), allowed_tools=("Bash",))

    async def main() -> Any:
        model = ScriptedModel(parse_script(script))
        async with open_agent(given, model=model, on_message_update=heard.append) as agent:
            return await agent.run("PROMPT")

    assert asyncio.run(main()).text == "SAW"
    assert any(isinstance(update, Added) and "CTX-one" in update.text for update in heard)


@pytest.mark.req("R-389", "R-232", "R-277")
def test_a_message_is_for_the_user_alone(place: Place) -> None:
    heard: list[Update] = []
    place.answer("PreToolUse", {"systemMessage": "SM-careful"})
    place.command({"turns": []})
    script = {"turns": [[bash("echo x")], [{"when": "SM-careful"}, {"text": "LEAKED"}], [{"text": "CLEAN"}]]}
    given = AgentOptions(cwd=str(place.project), env=place.env, home=str(place.home), allowed_tools=("Bash",))

    async def main() -> Any:
        model = ScriptedModel(parse_script(script))
        async with open_agent(given, model=model, on_message_update=heard.append) as agent:
            return await agent.run("PROMPT")

    assert asyncio.run(main()).text == "CLEAN"
    assert any(isinstance(update, Note) and "SM-careful" in update.text for update in heard)


@pytest.mark.req("R-389", "R-230", "R-320")
def test_suppressed_output_is_not_in_the_transcript(place: Place) -> None:
    place.answer("PreToolUse", {"suppressOutput": True, **context("PreToolUse", "CTX-hidden")})
    place.hook("PostToolUse", "echo OUT-shown")
    place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, "--allowedTools", "Bash")
    printed = [one["stdout"] for one in attachments(place, "hook_success")]
    assert "OUT-shown\n" in printed
    assert not any("CTX-hidden" in text for text in printed)


@pytest.mark.req("R-389", "R-298", "R-217")
def test_failing_hooks_do_not_stop_the_agent(place: Place) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop"):
        place.hook(event, "echo broken >&2; exit 3")
    ran = place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, "--allowedTools", "Bash")
    assert (ran.code, ran.text) == (0, "end")
    assert len(attachments(place, "hook_non_blocking_error")) == 6


@pytest.mark.req("R-185", "R-320")
def test_a_timeout_is_a_cancelled_entry_with_its_limit(place: Place) -> None:
    place.hook("PreToolUse", "sleep 20", timeout=0.2)
    ran = place.run({"turns": [[bash("echo x")], [{"text": "end"}]]}, "--allowedTools", "Bash")
    (entry,) = attachments(place, "hook_cancelled")
    assert (entry["timedOut"], entry["timeoutMs"], entry["hookName"]) == (True, 200, "PreToolUse:Bash")
    assert [line["outcome"] for line in ran.of("system", "hook_response")] == ["cancelled"]


@pytest.mark.req("R-134")
def test_a_prompt_hooks_run_is_recorded_under_the_call_or_an_id_of_its_own(place: Place) -> None:
    for event in ("PreToolUse", "Stop"):
        place.hooks[event] = [{"hooks": [{"type": "prompt", "prompt": "PROMPTHOOK fine?"}]}]
    answers = route("prompt-hook", "PROMPTHOOK", [[{"text": '{"ok": true}'}]], on="last")
    ran = place.run(
        {"turns": [[{**bash("echo x"), "id": "toolu_mine"}], [{"text": "end"}]], "routes": [answers]},
        "--allowedTools",
        "Bash",
    )
    assert ran.text == "end"
    ids = {one["hookEvent"]: one["toolUseID"] for one in attachments(place, "hook_success")}
    assert ids["PreToolUse"] == "toolu_mine"
    assert ids["Stop"]
    assert ids["Stop"] != "toolu_mine"


@pytest.mark.req("R-376")
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a network namespace")
def test_command_hooks_need_no_network(place: Place) -> None:
    allowed = subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False)
    if allowed.returncode != 0:
        pytest.skip("this machine gives no network namespace")
    place.hook("PreToolUse", "echo no >&2; exit 2")
    command = place.command({"turns": [[bash("echo x")], *seen("no")]}, "--allowedTools", "Bash")
    alone = ["unshare", "-rn", *command, "PROMPT"]
    done = subprocess.run(alone, cwd=place.project, env=place.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"result":"SAW"' in done.stdout.replace(": ", ":")
    assert sys.platform == "linux"
