"""Options of the Agent SDK: what they do, what is refused and what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import ProcessError

from sdk.bench import PROGRAM, Bench, Guard, Heard, bash, refused, said, text, tool, works

ALLOWED = ["Bash", "Agent"]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# ── two sessions, most options ──────────────────────────────────────────────


def touching(name: str) -> dict[str, Any]:
    """Return settings whose UserPromptSubmit hook makes a file."""
    return {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": f"touch {name}"}]}]}}


class Chosen:
    """A session with many options, started as the installed program itself."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        bench.settings(touching("project.txt"))
        bench.file("plugin/.claude-plugin/plugin.json", '{"name": "plug"}')
        bench.file("plugin/skills/deed/SKILL.md", "---\nname: deed\ndescription: d\n---\nDo it.\n")
        self.other = bench.home / "other"
        self.other.mkdir()
        write = tool("Write", file_path=str(self.other / "new.txt"), content="w")
        turns = [[write, bash("rm -r .claude")], [text("saw it")]]
        route = {"name": "r", "match": "APPENDED", "on": "system", "turns": turns}
        bench.play([text("missed it")], routes=[route])
        self.heard: Heard = bench.ask(
            "go",
            cli_path=PROGRAM,
            extra_args={"script": str(bench.script)},
            settings=json.dumps({"permissions": {"deny": ["Bash(rm *)"]}, **touching("inline.txt")}),
            setting_sources=["user"],
            plugins=[{"type": "local", "path": str(bench.project / "plugin")}],
            add_dirs=[self.other],
            permission_mode="acceptEdits",
            system_prompt={"type": "preset", "preset": "claude_code", "append": "APPENDED"},
            tools={"type": "preset", "preset": "claude_code"},
            allowed_tools=ALLOWED,
        )


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Chosen:
    return Chosen(Bench(tmp_path_factory.mktemp("chosen")))


@works("cli-path", "query-text", "system-prompt-append")
def test_the_program_itself_is_a_cli_path(chosen: Chosen) -> None:
    assert chosen.heard.texts == ["saw it"]


@works("settings-json")
def test_settings_as_json_apply(chosen: Chosen) -> None:
    assert chosen.bench.exists("inline.txt")
    assert chosen.bench.exists(".claude")
    assert "denied" in str(chosen.heard.tool_results[1].content)


@works("setting-sources")
def test_only_the_named_sources_apply(chosen: Chosen) -> None:
    assert not chosen.bench.exists("project.txt")


@works("plugins")
def test_a_plugin_adds_its_skills(chosen: Chosen) -> None:
    assert "plug:deed" in chosen.heard.system("init")[0]["skills"]


@works("add-dirs", "permission-mode")
def test_added_directories_are_working_directories(chosen: Chosen) -> None:
    assert (chosen.other / "new.txt").read_text() == "w"
    assert chosen.heard.system("init")[0]["permissionMode"] == "acceptEdits"


@works("tools-preset")
def test_the_preset_of_tools_offers_all(chosen: Chosen) -> None:
    assert {"Bash", "Read"} <= set(chosen.heard.system("init")[0]["tools"])


@works("settings-file", "system-prompt-text", "tools-list")
def test_settings_can_be_a_file_and_an_empty_list_of_tools_offers_none(bench: Bench) -> None:
    bench.settings(touching("project.txt"))
    path = bench.file("more.json", json.dumps(touching("file.txt")))
    bench.play([text("missed")], routes=[{"name": "r", "match": "ONLY-THIS", "on": "system", "turns": [[text("saw")]]}])
    heard = bench.ask("go", settings=str(path), tools=[], system_prompt="ONLY-THIS", setting_sources=["project"])
    assert (bench.exists("project.txt"), bench.exists("file.txt")) == (True, True)
    assert heard.system("init")[0]["tools"] == []
    assert heard.texts == ["saw"]


@works("disallowed-tools", "system-prompt-file")
def test_a_disallowed_tool_is_not_offered_and_a_system_prompt_can_be_a_file(bench: Bench) -> None:
    path = bench.file("prompt.txt", "FROM-A-FILE")
    turns = [[bash("touch ran.txt")], [text("saw it")]]
    bench.play([text("missed it")], routes=[{"name": "r", "match": "FROM-A-FILE", "on": "system", "turns": turns}])
    prompt: Any = {"type": "file", "path": str(path)}
    heard = bench.ask("go", disallowed_tools=["Bash"], allowed_tools=["Bash"], system_prompt=prompt)
    assert "Bash" not in heard.system("init")[0]["tools"]
    assert not bench.exists("ran.txt")
    assert heard.texts == ["saw it"]


# ── what is refused, and what is said ───────────────────────────────────────


SANDBOX = {"sandbox": {"enabled": True}}
STRICT = {"sandbox": {"enabled": True, "failIfUnavailable": True}}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        pytest.param(SANDBOX, "cannot be run in a sandbox", marks=refused("sandbox")),
        pytest.param({"settings": "sandbox.json"}, "cannot be run in a sandbox", marks=refused("sandbox-settings")),
        pytest.param({}, "sandbox.failIfUnavailable", marks=refused("sandbox-required")),
        pytest.param(
            {"max_budget_usd": 1.0, "model": "some-model"},
            "the price of some-model is not known",
            marks=refused("max-budget-unknown"),
        ),
        ({"permission_mode": "bogus"}, "--permission-mode bogus"),
        ({"disallowed_tools": ["Bash(ls *"]}, "--disallowedTools"),
        ({"tools": ["Nope"]}, "there is no tool Nope"),
        ({"permission_prompt_tool_name": "mcp__no__tool"}, "no MCP server has this tool"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_runs(bench: Bench, more: dict[str, Any], words: str) -> None:
    bench.play([bash("touch ran.txt")], [text("end")])
    bench.file("sandbox.json", json.dumps(SANDBOX))
    if not more:
        bench.settings(STRICT)
    lines: list[str] = []
    guard = Guard()
    with pytest.raises(ProcessError):
        bench.ask("go", allowed_tools=ALLOWED, hooks=guard.on("SessionStart"), stderr=lines.append, **more)
    assert words in "\n".join(lines)
    assert guard.asked == []
    assert not bench.exists("ran.txt")


@said("sandbox-enabled", "enable-file-checkpointing", "exclude-dynamic-sections", "system-prompt-snapshot")
def test_what_has_no_effect_is_said_once(bench: Bench) -> None:
    bench.settings(SANDBOX)
    bench.play([text("one")], [text("two")])
    lines: list[str] = []
    prompts = [{"type": "user", "message": {"role": "user", "content": words}} for words in ("1", "2")]
    preset: Any = {"type": "preset", "preset": "claude_code", "exclude_dynamic_sections": True, "snapshot": True}
    heard = bench.ask(prompts, enable_file_checkpointing=True, system_prompt=preset, stderr=lines.append)
    assert len(heard.results) == 2
    on_stderr = "\n".join(lines)
    notes = [line["content"] for line in heard.system("informational")]
    for words in ("commands cannot be run in a sandbox here", "File checkpoints are not kept here"):
        assert on_stderr.count(words) == 1
        assert sum(words in note for note in notes) == 1
    for words in ("excludeDynamicSections has no effect here", "systemPromptSnapshot has no effect here"):
        assert on_stderr.count(words) == 1
