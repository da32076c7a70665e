"""What searches show: `Read` rules and the workspace bind Grep, Glob and completion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.runs import Place, seen, tool
from tui.chats import Chat, text

AREA = "tools: what a search shows"

SECRET = "HIDDEN-VALUE"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.file(".env", f"KEY={SECRET}\n")
    made.file("sub/.env", f"KEY={SECRET}\n")
    made.file("secrets/deep/key.txt", f"KEY={SECRET}\n")
    made.file("open.txt", "KEY=OPEN-VALUE\n")
    (made.home / ".ssh").mkdir()
    (made.home / ".ssh" / "id_rsa").write_text(f"KEY={SECRET}\n")
    (made.project / "link.txt").symlink_to(made.home / ".ssh" / "id_rsa")
    (made.project / "linked").symlink_to(made.home / ".ssh")
    (made.project / "inner.txt").symlink_to(made.project / "open.txt")
    return made


def shown(place: Place, name: str, given: dict[str, Any], *args: str) -> str:
    """Return what the model got of one call, without anybody to ask."""
    ran = place.run({"turns": [[tool(name, **given)], [{"text": "done"}]]}, *args)
    assert ran.code == 0
    return "\n".join(str(block["content"]) for block in ran.tool_results() if block["type"] == "tool_result")


DENIED = ("--disallowedTools", "Read(.env) Read(./secrets/**) Read(~/.ssh/**)")
GREPS = [
    {"pattern": "KEY=", "output_mode": "content"},
    {"pattern": "HIDDEN", "output_mode": "content"},
    {"pattern": "KEY=", "output_mode": "content", "glob": ".env"},
    {"pattern": "KEY=", "output_mode": "content", "glob": "**/*.txt"},
    {"pattern": "KEY=", "output_mode": "content", "-C": 3},
    {"pattern": "KEY=", "output_mode": "content", "multiline": True},
    {"pattern": "KEY=", "output_mode": "content", "path": "sub"},
    {"pattern": "KEY=", "output_mode": "content", "path": ".env"},
    {"pattern": "KEY=", "output_mode": "content", "path": "link.txt"},
    {"pattern": "KEY=", "output_mode": "content", "path": "linked"},
    {"pattern": "KEY=", "output_mode": "content", "path": "secrets/../secrets/deep"},
]


@pytest.mark.parametrize("given", GREPS, ids=str)
def test_grep_does_not_show_what_read_may_not(given: dict[str, Any], place: Place) -> None:
    assert SECRET not in shown(place, "Grep", given, *DENIED)


@pytest.mark.parametrize("mode", ["files_with_matches", "count"])
def test_grep_does_not_name_what_read_may_not(mode: str, place: Place) -> None:
    said = shown(place, "Grep", {"pattern": "KEY=", "output_mode": mode}, *DENIED)
    assert "open.txt" in said
    assert not any(name in said for name in (".env", "key.txt", "link.txt", "id_rsa"))


@pytest.mark.parametrize("given", [{"pattern": "HIDDEN", "output_mode": "content"}, {"pattern": "HIDDEN"}], ids=str)
def test_grep_does_not_follow_links_out_of_the_workspace(given: dict[str, Any], place: Place) -> None:
    said = shown(place, "Grep", given)
    assert "link.txt" not in said
    assert ".env" in said


GLOBS = [
    {"pattern": "{home}/.ssh/*"},
    {"pattern": "../home/.ssh/*"},
    {"pattern": "../../*/home/.ssh/*"},
    {"pattern": "sub/../../home/.ssh/*"},
    {"pattern": "*", "path": "{home}/.ssh"},
    {"pattern": "linked/*"},
    {"pattern": "../.ssh/*", "path": "{home}/x"},
    {"pattern": "/**/id_rsa"},
    {"pattern": "/etc/pass*"},
]


@pytest.mark.parametrize("given", GLOBS, ids=str)
def test_glob_lists_nothing_outside_the_workspace_without_a_question(given: dict[str, str], place: Place) -> None:
    filled = {name: value.replace("{home}", str(place.home)) for name, value in given.items()}
    said = shown(place, "Glob", filled)
    assert "requires approval" in said or "No files found" in said
    assert f"{place.home}/.ssh/id_rsa\n" not in said
    assert "/etc/passwd" not in said


def test_glob_does_not_list_what_read_may_not(place: Place) -> None:
    said = shown(place, "Glob", {"pattern": "**/*"}, *DENIED)
    assert "open.txt" in said
    assert not any(name in said for name in (".env", "key.txt", "link.txt"))


def test_an_ask_rule_hides_a_file_from_searches(place: Place) -> None:
    place.settings = {"permissions": {"ask": ["Read(.env)"]}}
    assert "/.env" not in shown(place, "Grep", {"pattern": "HIDDEN"})


def test_a_session_in_a_folder_below_is_bound_also(place: Place) -> None:
    turns = [[tool("Bash", command="cd sub")], [tool("Grep", pattern="KEY=", output_mode="content", path="..")]]
    ran = place.run({"turns": [*turns, [{"text": "done"}]]}, *DENIED, "--allowedTools", "Bash")
    assert SECRET not in str(ran.tool_results())


def test_ordinary_searches_still_work(place: Place) -> None:
    assert "OPEN-VALUE" in shown(place, "Grep", {"pattern": "OPEN", "output_mode": "content"}, *DENIED)
    assert "inner.txt" in shown(place, "Grep", {"pattern": "OPEN"})
    assert "open.txt" in shown(place, "Glob", {"pattern": "*.txt"}, *DENIED)


def test_completion_offers_no_file_that_read_may_not(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    for name in ("secret-plan.txt", "secret-notes.txt"):
        (chat.project / name).write_text("x")
    chat.settings({"permissions": {"deny": ["Read(secret-plan.txt)"]}})
    chat.script([text("done")])
    with chat.open() as terminal:
        terminal.wait("no hooks configured")
        terminal.send("@secret")
        shown_menu = terminal.wait("secret-notes.txt")
        assert "secret-plan.txt" not in shown_menu


def test_the_model_sees_open_files(place: Place) -> None:
    ran = place.run({"turns": [[tool("Read", file_path="open.txt")], *seen("OPEN-VALUE")]}, *DENIED)
    assert ran.text == "SAW"
