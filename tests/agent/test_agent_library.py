"""The agent as a program uses it: results, callbacks, a person to ask, notifications, interrupts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash, seen
from hookwright import Answer, Block, Deny, Hooks, PostToolUse, PreToolUse
from hookwright.agent import Agent, AgentOptions, Permission, PermissionQuestion, Person, open_agent
from hookwright.agent.state.updates import Added, Ended, Note, Said, Update
from hookwright.models.script import parse_script
from hookwright.models.scripted import ScriptedModel
from hookwright.models.types import Request, Tuning
from hookwright.protocol.outcome import EndTurn


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class Recording(ScriptedModel):
    """A scripted model that keeps every request."""

    def __init__(self, turns: Sequence[Any]) -> None:
        super().__init__(parse_script({"turns": list(turns)}))
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Any:
        self.requests.append(request)
        return await super().complete(request)

    def texts(self, number: int) -> str:
        """Give all that the model read in one request."""
        return str(self.requests[number].messages)


def options(place: Place, **more: Any) -> AgentOptions:
    """Make options for a quiet session in the place."""
    given = {"allowed_tools": ("Bash",), **more}
    return AgentOptions(cwd=str(place.project), env=place.env, home=str(place.home), **given)


async def run(agent_options: AgentOptions, model: ScriptedModel, prompt: str = "PROMPT", **more: Any) -> Any:
    async with open_agent(agent_options, model=model, **more) as agent:
        return await agent.run(prompt)


def test_a_result_of_a_finished_prompt(place: Place) -> None:
    model = Recording([[bash("echo OUT")], [{"text": "end"}]])
    result = asyncio.run(run(options(place), model))
    assert (result.success, result.stop_reason, result.text) == (True, None, "end")
    assert (result.turns, result.tool_calls) == (2, 1)
    assert result.duration >= result.api_duration >= 0
    assert [message["role"] for message in result.messages] == ["user", "assistant", "user", "assistant"]


def test_a_budget_ends_the_run_once_a_price_is_not_known(place: Place) -> None:
    model = Recording([[{"text": "priced"}], [bash("echo OUT")], [bash("touch ran.txt")], [{"text": "never"}]])
    chosen = options(place, model="claude-opus-5-5", max_budget_usd=100.0)

    async def work() -> tuple[Any, Any]:
        async with open_agent(chosen, model=model) as agent:
            first = await agent.run("one")
            await agent.switch_model("some-model")
            return first, await agent.run("two")

    first, second = asyncio.run(work())
    assert (first.success, first.cost is not None) == (True, True)
    assert (second.terminal_reason, second.cost) == ("max_budget_usd", None)
    assert not (place.project / "ran.txt").exists()


@pytest.mark.parametrize("tuning", [Tuning(), Tuning(effort="high")])
def test_what_a_model_ignores_is_said_once(place: Place, tuning: Tuning) -> None:
    updates: list[Update] = []
    asyncio.run(run(options(place, tuning=tuning), Recording([[{"text": "end"}]]), on_message_update=updates.append))
    said = [update.text for update in updates if isinstance(update, Note) and update.tag == "option"]
    assert len(said) == (0 if tuning == Tuning() else 1)


@pytest.mark.req("R-264", "R-331", "R-332")
@pytest.mark.parametrize(("reason", "told"), [("ENOUGH", "ENOUGH"), (None, "Execution stopped by hook")])
def test_a_stop_after_a_tool_is_an_unsuccessful_result_with_everything_so_far(
    place: Place, reason: str | None, told: str
) -> None:
    hooks = Hooks()
    hooks.on(PostToolUse)(lambda event: Answer(stop=EndTurn(reason), decision=Block("go on")))
    model = Recording([[bash("echo OUT"), bash("echo TOO")], [{"text": "never"}]])
    result = asyncio.run(run(options(place), model, hooks=hooks))
    assert (result.success, result.stop_reason, result.terminal_reason) == (False, told, "hook_stopped")
    assert (result.tool_calls, len(model.requests)) == (2, 1)
    assert result.duration > 0
    assert "OUT" in str(result.messages)


@pytest.mark.req("R-335")
def test_each_message_of_a_hook_is_told_at_once(place: Place) -> None:
    hooks = Hooks()
    hooks.on(PreToolUse)(lambda event: Answer(context="CTX-pre"))
    hooks.on(PostToolUse)(lambda event: Answer(context="CTX-post"))
    heard: list[tuple[int, str]] = []
    model = Recording([[bash("echo OUT")], [{"text": "end"}]])

    def listen(update: Update) -> None:
        if isinstance(update, Added):
            heard.append((len(model.requests), update.text))

    asyncio.run(run(options(place), model, hooks=hooks, on_message_update=listen))
    assert heard == [
        (1, "PreToolUse:Bash hook additional context: CTX-pre"),
        (1, "PostToolUse:Bash hook additional context: CTX-post"),
    ]
    assert "CTX-pre" in model.texts(1)
    assert "CTX-post" in model.texts(1)


def test_a_person_is_asked_and_may_refuse(place: Place) -> None:
    asked: list[PermissionQuestion] = []

    async def permit(question: PermissionQuestion) -> Permission:
        asked.append(question)
        return Permission(allow=False, message="NOT-TODAY")

    model = Recording([[bash("touch x")], [{"text": "end"}]])
    result = asyncio.run(run(options(place, allowed_tools=()), model, person=Person(permit)))
    (question,) = asked
    assert (question.tool_name, question.tool_input["command"]) == ("Bash", "touch x")
    assert "NOT-TODAY" in model.texts(1)
    assert [denial["tool_name"] for denial in result.denials] == ["Bash"]


@pytest.mark.req("R-345", "R-344", "R-091")
def test_a_question_left_waiting_is_a_notification_after_the_hooks(place: Place) -> None:
    for event in ("PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "SessionStart", "SessionEnd"):
        place.hook(event)
    place.hook("UserPromptSubmit")
    place.hook("Notification", matcher="permission_prompt")
    place.command({})

    async def permit(question: PermissionQuestion) -> Permission:
        assert len(place.got("PermissionRequest")) == 1
        while not place.got("Notification"):
            await asyncio.sleep(0.01)
        return Permission(allow=True)

    model = Recording([[bash("touch x")], [{"text": "end"}]])
    chosen = options(place, allowed_tools=(), question_notice=0.05)
    asyncio.run(run(chosen, model, person=Person(permit)))
    assert place.order == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "Notification",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ]
    assert "Bash" in place.got("Notification")[0]["message"]


@pytest.mark.req("R-346", "R-347", "R-348")
def test_idling_and_the_hosts_own_words_are_notifications(place: Place) -> None:
    place.hook("Notification")
    place.command({})

    async def scenario() -> None:
        async with open_agent(options(place, idle_notice=0.05), model=Recording([])) as agent:
            async with agent.waiting_for_user():
                await asyncio.sleep(0.3)
            async with agent.waiting_for_user():
                pass
            for kind in ("auth_success", "elicitation_dialog", "build_done"):
                agent.notify(f"about {kind}", kind, title="T")

    asyncio.run(scenario())
    kinds = sorted(payload["notification_type"] for payload in place.got("Notification"))
    assert kinds == ["auth_success", "build_done", "elicitation_dialog", "idle_prompt"]


@pytest.mark.req("R-078")
def test_an_interrupt_leaves_a_conversation_that_can_go_on(place: Place) -> None:
    model = Recording([[bash("sleep 20")], [{"text": "again"}]])
    stops: list[Any] = []
    hooks = Hooks()
    hooks.on("Stop")(stops.append)

    async def scenario() -> tuple[Any, Any]:
        async with open_agent(options(place), model=model, hooks=hooks) as agent:
            task = asyncio.ensure_future(agent.run("one"))
            while not model.requests or not _at_work(agent):
                await asyncio.sleep(0.01)
            agent.interrupt()
            first = await task
            assert stops == []
            return first, await agent.run("two")

    first, second = asyncio.run(scenario())
    assert (first.success, first.terminal_reason, second.text) == (False, "aborted_tools", "again")
    ids = [block.get("tool_use_id") for message in model.requests[1].messages for block in _blocks(message)]
    assert "toolu_S001" in ids


def test_an_interrupt_after_a_tool_keeps_its_one_result(place: Place) -> None:
    reached = asyncio.Event()
    hooks = Hooks()

    async def wait(event: PostToolUse) -> None:
        reached.set()
        await asyncio.sleep(20)

    hooks.on(PostToolUse)(wait)
    model = Recording([[bash("echo OUT")], [{"text": "again"}]])

    async def scenario() -> None:
        async with open_agent(options(place), model=model, hooks=hooks) as agent:
            task = asyncio.ensure_future(agent.run("one"))
            await reached.wait()
            agent.interrupt()
            await task
            await agent.run("two")

    asyncio.run(scenario())
    blocks = [block for message in model.requests[1].messages for block in _blocks(message)]
    results = [block["content"] for block in blocks if block["type"] == "tool_result"]
    assert results == ["OUT"]
    on_disk = [line for line in place.transcript() if "toolUseResult" in line]
    assert len(on_disk) == 1


def _at_work(agent: Agent) -> bool:
    return bool(agent.main.dialogue.messages[-1]["role"] == "assistant")


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return message["content"] if isinstance(message["content"], list) else []


def test_callbacks_decide_like_any_other_hook(place: Place) -> None:
    hooks = Hooks()
    hooks.on(PreToolUse, "Bash")(lambda event: Deny("NOT-BASH"))
    model = Recording([[bash("touch x")], *seen("PreToolUse:Callback hook error: NOT-BASH")])
    assert asyncio.run(run(options(place), model, hooks=hooks)).text == "SAW"
    assert not (place.project / "x").exists()


def test_updates_tell_the_whole_story_in_order(place: Place) -> None:
    kinds: list[str] = []

    def listen(update: Update) -> None:
        if not kinds or kinds[-1] != type(update).__name__:
            kinds.append(type(update).__name__)
        if isinstance(update, Said):
            assert update.message["role"] == "assistant"
        if isinstance(update, Ended):
            assert update.result.text == "end"

    asyncio.run(run(options(place), Recording([[bash("echo x")], [{"text": "end"}]]), on_message_update=listen))
    assert kinds == ["Opened", "TurnBegan", "CallTyped", "Said", "ToolEnded", "Typed", "Said", "Ended"]


@pytest.mark.req("R-245", "R-366")
def test_a_hooks_rule_never_untrusts_the_settings_that_a_person_trusted(place: Place) -> None:
    rule = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "localSettings"}
    allow = {"behavior": "allow", "updatedPermissions": [rule]}
    place.answer("PermissionRequest", {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": allow}})
    place.settings = {"permissions": {"deny": ["Read(secret.txt)"]}}
    place.file("secret.txt", "SECRET")
    place.trust_as_it_is()
    read = {"tool": "Read", "input": {"file_path": str(place.project / "secret.txt")}}
    model = Recording([[bash("touch one")], [bash("touch two")], [read], [{"text": "end"}]])
    given = AgentOptions(cwd=str(place.project), env=place.env, home=str(place.home))
    asyncio.run(run(given, model))
    assert (place.project / "two").exists()
    assert len(place.got("PermissionRequest")) == 1
    assert not (place.project / ".claude" / "settings.local.json").exists()
    assert "SECRET" not in model.texts(-1)


@pytest.mark.req("R-349")
@pytest.mark.parametrize("reason", ["logout", "prompt_input_exit", "clear", "other"])
def test_a_host_ends_the_session_with_its_reason_once(reason: str, place: Place) -> None:
    place.hook("SessionEnd", matcher=reason)
    place.command({})

    async def scenario() -> None:
        async with open_agent(options(place), model=Recording([])) as agent:
            await agent.end(reason)

    asyncio.run(scenario())
    assert [payload["reason"] for payload in place.got("SessionEnd")] == [reason]
