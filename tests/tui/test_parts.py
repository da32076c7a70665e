"""The parts that dialogs and the prompt are made of, without a screen."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookwright.agent.state.session import Permission, PermissionQuestion
from hookwright.background import Background
from hookwright.config import Places
from hookwright.config.locations import Surroundings
from hookwright.config.trust import TrustPolicy
from hookwright.engine import HookEngine
from hookwright.executors.command import CommandExecutor
from hookwright.protocol.events import CATALOGUE
from hookwright.protocol.handlers import Kind
from hookwright.protocol.samples import sample
from hookwright.session import survey
from hookwright.tui.chat.choices import (
    Always,
    ByRule,
    Once,
    RefuseChoice,
    RefuseWithWords,
    covered,
    offers,
    reply,
    split_rule,
)
from hookwright.tui.chat.complete import project_files, ranked, suggestions
from hookwright.tui.chat.forms import Unfit, fields, value_of
from hookwright.tui.chat.history import History
from hookwright.tui.feed.activity import Activity
from hookwright.tui.feed.diffs import input_diff
from hookwright.tui.feed.entries import as_json, details, head_counts, listed, row, sample_for, try_out
from hookwright.tui.widgets.markdown import MarkdownPainter, blocks
from hookwright.tui.widgets.palette import DARK, LIGHT, MONO, wanted_theme
from support import script, settings

RULES = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls *"}], "behavior": "allow"}


def question(**fields: Any) -> PermissionQuestion:
    return PermissionQuestion(**{"tool_name": "Bash", "tool_input": {"command": "ls -l"}, "tool_use_id": "1", **fields})


# ── what a dialog offers ────────────────────────────────────────────────────


def test_a_question_offers_once_session_rule_and_two_ways_to_say_no() -> None:
    found = offers(question(suggestions=({**RULES, "destination": "localSettings"},)), "/p", by_hook=False)
    assert [offer.text for offer in found] == [
        "Allow once",
        "Allow for this session: Bash(ls *)",
        "Allow by rule: Bash(ls *) …",
        "Deny",
        "Deny with a message …",
    ]
    assert found[1].choice == Always(({**RULES, "destination": "session"},))


def test_a_hooks_question_and_one_without_suggestions_offer_no_rules() -> None:
    asked = question(suggestions=({**RULES, "destination": "localSettings"},))
    for found in (offers(asked, "/p", by_hook=True), offers(question(), "/p", by_hook=False)):
        assert [type(offer.choice) for offer in found] == [Once, RefuseChoice, RefuseWithWords]


@pytest.mark.parametrize(
    ("path", "rule"),
    [("/p/src/a/b.py", "Edit(/src/a/**)"), ("/p/b.py", "Edit(/**)"), ("/etc/hosts", "Edit(//etc/**)")],
)
def test_the_rule_for_a_file_covers_its_folder(path: str, rule: str) -> None:
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    asked = question(tool_name="Edit", tool_input={"file_path": path}, suggestions=(mode,))
    assert offers(asked, "/p", by_hook=False)[2].choice == ByRule(rule)
    assert covered(mode) == "edits without asking"


def test_every_choice_is_a_reply() -> None:
    kept = {**RULES, "destination": "localSettings"}
    assert reply(Once()) == Permission(allow=True)
    assert reply(Always((RULES,))) == Permission(allow=True, updated_permissions=(RULES,))
    assert reply(ByRule("Bash"), "Bash(ls *)") == Permission(allow=True, updated_permissions=(kept,))
    assert reply(RefuseChoice()) == Permission(allow=False)
    assert reply(RefuseWithWords(), " do not ") == Permission(allow=False, message="do not")


@given(st.from_regex(r"[A-Za-z_]+", fullmatch=True), st.none() | st.text())
def test_a_rule_comes_apart_as_it_was_put_together(tool: str, content: str | None) -> None:
    text = tool if content is None else f"{tool}({content})"
    expected = {"toolName": tool} if content is None else {"toolName": tool, "ruleContent": content}
    assert split_rule(text) == expected


def test_the_diff_of_an_input_names_only_what_changed() -> None:
    lines = list(input_diff({"command": "a\nb", "same": 1, "gone": True}, {"command": "a\nc", "same": 1}))
    assert ["".join(text for _, text in line) for line in lines] == [
        "command",
        "- a",
        "- b",
        "+ a",
        "+ c",
        "gone",
        "- true",
    ]


# ── the prompt ──────────────────────────────────────────────────────────────


def test_commands_are_completed_at_the_start_and_files_anywhere() -> None:
    skills = {"greet": "say hello"}
    files = ["README.md", "src/app.py", "src/parser.py", "tests/test_parser.py"]
    assert [one.text for one in suggestions("/h", skills, files)][:2] == ["/help ", "/hooks "]
    assert [one.label for one in suggestions("/gr", skills, files)] == ["/greet"]
    assert [one.text for one in suggestions("look at @pars", skills, files)] == [
        "look at @src/parser.py ",
        "look at @tests/test_parser.py ",
    ]
    assert suggestions("mail me@example", skills, files) == []
    assert suggestions("not /help", skills, files) == []
    assert suggestions("plain words", skills, files) == []


def test_the_likeliest_name_comes_first() -> None:
    names = ["docs/app.md", "app.py", "src/app/core.py", "a/p/p.txt", "zebra"]
    assert ranked("app", names) == ["app.py", "docs/app.md", "src/app/core.py", "a/p/p.txt"]


def test_files_of_a_folder_without_git_are_found_and_odd_names_left_out(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.py", "node_modules/c.js", "with space.txt", "odd\x1b[2J.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert project_files(str(tmp_path)) == ["a.py", "sub/b.py"]


def test_history_goes_back_and_forth_and_keeps_the_draft(tmp_path: Path) -> None:
    path = str(tmp_path / "state" / "history.jsonl")
    history = History(path, "/here")
    for text in ("one", "two\nlines", "two\nlines", "three"):
        history.add(text)
    History(path, "/elsewhere").add("not mine")
    again = History(path, "/here")
    assert [again.back("draft"), again.back(""), again.back(""), again.back("")] == ["three", "two\nlines", "one", None]
    assert [again.forth(), again.forth(), again.forth(), again.forth()] == ["two\nlines", "three", "draft", None]
    assert os.stat(path).st_mode & 0o077 == 0


def test_a_history_that_cannot_be_written_or_read_is_no_reason_to_fail(tmp_path: Path) -> None:
    broken = tmp_path / "history.jsonl"
    broken.write_bytes(b'{"cwd": "/here", "text": "kept"}\n\xff\xfe{]\n{"cwd": "/here"}\n')
    assert History(str(broken), "/here").back("") == "kept"
    (tmp_path / "file").write_text("")
    history = History(str(tmp_path / "file" / "history.jsonl"), "/here")
    history.add("said")
    assert history.back("") == "said"


# ── forms of servers ────────────────────────────────────────────────────────

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name"},
        "age": {"type": "integer"},
        "size": {"type": "number", "default": 1.5},
        "sure": {"type": "boolean", "description": "Are you\x1b[2J sure?"},
        "colour": {"type": "string", "enum": ["red", "green"]},
    },
    "required": ["name", "sure"],
}


def test_words_become_the_values_of_a_form() -> None:
    form = {field.name: field for field in fields(SCHEMA)}
    assert [field.title for field in form.values()] == ["Your name", "age", "size", "Are you␛[2J sure?", "colour"]
    given = {"name": " Ada ", "age": "36", "size": "", "sure": "Yes", "colour": ""}
    assert {name: value_of(form[name], words) for name, words in given.items()} == {
        "name": "Ada",
        "age": 36,
        "size": 1.5,
        "sure": True,
        "colour": None,
    }
    for name, words in (("name", " "), ("age", "old"), ("sure", "perhaps"), ("colour", "blue"), ("size", "x")):
        with pytest.raises(Unfit):
            value_of(form[name], words)
    assert fields(None) == fields({"properties": []}) == []


# ── Markdown ────────────────────────────────────────────────────────────────


@given(st.lists(st.sampled_from(["words", "", "```", "~~~~", "- item", "  more", "| a |", "# head"]), max_size=30))
def test_blocks_lose_no_line_and_never_cut_a_fence(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = blocks(text)
    assert [line for block in found for line in block.split("\n") if line.strip()] == [
        line for line in text.split("\n") if line.strip()
    ]
    for block in found[:-1]:
        assert block.count("```") % 2 == 0 or "~~~~" in block


def test_no_word_of_an_answer_is_lost_to_its_markup() -> None:
    text = "a <b>bold</b> tag\n\n<script>\nalert(1)\n</script>\n\n[words](http://example.com/)\n\n- [ ] a task"
    painted = list(MarkdownPainter(DARK).lines(text, 60))
    shown = "\n".join("".join(segment.text for segment in line) for line in painted)
    for words in ("a <b>bold</b> tag", "<script>", "alert(1)", "words (http://example.com/)", "[ ] a task"):
        assert words in shown


# ── themes ──────────────────────────────────────────────────────────────────


def test_the_theme_is_asked_for_or_told_by_the_terminal() -> None:
    assert wanted_theme("auto", {}) is DARK
    assert wanted_theme("auto", {"COLORFGBG": "0;15"}) is LIGHT
    assert wanted_theme("dark", {"COLORFGBG": "0;15"}) is DARK
    assert wanted_theme("light", {"NO_COLOR": "1"}) is MONO


# ── the browser ─────────────────────────────────────────────────────────────

HANDLERS: list[dict[str, Any]] = [
    {"type": "command", "command": "./x.sh", "timeout": 5, "if": "Bash(git *)", "statusMessage": "checking"},
    {"type": "command", "command": "x", "args": ["a", "b"], "async": True, "onFailure": "block"},
    {"type": "http", "url": "http://127.0.0.1/", "headers": {"X": "$Y"}, "allowedEnvVars": ["Y"]},
    {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": "${tool_input.command}"}},
    {"type": "prompt", "prompt": "Is it safe?", "model": "haiku", "continueOnBlock": True},
    {"type": "agent", "prompt": "Look at it."},
]


def load(folder: Path) -> Any:
    return Places(project=str(folder), env={"HOME": str(folder / "home")}, trust=TrustPolicy.STORED).load()


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: f"{handler['type']}-{len(handler)}")
def test_a_copied_hook_means_the_same_when_it_is_pasted(tmp_path: Path, handler: dict[str, Any]) -> None:
    settings(tmp_path / "home", {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}})
    [first] = load(tmp_path).hooks
    settings(tmp_path / "home", as_json(first))
    [again] = load(tmp_path).hooks
    assert as_json(again) == as_json(first)
    assert (again.event, again.matcher.text, again.handler.label) == (
        first.event,
        first.matcher.text,
        first.handler.label,
    )
    for field in first.handler.__struct_fields__:
        if field != "source":
            assert getattr(again.handler, field) == getattr(first.handler, field), field


@pytest.mark.req("R-357")
def test_the_browser_lists_every_event_and_handler_with_state_and_source(tmp_path: Path) -> None:
    own = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}}
    theirs = {"hooks": {"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "./it.sh"}]}]}}
    settings(tmp_path / "home", own)
    settings(tmp_path, theirs)
    loaded = load(tmp_path)
    states = survey(loaded).states()
    found = listed(states, Activity())
    assert set(found) == set(CATALOGUE)
    assert list(found)[:2] == ["PreToolUse", "Stop"]
    words = "".join(text for _, text in row(found["PreToolUse"][0]))
    assert words == "○ Bash|Edit  it.sh"
    told = ["".join(text for _, text in line) for line in details(found["PreToolUse"][0])]
    assert any(line.startswith("state     off, untrusted: it came with the project") for line in told)
    assert any(".claude/settings.json:7 hooks.PreToolUse[0].hooks[0]" in line for line in told)
    assert head_counts(states) == "1 hook active from 2 files, 1 off (untrusted)"


def test_a_sample_fits_the_matcher_where_one_can(tmp_path: Path) -> None:
    groups = [("PreToolUse", "mcp__.*"), ("PreToolUse", "Write|Edit"), ("SessionStart", "resume"), ("Stop", None)]
    value: dict[str, Any] = {}
    for event, matcher in groups:
        hooks = {"hooks": [{"type": "command", "command": "true"}]}
        value.setdefault(event, []).append(hooks if matcher is None else {"matcher": matcher, **hooks})
    settings(tmp_path / "home", {"hooks": value})
    samples = [sample_for(entry, str(tmp_path)) for entry in load(tmp_path).hooks]
    assert sorted(getattr(one, "tool_name", getattr(one, "source", "")) for one in samples) == [
        "",
        "Bash",
        "Write",
        "resume",
    ]


def test_a_hook_is_tried_out_alone_and_only_if_it_is_trusted(tmp_path: Path) -> None:
    path = script(tmp_path / "home" / "deny.sh", 'echo "not this" >&2; exit 2')
    hooks = [{"type": "command", "command": str(path)}]
    settings(
        tmp_path / "home", {"hooks": {"PreToolUse": [{"hooks": hooks}, {"hooks": [{**hooks[0], "command": "x"}]}]}}
    )
    settings(tmp_path, {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": f"{path} theirs"}]}]}})

    async def run() -> None:
        loaded = load(tmp_path)
        env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
        host = Surroundings.here(env, None, None).host(str(tmp_path))
        engine = HookEngine(loaded.hooks, host=host, executors={Kind.COMMAND: CommandExecutor(host)}, gate=loaded.gate)
        mine, _, theirs = loaded.hooks
        event, outcome, took = await try_out(engine, mine, str(tmp_path))
        assert (event.event_name, outcome.blocked, len(outcome.runs)) == ("PreToolUse", True, 1)
        assert took > 0
        _, outcome, _ = await try_out(engine, theirs, str(tmp_path))
        assert (len(outcome.runs), outcome.skips[0].reason.value) == (0, "untrusted")

    asyncio.run(run())


def test_the_browser_shows_a_background_hook_that_failed_later(tmp_path: Path) -> None:
    settings(
        tmp_path / "home", {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "exit 7", "async": True}]}]}}
    )
    activity = Activity()

    async def run() -> None:
        loaded = load(tmp_path)
        background = Background()
        engine = HookEngine(
            loaded.hooks,
            host=loaded.host,
            executors={Kind.COMMAND: CommandExecutor(loaded.host, background)},
            background=background,
            observers=[activity.notice],
        )
        await engine.fire(sample("Stop", cwd=str(tmp_path)))
        await background.wait()
        [found] = listed(engine.states(), activity)["Stop"]
        assert "".join(text for _, text in row(found)) == "● *  exit 7  ran 1×, last: failed later"
        told = ["".join(text for _, text in line) for line in details(found)]
        assert "ran       1 time, 1 without a verdict" in told
        assert "later     Failed with non-blocking status code: No stderr output" in told

    asyncio.run(run())
