"""The small parts of the agent: skills that expand, instructions that import, watched files, names of models."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookwright.agent.headless.control import read_prompt
from hookwright.agent.state.components import Skill, given_agents
from hookwright.agent.state.inbox import Prompt
from hookwright.agent.state.instructions import MAX_DEPTH, Instructions
from hookwright.agent.subagents.worktrees import WorktreeFailed, checked
from hookwright.agent.turn.submission import typed_command
from hookwright.agent.turn.watch import FileChange, Watch, watched_names
from hookwright.errors import ConfigError
from hookwright.hookset import HookSet
from hookwright.protocol.handlers import MatcherGroup
from hookwright.protocol.matched import has_effort
from support import command

# ── skills and agents ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "arguments", "expanded"),
    [
        ("Say hello to $ARGUMENTS\n", "Bob and Eve", "Say hello to Bob and Eve\n"),
        ("From $0 to $1, not $2.", "'a b' c", "From a b to c, not $2."),
        ("Greet $1 now\n", "Bob", "Greet $1 now\n\n\nARGUMENTS: Bob"),
        ("First: $ARGUMENTS[0]", "x y", "First: x"),
        ("No place.\n", "extra", "No place.\n\n\nARGUMENTS: extra"),
        ("No place.\n", "", "No place.\n"),
        ("Odd $0", "it's", "Odd it's"),
    ],
)
def test_a_skill_expands(body: str, arguments: str, expanded: str) -> None:
    skill = Skill(name="s", description="", body=body, path="/s.md", source="userSettings")
    assert skill.expand(arguments) == expanded


@pytest.mark.parametrize(
    ("prompt", "name", "arguments"),
    [
        ("/greet Bob", "greet", "Bob"),
        ("  /plugin:cmd  a\nb ", "plugin:cmd", "a\nb"),
        ("/usr/bin is full", None, ""),
        ("say /greet", None, ""),
        ("/", None, ""),
    ],
)
def test_a_typed_command_is_told_from_words(prompt: str, name: str | None, arguments: str) -> None:
    typed = typed_command(prompt)
    assert (typed.name if typed else None, typed.arguments if typed else "") == (name, arguments)


def test_given_agents_are_read() -> None:
    text = '{"a": {"prompt": "P", "description": "D", "tools": "Read, Grep", "model": "inherit", "maxTurns": 3}}'
    agent = given_agents(text)["a"]
    assert (agent.prompt, agent.tools, agent.model, agent.max_turns) == ("P", ("Read", "Grep"), None, 3)


@pytest.mark.parametrize("text", ["[", "[]", '{"a": 1}', '{"a": {"description": "no prompt"}}'])
def test_given_agents_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--agents"):
        given_agents(text)


def test_a_broken_hook_of_a_given_agent_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"--agents: a: .*comand"):
        given_agents('{"a": {"prompt": "P", "hooks": {"Stop": [{"hooks": [{"type": "comand"}]}]}}}')


# ── instructions ────────────────────────────────────────────────────────────


def instructions(root: Path) -> Instructions:
    return Instructions(str(root), str(root), str(root / "config"), str(root / "home"))


def test_imports_end_and_go_in_circles_only_once(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("@0.md @CLAUDE.md @~/mine.md")
    for number in range(MAX_DEPTH + 3):
        (tmp_path / f"{number}.md").write_text(f"@{number + 1}.md @0.md")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mine.md").write_text("mine")
    found = instructions(tmp_path).at_start()
    names = [os.path.basename(one.path) for one in found]
    assert names == ["CLAUDE.md", *(f"{number}.md" for number in range(MAX_DEPTH)), "mine.md"]


def test_each_file_is_given_once_until_the_session_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "CLAUDE.md").write_text("A")
    (tmp_path / "a" / "b" / "CLAUDE.local.md").write_text("B")
    found = instructions(tmp_path)
    assert found.at_start() == []
    first = found.for_file(str(tmp_path / "a" / "b" / "f.txt"))
    assert [(one.text, one.memory_type) for one in first] == [("A", "Project"), ("B", "Local")]
    assert found.for_file(str(tmp_path / "a" / "b" / "g.txt")) == []
    assert found.for_file(str(tmp_path.parent / "elsewhere.txt")) == []
    found.at_start()
    assert len(found.for_file(str(tmp_path / "a" / "f.txt"))) == 1


# ── files, worktrees, models, lines ─────────────────────────────────────────


def test_a_watch_tells_what_became_of_a_file(tmp_path: Path) -> None:
    watch, name = Watch(), "f.txt"
    path = tmp_path / name

    def look() -> list[FileChange]:
        return watch.look(str(tmp_path), [name], [])

    assert look() == []
    path.write_text("1")
    assert look() == [FileChange(str(path), "add")]
    path.write_text("two")
    assert look() == [FileChange(str(path), "change")]
    assert look() == []
    path.unlink()
    assert look() == [FileChange(str(path), "unlink")]


def test_matchers_name_the_files_to_watch() -> None:
    texts = (".env|.envrc", None, "", ".env")
    groups = [MatcherGroup("FileChanged", text, (command(f"h{place}"),)) for place, text in enumerate(texts)]
    assert watched_names(HookSet.build(groups)) == (".env", ".envrc")


def test_the_path_of_a_worktree_is_looked_at(tmp_path: Path) -> None:
    base = tmp_path / "repo"
    (base / "real").mkdir(parents=True)
    (base / "link").symlink_to(tmp_path)
    assert checked("real", str(base)) == str(base / "real")
    assert checked(str(tmp_path), str(base)) == str(tmp_path)
    for path, why in ((f"{base}/../repo", "refused"), ("link", "through a link"), ("none", "no such directory")):
        with pytest.raises(WorktreeFailed, match=why):
            checked(path, str(base))


@pytest.mark.parametrize(
    ("model", "has"),
    [
        ("claude-opus-5-5", True),
        ("claude-sonnet-4-5", False),
        ("claude-opus-4-5-20251101", True),
        ("claude-3-5-haiku-latest", False),
        ("us.anthropic.claude-sonnet-5-5-v1:0", True),
        ("gpt-9", False),
        ("scripted", False),
    ],
)
def test_which_models_take_an_effort(model: str, has: bool) -> None:
    assert has_effort(model) is has


def test_the_words_of_a_user_line() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert read_prompt({"message": {"role": "user", "content": "plain"}}) == Prompt("plain", joins=True)
    assert read_prompt({"message": {"content": blocks}}) == Prompt("a\nb", ({"type": "image"},), joins=True)
    assert read_prompt({"message": 3, "client_composed": True}) == Prompt("", verbatim=True, joins=True)
