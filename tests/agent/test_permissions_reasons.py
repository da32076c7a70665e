"""The words of a ruling, and which rule it names when several may apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.test_permissions import bash, rules, tool, write
from hookwright.agent.permissions import AskUser, By, Mode, Permit, Refuse, ToolCall, Workspace, decide, guard
from hookwright.agent.tools import Effect
from hookwright.protocol.outcome import NO_OPINION


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "project").mkdir()
    return Workspace(root=str(tmp_path / "project"), home=str(tmp_path / "home"))


def held(call: ToolCall, workspace: Workspace, **texts: list[str]) -> str:
    found = guard(call, rules(**texts), workspace)
    assert isinstance(found, AskUser)
    assert found.by is By.RULE
    return found.reason


def ruled(call: ToolCall, workspace: Workspace, mode: Mode = Mode.DEFAULT, **texts: list[str]) -> object:
    return decide(call, mode, rules(**texts), NO_OPINION, workspace)


def reason(call: ToolCall, workspace: Workspace) -> str:
    found = ruled(call, workspace)
    assert isinstance(found, AskUser)
    return found.reason


# ── rules ───────────────────────────────────────────────────────────────────


def test_an_ask_rule_that_applies_is_named(workspace: Workspace) -> None:
    text = "Bash requires approval, because the ask rule Bash(echo *) (cliArg) applies to it."
    assert held(bash(workspace), workspace, ask=["Bash(echo *)"]) == text


def test_a_rule_that_may_apply_says_why(workspace: Workspace) -> None:
    text = held(bash(workspace, "$X -rf /"), workspace, deny=["Bash(rm *)"])
    doubt = "$(…), backticks or $VAR could make this command match"
    assert text == f"Bash requires approval, because the deny rule Bash(rm *) (cliArg) may apply to it ({doubt})."


def test_of_two_rules_the_certain_one_is_named_then_the_deny_rule(workspace: Workspace) -> None:
    doubtful = bash(workspace, "$X; echo y")
    certain = held(doubtful, workspace, deny=["Bash(rm *)"], ask=["Bash(echo *)"])
    assert "the ask rule Bash(echo *) (cliArg) applies to it." in certain
    unsure = held(bash(workspace, "$X"), workspace, deny=["Bash(rm *)"], ask=["Bash(echo *)"])
    assert "the deny rule Bash(rm *) (cliArg) may apply to it" in unsure
    only = held(bash(workspace, "$X"), workspace, ask=["Bash(echo *)"])
    assert "the ask rule Bash(echo *) (cliArg) may apply to it" in only


# ── files that a command names ──────────────────────────────────────────────


def test_a_rule_about_files_applies_to_commands_that_name_them(workspace: Workspace) -> None:
    reads = bash(workspace, "cat secret/key")
    denied = guard(reads, rules(deny=["Read(secret/**)"]), workspace)
    text = "Permission to use Bash with command cat secret/key has been denied by the rule Read(secret/**) (cliArg)."
    assert denied == Refuse(text, By.RULE)
    assert guard(bash(workspace, "cat open/key"), rules(deny=["Read(secret/**)"]), workspace) is None
    assert guard(reads, rules(deny=["Bash(rm *)"]), workspace) is None
    assert guard(tool(workspace, "WebFetch", url="http://x", prompt="p"), rules(deny=["Read(x)"]), workspace) is None


def test_a_certain_rule_about_files_beats_a_doubtful_one_about_the_command(workspace: Workspace) -> None:
    call = bash(workspace, "$X; cat secret/key")
    both = rules(deny=["Bash(rm *)", "Read(secret/**)"])
    assert isinstance(guard(call, both, workspace), Refuse)
    other = held(bash(workspace, "$X; cat open/key"), workspace, deny=["Bash(rm *)", "Read(secret/**)"])
    assert "the deny rule Bash(rm *) (cliArg) may apply" in other


def test_a_certain_rule_about_the_command_is_named_before_one_about_files(workspace: Workspace) -> None:
    found = guard(bash(workspace, "cat secret/key"), rules(deny=["Bash(cat *)", "Read(secret/**)"]), workspace)
    assert isinstance(found, Refuse)
    assert "by the rule Bash(cat *)" in found.text


def test_the_command_of_another_tool_names_no_files(workspace: Workspace) -> None:
    call = ToolCall(tool="Other", input={"command": "cat secret/key"}, effect=Effect.SESSION, cwd=workspace.root)
    assert guard(call, rules(deny=["Read(secret/**)"]), workspace) is None
    odd = ToolCall(tool="Bash", input={"command": 7}, effect=Effect.SHELL, cwd=workspace.root)
    assert guard(odd, rules(deny=["Read(secret/**)"]), workspace) is None


# ── modes ───────────────────────────────────────────────────────────────────


def test_plan_mode_says_what_is_not_available(workspace: Workspace) -> None:
    cannot = f"Cannot write to {workspace.root}/a.txt while in plan mode."
    assert ruled(write(workspace, "a.txt"), workspace, Mode.PLAN) == AskUser(cannot, By.MODE)
    text = "Plan mode only reads; Bash is not available until the plan is approved."
    assert ruled(bash(workspace), workspace, Mode.PLAN) == Refuse(text, By.CLASSIFIER)


def test_what_only_reads_is_permitted_for_that_reason(workspace: Workspace) -> None:
    assert ruled(bash(workspace, "ls"), workspace) == Permit("only reads")


def test_why_the_user_is_asked(workspace: Workspace) -> None:
    sensitive = f"{workspace.root}/.git/config"
    assert reason(write(workspace, ".git/config"), workspace) == (
        f"{sensitive} is a sensitive file; changing it requires approval."
    )
    assert reason(write(workspace, "/elsewhere/a"), workspace) == (
        "/elsewhere/a is outside the working directories; changing it requires approval."
    )
    assert reason(write(workspace, "a"), workspace) == f"Changing {workspace.root}/a requires approval."
    assert reason(tool(workspace, "Read", file_path="/elsewhere/a"), workspace) == (
        "/elsewhere/a is outside the working directories; reading it requires approval."
    )
    assert reason(bash(workspace), workspace) == "This command requires approval."
    fetch = tool(workspace, "WebFetch", url="http://x", prompt="p")
    assert reason(fetch, workspace) == "Using WebFetch requires approval."
    skill = ToolCall(tool="Skill", input={"skill": "sk"}, effect=Effect.OTHER, cwd=workspace.root)
    assert reason(skill, workspace) == (
        "Execute skill: sk. The user can add the allow rule Skill(sk) to .claude/settings.local.json to let it run "
        "without asking."
    )


def test_the_words_about_a_command_in_the_background_are_claude_codes(workspace: Workspace) -> None:
    assert reason(bash(workspace, "touch a & touch b"), workspace) == (
        "This command uses the `&` background operator, which defers execution past approval-time safety checks. "
        "Approve only if you trust it."
    )


def test_the_words_where_nothing_is_asked(workspace: Workspace) -> None:
    refused = decide(bash(workspace), Mode.DONT_ASK, rules(), NO_OPINION, workspace)
    assert refused == Refuse(
        "Permission to use Bash has been denied, because this session does not ask for approval. You may reach the "
        "goal with other tools, but do not work around this denial. If the call is essential, STOP and explain to the "
        "user what you were trying to do and why you need this permission.",
        By.MODE,
    )
