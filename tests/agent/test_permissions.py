"""The laws of permissions, clause by clause, and over all of them together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.agent.permissions import (
    AskUser,
    Behavior,
    By,
    Classify,
    Mode,
    Origin,
    Permit,
    Refuse,
    Rules,
    Ruling,
    ToolCall,
    Workspace,
    decide,
    guard,
    spoken_rules,
)
from hookwright.agent.permissions.decide import NOT_ASKED
from hookwright.agent.tools import TOOLS, Effect
from hookwright.protocol.outcome import NO_OPINION, Allow, Ask, Decision, Defer, Deny

WRITING = "echo ran > ran.txt; echo TOOL-OUTPUT"
#: Modes in which a person may be asked.
ASKING = [Mode.DEFAULT, Mode.ACCEPT_EDITS]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    for name in ("project", "other", "session"):
        (tmp_path / name).mkdir()
    return Workspace(root=str(tmp_path / "project"), home=str(tmp_path / "home"), readable=(str(tmp_path / "session"),))


def rules(**texts: list[str]) -> Rules:
    found = Rules()
    for behavior, words in texts.items():
        listed, notes = spoken_rules(words, Behavior(behavior), Origin.CLI)
        assert notes == ()
        found = found.plus(listed)
    return found


def bash(workspace: Workspace, command: str = WRITING) -> ToolCall:
    return ToolCall.of(TOOLS["Bash"], {"command": command}, workspace.root)


def tool(workspace: Workspace, name: str, **arguments: Any) -> ToolCall:
    known = TOOLS[name]
    return ToolCall.of(known, known.normalise(arguments, workspace.root, workspace.home), workspace.root)


def write(workspace: Workspace, path: str) -> ToolCall:
    return tool(workspace, "Write", file_path=path, content="x")


# ── 1: deny ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("hook", [NO_OPINION, Allow(), Ask("q"), Defer()])
def test_1_a_deny_rule_beats_every_mode_and_every_hook(workspace: Workspace, mode: Mode, hook: Decision) -> None:
    denied = rules(deny=["Bash(echo *)"], allow=["Bash"])
    call = bash(workspace)
    verdict = decide(call, mode, denied, hook, workspace)
    text = f"Bash with command {call.input['command']} has been denied by the rule Bash(echo *) (cliArg)."
    assert verdict == Refuse(f"Permission to use {text}", By.RULE)


def test_1_any_part_of_a_command_is_enough_for_a_deny_rule(workspace: Workspace) -> None:
    denied = rules(deny=["Bash(rm *)"], allow=["Bash"])
    assert isinstance(decide(bash(workspace, "ls && rm x"), Mode.BYPASS, denied, NO_OPINION, workspace), Refuse)
    assert isinstance(decide(bash(workspace, "ls && mv x y"), Mode.BYPASS, denied, NO_OPINION, workspace), Permit)


@pytest.mark.parametrize("mode", Mode)
def test_1_a_hooks_deny_refuses(workspace: Workspace, mode: Mode) -> None:
    verdict = decide(bash(workspace), mode, rules(allow=["Bash"]), Deny("no"), workspace)
    assert verdict == Refuse("no", By.HOOK)


def test_1_a_read_rule_also_keeps_searches_out(workspace: Workspace) -> None:
    denied = rules(deny=["Read(secret/**)"])
    call = tool(workspace, "Grep", pattern="x", path="secret")
    assert isinstance(decide(call, Mode.DEFAULT, denied, NO_OPINION, workspace), Refuse)


# ── 2 and 3: asking ─────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.DONT_ASK])
def test_2_a_hooks_ask_asks_in_every_mode_with_the_reason_alone(workspace: Workspace, mode: Mode) -> None:
    verdict = decide(bash(workspace), mode, rules(allow=["Bash"]), Ask("REASON-hmm"), workspace)
    assert isinstance(verdict, AskUser)
    assert (verdict.reason, verdict.by) == ("REASON-hmm", By.HOOK)


def test_2_in_dont_ask_a_hooks_ask_is_a_denial_with_the_same_words(workspace: Workspace) -> None:
    verdict = decide(bash(workspace), Mode.DONT_ASK, rules(allow=["Bash"]), Ask("REASON-hmm"), workspace)
    assert verdict == Refuse("REASON-hmm", By.MODE)


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode is not Mode.DONT_ASK])
@pytest.mark.parametrize("hook", [NO_OPINION, Allow()])
def test_3_an_ask_rule_asks_whatever_else_allows(workspace: Workspace, mode: Mode, hook: Decision) -> None:
    asked = rules(ask=["Bash(echo *)"], allow=["Bash", "Bash(echo *)"])
    verdict = decide(bash(workspace), mode, asked, hook, workspace)
    assert isinstance(verdict, AskUser)
    assert verdict.by is By.RULE
    assert "ask rule Bash(echo *)" in verdict.reason


def test_3_a_deny_rule_that_cannot_be_sure_asks(workspace: Workspace) -> None:
    verdict = decide(bash(workspace, "$X -rf /"), Mode.BYPASS, rules(deny=["Bash(rm *)"]), Allow(), workspace)
    assert isinstance(verdict, AskUser)
    assert "may apply to it" in verdict.reason


def test_3_what_rules_hold_can_be_asked_alone(workspace: Workspace) -> None:
    call = bash(workspace)
    assert guard(call, rules(allow=["Bash"]), workspace) is None
    assert isinstance(guard(call, rules(deny=["Bash"]), workspace), Refuse)
    assert isinstance(guard(call, rules(ask=["Bash"]), workspace), AskUser)


# ── 4 and 5: bypass and plan ────────────────────────────────────────────────


def test_4_bypass_permits_what_nobody_holds(workspace: Workspace) -> None:
    for call in (bash(workspace), write(workspace, "/etc/x"), write(workspace, ".git/config")):
        assert decide(call, Mode.BYPASS, Rules(), NO_OPINION, workspace) == Permit("bypassPermissions")


@pytest.mark.parametrize("hook", [NO_OPINION, Allow()])
def test_5_plan_refuses_what_does_more_than_read(workspace: Workspace, hook: Decision) -> None:
    allowed = rules(allow=["Write", "Bash"])
    verdict = decide(bash(workspace), Mode.PLAN, allowed, hook, workspace)
    assert isinstance(verdict, Refuse)
    assert verdict.by is By.CLASSIFIER
    call = write(workspace, "w.txt")
    verdict = decide(call, Mode.PLAN, allowed, hook, workspace)
    assert verdict == AskUser(f"Cannot write to {call.path} while in plan mode.", By.MODE)


def test_5_plan_lets_read(workspace: Workspace) -> None:
    for call in (tool(workspace, "Read", file_path="f"), tool(workspace, "TaskList"), bash(workspace, "ls -la")):
        assert isinstance(decide(call, Mode.PLAN, Rules(), NO_OPINION, workspace), Permit)
    outside = tool(workspace, "Read", file_path="/etc/passwd")
    assert isinstance(decide(outside, Mode.PLAN, Rules(), NO_OPINION, workspace), AskUser)


# ── 6: sensitive files ──────────────────────────────────────────────────────

SENSITIVE = [".git/config", ".claude/settings.json", "sub/.claude/x", ".CLAUDE/settings.json", ".mcp.json", "~/.bashrc"]
SENSITIVE += [".claude/agents/a.md"]
OPEN = [".claude/skills/s/SKILL.md", ".gitignore", "git/config", ".claude-notes", ".claudex/y"]


@pytest.mark.parametrize("hook", [NO_OPINION, Allow()])
@pytest.mark.parametrize(("command", "asked"), [("echo a &", True), ("ls & pwd", True), ("(echo a &); ls", False)])
def test_6_a_command_that_runs_on_is_asked_about(
    workspace: Workspace, command: str, asked: bool, hook: Decision
) -> None:
    for mode in (Mode.DEFAULT, Mode.ACCEPT_EDITS):
        verdict = decide(bash(workspace, command), mode, rules(allow=["Bash"]), hook, workspace)
        assert isinstance(verdict, AskUser) is asked
    assert isinstance(decide(bash(workspace, command), Mode.BYPASS, Rules(), hook, workspace), Permit)


@pytest.mark.parametrize("path", SENSITIVE)
@pytest.mark.parametrize("mode", ASKING)
@pytest.mark.parametrize("hook", [NO_OPINION, Allow()])
def test_6_a_sensitive_file_is_asked_about(workspace: Workspace, path: str, mode: Mode, hook: Decision) -> None:
    verdict = decide(write(workspace, path), mode, rules(allow=["Write", "Edit"]), hook, workspace)
    assert isinstance(verdict, AskUser)
    assert "sensitive" in verdict.reason


def test_6_auto_and_dont_ask_permit_no_sensitive_file_either(workspace: Workspace) -> None:
    call = write(workspace, ".git/config")
    assert isinstance(decide(call, Mode.AUTO, Rules(), Allow(), workspace), Classify)
    assert isinstance(decide(call, Mode.DONT_ASK, rules(allow=["Write"]), Allow(), workspace), Refuse)


def test_6_a_rule_that_names_the_file_permits(workspace: Workspace) -> None:
    named = rules(allow=["Edit(.claude/**)"])
    verdict = decide(write(workspace, ".claude/settings.json"), Mode.DEFAULT, named, NO_OPINION, workspace)
    assert verdict == Permit("allow rule for a sensitive file")
    broad = rules(allow=["Edit(**)", "Write(*)", "Edit(//**)"])
    verdict = decide(write(workspace, ".claude/settings.json"), Mode.DEFAULT, broad, NO_OPINION, workspace)
    assert isinstance(verdict, AskUser)


@pytest.mark.parametrize("path", OPEN)
def test_6_other_files_are_not_sensitive(workspace: Workspace, path: str) -> None:
    assert decide(write(workspace, path), Mode.DEFAULT, Rules(), Allow(), workspace) == Permit("hook")


def test_6_a_link_does_not_hide_a_sensitive_file(workspace: Workspace) -> None:
    root = Path(workspace.root)
    (root / ".git").mkdir()
    (root / "innocent").symlink_to(root / ".git")
    assert isinstance(decide(write(workspace, "innocent/config"), Mode.DEFAULT, Rules(), Allow(), workspace), AskUser)


def test_6_a_workspace_inside_such_a_folder_is_not_sensitive_as_a_whole(tmp_path: Path) -> None:
    root = tmp_path / ".claude" / "worktrees" / "w"
    root.mkdir(parents=True)
    inside = Workspace(root=str(root), home="/h")
    assert isinstance(decide(write(inside, "f"), Mode.ACCEPT_EDITS, Rules(), NO_OPINION, inside), Permit)
    assert isinstance(decide(write(inside, ".git/f"), Mode.ACCEPT_EDITS, Rules(), NO_OPINION, inside), AskUser)


def test_5_a_tool_of_a_server_is_asked_about_in_plan_mode(workspace: Workspace) -> None:
    call = msgspec.structs.replace(tool(workspace, "TaskList"), tool="mcp__a__b", effect=Effect.OTHER)
    asked = AskUser("Cannot call mcp__a__b while in plan mode.", By.MODE)
    assert decide(call, Mode.PLAN, rules(allow=["mcp__a__b"]), Allow(), workspace) == asked


# ── 7 and 8: allowing ───────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.DONT_ASK, Mode.AUTO])
def test_7_a_hooks_allow_permits(workspace: Workspace, mode: Mode) -> None:
    assert decide(bash(workspace), mode, Rules(), Allow(), workspace) == Permit("hook")


@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.DONT_ASK, Mode.AUTO])
def test_8_an_allow_rule_permits(workspace: Workspace, mode: Mode) -> None:
    assert decide(bash(workspace), mode, rules(allow=["Bash"]), NO_OPINION, workspace) == Permit("allow rule")


def test_8_every_part_of_a_command_needs_a_rule(workspace: Workspace) -> None:
    call = bash(workspace, "make all && npm test")
    half, both = rules(allow=["Bash(make *)"]), rules(allow=["Bash(make *)", "Bash(npm test)"])
    assert isinstance(decide(call, Mode.DEFAULT, half, NO_OPINION, workspace), AskUser)
    assert isinstance(decide(call, Mode.DEFAULT, both, NO_OPINION, workspace), Permit)


def test_8_edit_rules_cover_write_and_are_anchored_where_they_were_said(workspace: Workspace) -> None:
    allowed = rules(allow=["Edit(/src/**)"])
    assert isinstance(decide(write(workspace, "src/a.py"), Mode.DEFAULT, allowed, NO_OPINION, workspace), Permit)
    assert isinstance(decide(write(workspace, "docs/a.py"), Mode.DEFAULT, allowed, NO_OPINION, workspace), AskUser)


def test_8_a_server_rule_covers_its_tools(workspace: Workspace) -> None:
    call = ToolCall(tool="mcp__fake__echo", input={}, effect=Effect.OTHER, cwd=workspace.root)
    assert isinstance(decide(call, Mode.DEFAULT, rules(allow=["mcp__fake"]), NO_OPINION, workspace), Permit)
    assert isinstance(decide(call, Mode.DEFAULT, rules(allow=["mcp__other"]), NO_OPINION, workspace), AskUser)


# ── 9 to 11: without a rule ─────────────────────────────────────────────────


@pytest.mark.parametrize("mode", Mode)
def test_9_reading_inside_and_session_tools_need_no_rule(workspace: Workspace, mode: Mode) -> None:
    calls = [
        tool(workspace, "Read", file_path="f.txt"),
        tool(workspace, "Glob", pattern="*"),
        tool(workspace, "Grep", pattern="x"),
        tool(workspace, "Read", file_path=f"{workspace.readable[0]}/tasks/b1.output"),
        tool(workspace, "TaskCreate", subject="s", description="d"),
    ]
    assert [type(decide(call, mode, Rules(), NO_OPINION, workspace)) for call in calls] == [Permit] * 5


def test_9_reading_outside_is_asked_about(workspace: Workspace) -> None:
    verdict = decide(tool(workspace, "Read", file_path="/etc/passwd"), Mode.DEFAULT, Rules(), NO_OPINION, workspace)
    assert isinstance(verdict, AskUser)
    assert "/etc/passwd is outside the working directories" in verdict.reason
    (Path(workspace.root) / "link").symlink_to("/etc")
    through = tool(workspace, "Read", file_path="link/passwd")
    assert isinstance(decide(through, Mode.DEFAULT, Rules(), NO_OPINION, workspace), AskUser)


def test_10_accept_edits_permits_edits_inside(workspace: Workspace, tmp_path: Path) -> None:
    outside = write(workspace, str(tmp_path / "other" / "f"))
    assert isinstance(decide(write(workspace, "new/f"), Mode.ACCEPT_EDITS, Rules(), NO_OPINION, workspace), Permit)
    assert isinstance(decide(outside, Mode.ACCEPT_EDITS, Rules(), NO_OPINION, workspace), AskUser)
    wider = Workspace(root=workspace.root, home="/h", added=(str(tmp_path / "other"),))
    assert isinstance(decide(outside, Mode.ACCEPT_EDITS, Rules(), NO_OPINION, wider), Permit)
    for mode, kind in ((Mode.DEFAULT, AskUser), (Mode.AUTO, Permit), (Mode.DONT_ASK, Refuse)):
        assert isinstance(decide(write(workspace, "f"), mode, Rules(), NO_OPINION, workspace), kind)


def test_10_accept_edits_permits_moving_files_about(workspace: Workspace) -> None:
    moving, running = bash(workspace, "mkdir -p a && touch a/b"), bash(workspace, "make")
    assert isinstance(decide(moving, Mode.ACCEPT_EDITS, Rules(), NO_OPINION, workspace), Permit)
    assert isinstance(decide(moving, Mode.DEFAULT, Rules(), NO_OPINION, workspace), AskUser)
    assert isinstance(decide(running, Mode.ACCEPT_EDITS, Rules(), NO_OPINION, workspace), AskUser)


def test_11_everything_else_is_asked_judged_or_refused(workspace: Workspace) -> None:
    call = bash(workspace)
    asked = decide(call, Mode.DEFAULT, Rules(), NO_OPINION, workspace)
    assert isinstance(asked, AskUser)
    assert (asked.reason, asked.by) == ("This command requires approval.", By.MODE)
    assert decide(call, Mode.AUTO, Rules(), NO_OPINION, workspace) == Classify(call)
    refused = decide(call, Mode.DONT_ASK, Rules(), NO_OPINION, workspace)
    assert refused == Refuse(NOT_ASKED.format(tool="Bash"), By.MODE)
    plain = msgspec.structs.replace(tool(workspace, "TaskList"), tool="Skill", input={"skill": "s"})
    assert isinstance(decide(plain, Mode.DONT_ASK, Rules(), NO_OPINION, workspace), Permit)
    skill = msgspec.structs.replace(plain, effect=Effect.OTHER)
    assert decide(skill, Mode.DONT_ASK, Rules(), NO_OPINION, workspace) == Refuse(
        NOT_ASKED.format(tool="Skill"), By.MODE
    )
    for rule, ruling in (("Skill", Permit), ("Skill(s)", Permit), ("Skill(s:*)", Permit), ("Skill(t)", AskUser)):
        assert isinstance(decide(skill, Mode.DEFAULT, rules(allow=[rule]), NO_OPINION, workspace), ruling)


# ── all of it ───────────────────────────────────────────────────────────────

CALLS = st.sampled_from(
    [
        ("Bash", {"command": "ls"}),
        ("Bash", {"command": "make && rm -rf x"}),
        ("Bash", {"command": "echo $(date)"}),
        ("Write", {"file_path": "f", "content": ""}),
        ("Write", {"file_path": ".git/config", "content": ""}),
        ("Write", {"file_path": "/etc/f", "content": ""}),
        ("Read", {"file_path": "f"}),
        ("Read", {"file_path": "/etc/f"}),
        ("WebFetch", {"url": "https://x.com", "prompt": "p"}),
        ("TaskList", {}),
    ]
)
TEXTS = st.lists(
    st.sampled_from(["Bash", "Bash(ls *)", "Bash(rm *)", "Write", "Edit(.git/**)", "Read(//etc/**)", "WebFetch"]),
    max_size=2,
)
HOOKS = st.sampled_from([NO_OPINION, Allow(), Ask("q"), Deny("d"), Defer()])
PLACE = Workspace(root="/nowhere/project", home="/nowhere")


def rank(verdict: Ruling) -> int:
    return {Refuse: 0, AskUser: 1, Classify: 1, Permit: 2}[type(verdict)]


@given(CALLS, st.sampled_from(list(Mode)), TEXTS, TEXTS, TEXTS, HOOKS)
def test_laws_over_everything(
    call: tuple[str, dict[str, Any]], mode: Mode, allow: list[str], ask: list[str], deny: list[str], hook: Decision
) -> None:
    asked = tool(PLACE, call[0], **call[1])
    given_rules = rules(allow=allow, ask=ask, deny=deny)
    verdict = decide(asked, mode, given_rules, hook, PLACE)
    held = guard(asked, given_rules, PLACE)
    # Nothing is above a deny rule, and nothing permits what an ask rule or a hook holds.
    if isinstance(held, Refuse):
        assert verdict == held
    if held is not None or isinstance(hook, Ask | Deny):
        assert not isinstance(verdict, Permit)
    # In dontAsk nobody is asked, and only auto has a classifier.
    assert not (mode is Mode.DONT_ASK and isinstance(verdict, AskUser | Classify))
    assert mode is Mode.AUTO or not isinstance(verdict, Classify)
    # A hook's allow never makes things worse, and never does more than no opinion does in plan mode.
    plain = decide(asked, mode, given_rules, NO_OPINION, PLACE)
    approved = decide(asked, mode, given_rules, Allow(), PLACE)
    assert rank(approved) >= rank(plain)
    if mode is Mode.PLAN and asked.effect is not Effect.READ:
        assert rank(approved) == rank(plain)
    # More deny rules never permit more, more allow rules never less.
    stricter, looser = (given_rules.plus(rules(**{kind: ["Bash", "Edit"]}).listed) for kind in ("deny", "allow"))
    assert rank(decide(asked, mode, stricter, hook, PLACE)) <= rank(verdict)
    assert rank(decide(asked, mode, looser, hook, PLACE)) >= rank(verdict)
    # Bypass permits whatever any other mode permits.
    assert rank(decide(asked, Mode.BYPASS, given_rules, hook, PLACE)) >= (2 if isinstance(verdict, Permit) else 0)
