"""`can_use_tool`, permission modes and the permission tool of the Agent SDK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ToolPermissionContext,
)
from claude_agent_sdk.types import PermissionRuleValue

from sdk.bench import Bench, Guard, Heard, bash, decides, text, tool, turn, works


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


class Questions:
    """A client whose `can_use_tool` answers by the command."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.asked: list[tuple[str, dict[str, Any], ToolPermissionContext]] = []
        outside = bench.home / "outside.txt"
        outside.write_text("far away")
        self.outside = str(outside)
        bench.play(
            [bash("touch yes.txt"), bash("touch no.txt"), bash("touch old.txt"), bash("touch kept.txt; mkdir a")],
            [bash("mkdir b"), tool("Read", file_path=self.outside), bash("touch ask.txt")],
            [text("end")],
            [tool("Write", file_path="written.txt", content="w")],
            [text("written")],
            [bash("perl -e 1; touch stop.txt")],
            [text("never")],
        )
        asks = Guard(lambda given: decides("ask", permissionDecisionReason="WHY-1") if _is_ask(given) else {})
        self.first, self.edit, self.mode_errors, self.stopped = bench.talk(
            self._talk, can_use_tool=self._decide, hooks=asks.on("PreToolUse", "Bash")
        )

    async def _talk(self, client: ClaudeSDKClient) -> tuple[Heard, Heard, list[str], Heard]:
        first = await turn(client, "one")
        await client.set_permission_mode("acceptEdits")
        edit = await turn(client, "two")
        errors = []
        for mode in ("bypassPermissions", "nonsense"):
            try:
                await client.set_permission_mode(mode)  # type: ignore[arg-type]
            except Exception as error:  # the SDK raises a plain Exception
                errors.append(str(error))
        return first, edit, errors, await turn(client, "three")

    async def _decide(self, name: str, given: dict[str, Any], context: ToolPermissionContext) -> Any:
        self.asked.append((name, given, context))
        command = given.get("command", "")
        if command == "touch no.txt":
            return PermissionResultDeny(message="NO-1")
        if "stop.txt" in command:
            return PermissionResultDeny(message="STOP-1", interrupt=True)
        if command == "touch old.txt":
            return PermissionResultAllow(updated_input={**given, "command": "touch new.txt"})
        if "mkdir" in command:
            rule = PermissionRuleValue(tool_name="Bash", rule_content="mkdir *")
            update = PermissionUpdate(type="addRules", rules=[rule], behavior="allow", destination="session")
            return PermissionResultAllow(updated_permissions=[update])
        return PermissionResultAllow()

    def context(self, part: str) -> ToolPermissionContext:
        """Return the context of the question about some input."""
        return next(context for _, given, context in self.asked if part in str(given))


def _is_ask(given: Any) -> bool:
    return bool(given["tool_input"]["command"] == "touch ask.txt")


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Questions:
    return Questions(Bench(tmp_path_factory.mktemp("questions")))


@works("can-use-tool-allow", "can-use-tool-deny")
def test_can_use_tool_decides(questions: Questions) -> None:
    assert (questions.bench.exists("yes.txt"), questions.bench.exists("no.txt")) == (True, False)
    assert "NO-1" in str(questions.first.tool_results[1].content)
    assert all(context.tool_use_id for _, _, context in questions.asked)


@works("can-use-tool-rewrite")
def test_can_use_tool_rewrites_the_input(questions: Questions) -> None:
    assert (questions.bench.exists("old.txt"), questions.bench.exists("new.txt")) == (False, True)


@works("can-use-tool-updated-permissions")
def test_updated_permissions_spare_the_next_question(questions: Questions) -> None:
    assert questions.bench.exists("b")
    assert not any(given.get("command") == "mkdir b" for _, given, _ in questions.asked)


@works("can-use-tool-reason")
def test_the_reason_of_a_hook_is_part_of_the_question(questions: Questions) -> None:
    assert "WHY-1" in str(questions.context("touch ask.txt").decision_reason)


@works("can-use-tool-title")
def test_a_question_has_title_name_suggestions_and_the_blocked_path(questions: Questions) -> None:
    command, reading = questions.context("touch yes.txt"), questions.context(questions.outside)
    assert command.title == "Claude wants to run touch yes.txt"
    assert (command.display_name, command.description, command.blocked_path) == ("Bash", "run", None)
    assert command.suggestions
    assert (reading.title, reading.blocked_path) == (f"Claude wants to read {questions.outside}", questions.outside)


@works("set-permission-mode")
def test_a_mode_can_be_set(questions: Questions) -> None:
    assert questions.bench.exists("written.txt")
    assert not any(name == "Write" for name, _, _ in questions.asked)
    assert questions.edit.system("init")[0]["permissionMode"] == "acceptEdits"


@works("set-permission-mode-error")
def test_a_mode_that_cannot_be_set_is_an_error(questions: Questions) -> None:
    bypass, nonsense = questions.mode_errors
    assert "Cannot set permission mode to bypassPermissions" in bypass
    assert "nonsense" in nonsense


@works("can-use-tool-interrupt")
def test_a_denial_can_interrupt_the_turn(questions: Questions) -> None:
    result = questions.stopped.result
    assert (result.subtype, result.is_error) == ("error_during_execution", True)
    assert questions.stopped.texts == []
    assert not questions.bench.exists("stop.txt")


@works("can-use-tool-later-turns")
def test_can_use_tool_is_asked_after_the_first_result(bench: Bench) -> None:
    bench.play([bash("sleep 0.5", run_in_background=True)], [text("started")], [bash("touch ran.txt")], [text("end")])
    asked: list[str] = []

    async def decide(name: str, given: dict[str, Any], context: ToolPermissionContext) -> Any:
        asked.append(given["command"])
        return PermissionResultDeny(message="no") if "touch" in given["command"] else PermissionResultAllow()

    heard = bench.ask([{"type": "user", "message": {"role": "user", "content": "go"}}], can_use_tool=decide)
    assert asked == ["sleep 0.5", "touch ran.txt"]
    assert len(heard.results) == 2
    assert not bench.exists("ran.txt")
