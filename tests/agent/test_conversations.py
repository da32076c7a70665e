"""Conversations that go on: resumed, forked, cleared, compacted, with instructions and watched files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, bash, route, seen, tool

ALLOW = ("--allowedTools", "Bash,Read")
SUMMARY = route("compact", "detailed summary", [[{"text": "<summary>SUM</summary>"}]], on="last")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.req("R-053", "R-325", "R-321")
def test_a_resumed_conversation_has_all_that_was_said(place: Place) -> None:
    place.hook("SessionStart")
    place.hook("UserPromptSubmit", 'grep -q ONE <<< "$payload" && echo CTX-one || true')
    first = place.run({"turns": [[bash("echo OUT")], [{"text": "answer-one"}]]}, *ALLOW, prompt="ONE")
    turns = [[{"text": "again"}]]
    second = place.run({"turns": turns}, "--resume", first.results[0]["session_id"], prompt="TWO")
    starts = place.got("SessionStart")
    assert [payload["source"] for payload in starts] == ["startup", "resume"]
    assert starts[1]["session_id"] == starts[0]["session_id"] == second.results[0]["session_id"]
    assert starts[1]["seconds_since_last_response"] >= 0
    assert starts[1]["context_tokens"] > 0
    said = [line["message"]["content"] for line in place.transcript() if line["type"] == "user"]
    assert said[0] == "ONE"
    assert said[-1] == "TWO"


def test_a_fork_goes_on_under_a_new_id(place: Place) -> None:
    place.hook("SessionStart")
    first = place.run({"turns": [[{"text": "one"}]]}, prompt="FIRST-WORDS")
    forked = place.run({"turns": [[{"text": "two"}]]}, "--continue", "--fork-session", prompt="MORE")
    assert [payload["source"] for payload in place.got("SessionStart")] == ["startup", "fork"]
    assert forked.results[0]["session_id"] != first.results[0]["session_id"]
    (old,) = (place.home / ".claude" / "projects").glob(f"*/{first.results[0]['session_id']}.jsonl")
    assert "MORE" not in old.read_text()


def test_an_unknown_session_is_an_error(place: Place) -> None:
    ran = place.run({"turns": []}, "--resume", "0123")
    assert ran.code == 2
    assert "no session 0123" in ran.stderr
    assert place.run({"turns": []}, "--continue").code == 2


@pytest.mark.req("R-326", "R-329", "R-322", "R-349")
def test_clear_ends_one_session_and_begins_another(place: Place) -> None:
    place.hook("SessionEnd")
    place.hook("SessionStart", "echo CTX-cleared", matcher="clear")
    turns = [[{"text": "one"}], [{"when": "OLD-WORDS"}, {"text": "LEAKED"}], *seen("CTX-cleared[\\s\\S]*NEW-WORDS")]
    ran = place.talk({"turns": turns}, ["OLD-WORDS", "/clear", "NEW-WORDS"])
    ended, started = place.got("SessionEnd"), place.got("SessionStart")
    assert [payload["reason"] for payload in ended] == ["clear", "other"]
    assert started[0]["session_id"] == ended[1]["session_id"] != ended[0]["session_id"]
    assert started[0]["transcript_path"] != ended[0]["transcript_path"]
    assert ran.text == "SAW"


@pytest.mark.req("R-351", "R-087", "R-088")
def test_a_full_conversation_is_compacted_by_itself(place: Place) -> None:
    place.hook("PreCompact")
    place.hook("PostCompact")
    turns = [[{"usage_in": 5000}, bash("echo OUT")], *seen("SUM")]
    ran = place.run({"turns": turns, "routes": [SUMMARY]}, "--context-limit", "4000", *ALLOW)
    (before,), (after,) = place.got("PreCompact"), place.got("PostCompact")
    assert (before["trigger"], before["custom_instructions"], after["trigger"]) == ("auto", None, "auto")
    assert ran.text == "SAW"


def test_a_hook_may_keep_a_conversation_from_being_compacted(place: Place) -> None:
    place.hook("PreCompact", "exit 2", matcher="auto")
    turns = [[{"usage_in": 5000}, bash("echo OUT")], [{"when": "SUM"}, {"text": "COMPACTED"}], *seen("OUT")]
    ran = place.run({"turns": turns, "routes": [SUMMARY]}, "--context-limit", "4000", *ALLOW)
    assert ran.text == "SAW"


def test_a_first_message_of_a_hook_is_a_turn_of_its_own(place: Place) -> None:
    specific = {"hookEventName": "SessionStart", "initialUserMessage": "BEGIN-HERE", "sessionTitle": "The title"}
    place.answer("SessionStart", {"hookSpecificOutput": specific})
    ran = place.run({"turns": [[{"when": "BEGIN-HERE"}, {"text": "begun"}], *seen("PROMPT")]})
    assert [result["result"] for result in ran.results] == ["begun", "SAW"]
    assert [line["title"] for line in ran.of("system", "session_title_changed")] == ["The title"]


def test_instructions_come_from_files_imports_and_rules(place: Place) -> None:
    place.hook("InstructionsLoaded")
    place.file("CLAUDE.md", "Top. See @inc.md and `@not.md`, never @missing.md\n")
    place.file("inc.md", "Included.\n")
    place.file("not.md", "In code.\n")
    place.file(".claude/rules/all.md", "For all.\n")
    place.file(".claude/rules/ts.md", '---\npaths: "src/**/*.{ts,tsx}"\n---\nRULE-ts\n')
    path = place.file("src/a/b.ts", "x\n")
    ran = place.run({"turns": [[tool("Read", file_path=str(path))], *seen("RULE-ts")]})
    project = str(place.project)
    loaded = {payload["file_path"].removeprefix(project): payload for payload in place.got("InstructionsLoaded")}
    reasons = {name: payload["load_reason"] for name, payload in loaded.items()}
    assert reasons == {
        "/CLAUDE.md": "session_start",
        "/inc.md": "include",
        "/.claude/rules/all.md": "session_start",
        "/.claude/rules/ts.md": "path_glob_match",
    }
    assert loaded["/inc.md"]["parent_file_path"] == f"{project}/CLAUDE.md"
    assert loaded["/.claude/rules/ts.md"]["globs"] == ["src/**/*.{ts,tsx}"]
    assert loaded["/.claude/rules/ts.md"]["trigger_file_path"] == str(path)
    assert ran.text == "SAW"


def test_watched_paths_of_a_hook_fire_when_a_file_comes_and_goes(place: Place) -> None:
    path = place.root / "watched"
    specific = {"hookEventName": "SessionStart", "watchPaths": [str(path)]}
    place.answer("SessionStart", {"hookSpecificOutput": specific})
    place.hook("FileChanged")
    command = f"sleep 0.8; touch {path}; sleep 0.8; rm {path}; sleep 0.8"
    place.run({"turns": [[bash(command)], [{"text": "end"}]]}, *ALLOW)
    changes = [(payload["file_path"], payload["event"]) for payload in place.got("FileChanged")]
    assert changes == [(str(path), "add"), (str(path), "unlink")]


@pytest.mark.req("R-308", "R-309", "R-310", "R-311")
def test_variables_that_hooks_persist_hold_in_later_commands(place: Place) -> None:
    place.hook("SessionStart", "printf 'export A=one\\nB=two\\nexport C=first\\n' >> \"$CLAUDE_ENV_FILE\"")
    place.hook("SessionStart", 'echo "export C=second" >> "$CLAUDE_ENV_FILE"')
    place.hook("PreToolUse", f'echo "[$CLAUDE_ENV_FILE][$A]" > {place.root}/seen-by-hook')
    turns = [[bash("echo $A-$B-$C")], [bash("echo again-$A")], *seen("again-one")]
    ran = place.run({"turns": turns}, *ALLOW)
    assert ran.tool_results()[0]["content"] == "one-two-second"
    assert ran.text == "SAW"
    assert (place.root / "seen-by-hook").read_text() == "[][]\n"


@pytest.mark.req("R-314", "R-315", "R-316", "R-320")
def test_hook_runs_are_lines_of_the_transcript(place: Place) -> None:
    place.hook("PreToolUse", "echo fine")
    place.hook("PostToolUse", "echo bad >&2; exit 1")
    place.answer("PostToolUse", {"decision": "block", "reason": "NO"})
    place.hook("PostToolUse", "sleep 5", timeout=0.2)
    place.run({"turns": [[bash("echo OUT")], [{"text": "end"}]]}, *ALLOW)
    lines = place.transcript()
    found = [line["attachment"] for line in lines if line["type"] == "attachment"]
    kinds = [value["type"] for value in found]
    assert kinds == ["hook_success", "hook_non_blocking_error", "hook_blocking_error", "hook_cancelled"]
    assert {value["toolUseID"] for value in found} == {"toolu_S001"}
    assert (found[0]["stdout"], found[0]["exitCode"], found[1]["exitCode"]) == ("fine\n", 0, 1)
    assert {"user", "assistant"} <= {line["type"] for line in lines}
    chain = [line for line in lines if "uuid" in line]
    assert [line["parentUuid"] for line in chain[1:]] == [line["uuid"] for line in chain[:-1]]


def test_a_changed_skill_is_taken_up_unless_a_hook_objects(place: Place) -> None:
    skill = place.file(".claude/skills/sk/SKILL.md", "---\nname: sk\ndescription: d\n---\nOLD-BODY\n")
    place.hook("ConfigChange", matcher="skills")

    def change(dialogue: Any) -> None:
        skill.write_text("---\nname: sk\ndescription: d\n---\nNEW-BODY\n")

    turns = [[{"text": "one"}], *seen("NEW-BODY")]
    ran = place.talk({"turns": turns}, ["hi", change, "/sk"])
    assert [(payload["source"], payload["file_path"]) for payload in place.got("ConfigChange")] == [
        ("skills", str(skill))
    ]
    assert ran.text == "SAW"


def test_given_agents_bring_their_own_hooks(place: Place) -> None:
    command = place.hook("SubagentStop")
    place.hooks.clear()
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}
    agents = {"helper": {"description": "d", "prompt": "You help.", "hooks": hooks}}
    starts = tool("Agent", description="d", prompt="SUBTASK", subagent_type="helper", run_in_background=False)
    routes = [route("sub", "SUBTASK", [[{"text": "helped"}]])]
    script = {"turns": [[starts], [{"text": "end"}]], "routes": routes}
    ran = place.run(script, "--agents", json.dumps(agents), "--allowedTools", "Agent")
    assert ran.tool_results()[0]["content"] == [{"type": "text", "text": "helped"}]
    assert [payload["agent_type"] for payload in place.got("SubagentStop")] == ["helper"]
