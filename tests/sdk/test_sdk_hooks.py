"""`hooks=` of the Agent SDK: callbacks of the host as hooks of the session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ClaudeSDKClient, HookMatcher

from sdk.bench import Bench, Guard, Heard, bash, decides, said, text, tool, turn, works

ALLOWED = ["Bash(echo *)", "Bash(touch *)", "Bash(sleep *)", "Agent"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# ── one session, every answer ───────────────────────────────────────────────


class Story:
    """A session of five prompts whose callbacks answer by the command they are asked about."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.asked = Guard(self._before)
        self.met: list[str] = []
        self._other = asyncio.Event()
        sub = {"name": "sub", "match": "SUB", "on": "first", "turns": [[text("done")]]}
        bench.play(
            [bash(f"touch {name}") for name in ("denied.txt", "old.txt", "slow.txt")]
            + [bash("echo context"), bash("echo secret"), bash("mkdir made"), bash("echo async")],
            [{"when": "REPLACED[^$]*CONTEXT-1"}, bash("echo together")],
            [text("first end")],
            [bash("echo halt")],
            [tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose", run_in_background=False)],
            [text("second end")],
            [text("third end")],
            routes=[sub],
        )
        self.post, self.prompt = Guard(self._after), Guard(self._prompt)
        self.stop, self.permission = Guard(self._stop), Guard(self._permit)
        self.started, self.ended = Guard(), Guard()
        self.turns: list[Heard] = bench.talk(self._talk, hooks=self._hooks(), allowed_tools=ALLOWED)

    def _hooks(self) -> dict[Any, list[HookMatcher]]:
        before = [
            HookMatcher(matcher="Bash", hooks=[self.asked, self._meet, self._meet]),
            HookMatcher(matcher="Bash", hooks=[self._sleep], timeout=0.3),
        ]
        found: dict[Any, list[HookMatcher]] = {"PreToolUse": before}
        for event in ("PostToolUse", "UserPromptSubmit", "Stop", "PermissionRequest", "SubagentStart", "SubagentStop"):
            guards = (self.post, self.prompt, self.stop, self.permission, self.started, self.ended)
            found |= guards[len(found) - 1].on(event)
        return found

    async def _talk(self, client: ClaudeSDKClient) -> list[Heard]:
        return [await turn(client, prompt) for prompt in ("one", "two", "BLOCKED", "three")]

    @staticmethod
    def _before(given: Mapping[str, Any]) -> Mapping[str, Any]:
        match given["tool_input"]["command"]:
            case "touch denied.txt":
                return decides("deny", permissionDecisionReason="NOT-THIS")
            case "touch old.txt":
                return decides("allow", updatedInput={**given["tool_input"], "command": "touch new.txt"})
            case "echo context":
                return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "CONTEXT-1"}}
            case "echo async":
                return {"async_": True, "asyncTimeout": 5000}
        return {}

    @staticmethod
    def _after(given: Mapping[str, Any]) -> Mapping[str, Any]:
        if given["tool_name"] == "Bash" and given["tool_input"]["command"] == "echo halt":
            return {"continue_": False, "stopReason": "ENOUGH"}
        if given["tool_name"] == "Bash" and given["tool_input"]["command"] == "echo secret":
            new = {**given["tool_response"], "stdout": "REPLACED"}
            return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": new}}
        return {}

    @staticmethod
    def _prompt(given: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"decision": "block", "reason": "NO-PROMPT"} if given["prompt"] == "BLOCKED" else {}

    @staticmethod
    def _stop(given: Mapping[str, Any]) -> Mapping[str, Any]:
        objects = given["last_assistant_message"] == "second end" and not given["stop_hook_active"]
        return {"decision": "block", "reason": "MORE"} if objects else {}

    @staticmethod
    def _permit(given: Mapping[str, Any]) -> Mapping[str, Any]:
        yes = {"behavior": "allow"} if "mkdir" in given["tool_input"]["command"] else {"behavior": "deny"}
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": yes}}

    async def _meet(self, given: Any, _id: str | None, _context: Any) -> Any:
        """Wait for the other callback of the same call: two that run one after the other never meet."""
        if given["tool_input"]["command"] == "echo together":
            self.met.append("here")
            if len(self.met) == 2:
                self._other.set()
            await asyncio.wait_for(self._other.wait(), 10)
            self.met.append("gone")
        return {}

    @staticmethod
    async def _sleep(given: Any, _id: str | None, _context: Any) -> Any:
        if given["tool_input"]["command"] == "touch slow.txt":
            await asyncio.sleep(5)
        return {}

    def results(self) -> dict[str, str]:
        """Return the results of the first prompt's calls, by command."""
        found = [str(result.content) for result in self.turns[0].tool_results]
        return dict(
            zip(["denied", "old", "slow", "context", "secret", "mkdir", "async", "together"], found, strict=True)
        )


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return Story(Bench(tmp_path_factory.mktemp("story")))


@works("hooks-deny")
def test_a_denied_call_does_not_run_and_the_model_reads_why(story: Story) -> None:
    assert not story.bench.exists("denied.txt")
    assert "NOT-THIS" in story.results()["denied"]


@works("hooks-updated-input")
def test_an_input_is_rewritten(story: Story) -> None:
    assert (story.bench.exists("old.txt"), story.bench.exists("new.txt")) == (False, True)


@works("hooks-timeout")
def test_a_callback_that_takes_too_long_refuses(story: Story) -> None:
    assert not story.bench.exists("slow.txt")


@works("hooks-context", "hooks-updated-output")
def test_context_and_replaced_output_reach_the_model(story: Story) -> None:
    assert "together" in story.results()["together"], "the script's second turn waits for both"
    assert "REPLACED" in story.results()["secret"]


@works("hooks-async")
def test_an_async_answer_lets_the_call_run(story: Story) -> None:
    assert story.results()["async"].strip() == "async"


@works("hooks-permission-request")
def test_a_permission_request_is_answered(story: Story) -> None:
    assert [asked["tool_input"]["command"] for asked in story.permission.asked] == ["mkdir made"]
    assert story.bench.exists("made")


@works("hooks-parallel")
def test_callbacks_of_one_event_run_together(story: Story) -> None:
    assert story.met == ["here", "here", "gone", "gone"]


@works("hooks-continue")
def test_continue_false_ends_the_turn(story: Story) -> None:
    assert story.turns[1].result.terminal_reason == "hook_stopped"
    assert story.turns[1].texts == []


@works("hooks-prompt-block")
def test_a_blocked_prompt_never_reaches_the_model(story: Story) -> None:
    (line,) = story.turns[2].system("informational")
    assert "NO-PROMPT" in line["content"]
    assert line["prompt_submit_outcome"]["kind"] == "blocked_by_hook"
    assert (story.turns[2].texts, story.turns[2].result.num_turns) == ([], 0)


@works("hooks-subagent-start", "hooks-subagent-stop")
def test_the_start_and_the_end_of_a_subagent_are_asked(story: Story) -> None:
    assert [asked["agent_type"] for asked in story.started.asked] == ["general-purpose"]
    assert [asked["last_assistant_message"] for asked in story.ended.asked] == ["done"]


@works("hooks-stop")
def test_a_stop_callback_sends_the_model_back_to_work(story: Story) -> None:
    assert story.turns[3].texts == ["second end", "third end"]
    assert [line["key"] for line in story.turns[3].system("notification")] == ["stop-hook-error"]
    assert any("MORE" in str(message) for message in story.turns[3].messages)


@works("client-turns", "init-per-prompt")
def test_every_prompt_of_a_client_has_its_init(story: Story) -> None:
    assert [len(heard.system("init")) for heard in story.turns] == [1, 1, 1, 1]


# ── later turns, failures and the ends of a session ─────────────────────────


def no_touch(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return decides("deny") if "touch" in given["tool_input"]["command"] else {}


@works("hooks-later-turns", "task-started", "task-notification", "task-updated", "background-tasks")
def test_a_guard_is_asked_after_the_first_result_when_a_background_command_ends(bench: Bench) -> None:
    bench.play([bash("sleep 0.6", run_in_background=True)], [text("started")], [bash("touch ran.txt")], [text("end")])
    guard, stop = Guard(no_touch), Guard()
    heard = bench.ask("go", hooks={**guard.on("PreToolUse", "Bash"), **stop.on("Stop")}, allowed_tools=ALLOWED)
    assert guard.commands == ["sleep 0.6", "touch ran.txt"]
    assert len(heard.results) == 2
    assert len(stop.asked) == 2
    assert not bench.exists("ran.txt")
    (started,), (updated,) = heard.system("task_started"), heard.system("task_updated")
    (ended,) = heard.system("task_notification")
    assert (started["task_type"], ended["task_id"], ended["status"]) == ("local_bash", started["task_id"], "completed")
    assert updated["patch"]["status"] == "completed"
    assert [len(line["tasks"]) for line in heard.system("background_tasks_changed")] == [1, 0]


@works("hooks-background-agent")
def test_a_guard_is_asked_inside_a_background_agent(bench: Bench) -> None:
    task = tool("Agent", description="d", prompt="SUB", subagent_type="general-purpose", run_in_background=True)
    sub = {"name": "sub", "match": "SUB", "on": "first", "turns": [[bash("sleep 0.4; touch ran.txt")], [text("done")]]}
    bench.play([task], [text("started")], [text("end")], routes=[sub])
    guard = Guard(no_touch)
    heard = bench.ask("go", hooks=guard.on("PreToolUse", "Bash"), allowed_tools=ALLOWED)
    assert guard.commands == ["sleep 0.4; touch ran.txt"]
    assert len(heard.results) == 2
    assert not bench.exists("ran.txt")


@works("hooks-on-failure")
@pytest.mark.parametrize(("more", "ran"), [({}, True), ({"on_failure": "block"}, False)])
def test_a_guard_that_raises_blocks_with_on_failure(bench: Bench, more: dict[str, Any], ran: bool) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    guard = Guard(ValueError("it broke"))
    bench.ask("go", hooks=guard.on("PreToolUse", "Bash", **more), allowed_tools=ALLOWED)
    assert len(guard.asked) == 1
    assert bench.exists("ran.txt") is ran


@works("hooks-session-start")
def test_a_session_start_callback_runs_and_its_context_reaches_the_model(bench: Bench) -> None:
    bench.play([{"when": "CONTEXT-1"}, text("saw it")], [text("missed it")])
    context = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "CONTEXT-1"}}
    guard = Guard(context)
    heard = bench.ask("go", hooks=guard.on("SessionStart"))
    assert [asked["source"] for asked in guard.asked] == ["startup"]
    assert heard.texts == ["saw it"]


@said("hooks-session-end")
@works("hooks-host-gone")
def test_a_guard_whose_host_closes_its_side_refuses_and_session_end_cannot_be_asked(bench: Bench) -> None:
    """The host leaves while the model works: its guard can no longer be asked, so the call must not run."""
    bench.play([{"delay": 1.0}, bash("touch ran.txt")], [text("end")])
    guard, end, prompt = Guard(), Guard(), Guard()
    lines: list[str] = []

    async def work(client: ClaudeSDKClient) -> list[Any]:
        await client.query("go")
        while not prompt.asked:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)
        assert client._query is not None
        await client._query.transport.end_input()
        return [message async for message in client.receive_messages()]

    hooks = {**guard.on("PreToolUse", "Bash"), **end.on("SessionEnd"), **prompt.on("UserPromptSubmit")}
    heard = Heard(bench.talk(work, hooks=hooks, allowed_tools=ALLOWED, stderr=lines.append))
    assert guard.asked == end.asked == []
    assert "The host is gone." in str(heard.tool_results[0].content)
    assert not bench.exists("ran.txt")
    assert any("SessionEnd" in line and "The host is gone." in line for line in lines)
