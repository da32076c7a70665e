"""Rules and their sources, updates and the files that keep them, one session's permissions."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from hookwright.agent.permissions import (
    AskUser,
    By,
    Classifier,
    InvalidUpdate,
    Mode,
    Permissions,
    PermissionSetup,
    Permit,
    Refuse,
    SettingsFiles,
    ToolCall,
    Workspace,
    ensure_ignored,
    hook_suggestions,
    read_update,
    read_updates,
    split_rules,
    suggestions,
)
from hookwright.agent.permissions.settings import with_updates
from hookwright.agent.tools import TOOLS, Effect
from hookwright.config import Places
from hookwright.protocol.outcome import NO_OPINION


class Place:
    """A project with a home, and the permissions of a session in it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.home = folder / "home"
        self.root.mkdir()
        self.home.mkdir()
        self.files = SettingsFiles(str(self.home / ".claude"), str(self.root))
        self.workspace = Workspace(root=str(self.root), home=str(self.home))

    def session(self, classifier: Classifier | None = None, **given: Any) -> Permissions:
        return Permissions(PermissionSetup(**given), self.workspace, self.files, classifier)

    def bash(self, command: str) -> ToolCall:
        return ToolCall.of(TOOLS["Bash"], {"command": command}, str(self.root))

    def write(self, path: str) -> ToolCall:
        arguments = TOOLS["Write"].normalise({"file_path": path, "content": ""}, str(self.root), str(self.home))
        return ToolCall.of(TOOLS["Write"], arguments, str(self.root))

    def settings(self, name: str = "settings.local.json") -> Any:
        return json.loads((self.root / ".claude" / name).read_text())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def add(*texts: tuple[str, str | None], behavior: str = "allow", destination: str = "session") -> dict[str, Any]:
    rules = [
        {"toolName": tool} if content is None else {"toolName": tool, "ruleContent": content} for tool, content in texts
    ]
    return {"type": "addRules", "rules": rules, "behavior": behavior, "destination": destination}


def permits(session: Permissions, call: ToolCall) -> bool:
    return isinstance(session.decide(call, NO_OPINION), Permit)


# ── where rules come from ───────────────────────────────────────────────────

LISTS = [
    ("Bash,Edit", ["Bash", "Edit"]),
    ("Bash(git *) Edit", ["Bash(git *)", "Edit"]),
    ("Bash(echo ran *)", ["Bash(echo ran *)"]),
    ("Bash(a, b),Read(//x/**)\nWebFetch", ["Bash(a, b)", "Read(//x/**)", "WebFetch"]),
    ("", []),
    ("Bash(unclosed, x", ["Bash(unclosed, x"]),
]


@pytest.mark.parametrize(("text", "expected"), LISTS)
def test_lists_of_the_command_line_are_split_outside_of_brackets(text: str, expected: list[str]) -> None:
    assert split_rules(text) == expected


def test_the_command_line_allows_and_denies(place: Place) -> None:
    session = place.session(allowed=("Bash(npm *),Bash(make)",), disallowed=("Bash(npm publish *)",))
    assert permits(session, place.bash("npm test && make"))
    assert not permits(session, place.bash("npm publish now"))
    assert not permits(session, place.bash("cargo build"))


def test_rules_of_settings_files_hold_with_their_own_anchor(place: Place) -> None:
    user = place.home / ".claude"
    user.mkdir()
    (user / "settings.json").write_text(json.dumps({"permissions": {"allow": ["Edit(/skills/**)", "Bash(make *)"]}}))
    project = place.root / ".claude"
    project.mkdir()
    (project / "settings.json").write_text(
        json.dumps({"permissions": {"deny": ["Bash(make clean)"], "allow": ["Edit(/src/**)", "Bash("]}})
    )
    loaded = Places(project=str(place.root), env={"HOOKWRIGHT_TRUST": "1"}, home=str(place.home)).load()
    session = place.session(declared=loaded.settings.permissions)
    assert permits(session, place.bash("make all"))
    assert isinstance(session.decide(place.bash("make clean"), NO_OPINION), Refuse)
    assert permits(session, place.write("src/a"))
    assert not permits(session, place.write("skills/a"))
    assert permits(session, place.write(str(user / "skills" / "a" / "SKILL.md")))
    (notice,) = session.take_notices()
    assert notice.code == "invalid-rule"
    assert "settings.json" in str(notice)


def test_directories_of_settings_belong_to_the_workspace(place: Place, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (place.root / ".claude").mkdir()
    (place.root / ".claude" / "settings.json").write_text('{"permissions": {"additionalDirectories": ["../lib"]}}')
    loaded = Places(project=str(place.root), env={"HOOKWRIGHT_TRUST": "1"}, home=str(place.home)).load()
    session = place.session(declared=loaded.settings.permissions, mode="acceptEdits")
    assert permits(session, place.write(str(tmp_path / "lib" / "f")))


def test_a_hook_that_answers_for_the_user_is_not_above_rules(place: Place) -> None:
    session = place.session(disallowed=("Bash(rm *)",))
    assert session.guard(place.bash("ls")) is None
    assert isinstance(session.guard(place.bash("ls; rm x")), Refuse)


def test_a_reload_replaces_what_files_said_and_nothing_else(place: Place) -> None:
    session = place.session(allowed=("Bash(make *)",))
    session.update([add(("Bash", "npm *"))])
    (place.root / ".claude").mkdir()
    (place.root / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Bash(make clean)"]}}')
    loaded = Places(project=str(place.root), env={"HOOKWRIGHT_TRUST": "1"}, home=str(place.home)).load()
    session.reload(loaded.settings.permissions)
    assert not permits(session, place.bash("make clean"))
    assert permits(session, place.bash("make all && npm test"))
    (place.root / ".claude" / "settings.json").write_text("{}")
    loaded = Places(project=str(place.root), env={"HOOKWRIGHT_TRUST": "1"}, home=str(place.home)).load()
    session.reload(loaded.settings.permissions)
    assert permits(session, place.bash("make clean"))


# ── modes ───────────────────────────────────────────────────────────────────


def test_modes_are_read_and_wrong_ones_reported(place: Place) -> None:
    assert place.session().mode == "default"
    assert place.session(mode="manual").mode == "default"
    assert place.session(mode="acceptEdits").mode == "acceptEdits"
    wrong = place.session(mode="yolo")
    assert (wrong.mode, wrong.take_notices()[0].code) == ("default", "invalid-permission-update")
    with pytest.raises(InvalidUpdate, match="not a permission mode"):
        place.session().set_mode("yolo")


def test_bypass_is_for_sessions_that_began_with_it(place: Place) -> None:
    careful = place.session()
    careful.set_mode("bypassPermissions")
    assert (careful.mode, len(careful.take_notices())) == ("default", 1)
    bold = place.session(mode="bypassPermissions")
    bold.set_mode("plan")
    bold.set_mode("bypassPermissions")
    assert bold.mode == "bypassPermissions"


def test_a_subagent_may_have_a_mode_of_its_own(place: Place) -> None:
    session = place.session()
    call = place.write("f")
    assert isinstance(session.decide(call, NO_OPINION), AskUser)
    assert isinstance(session.decide(call, NO_OPINION, Mode.ACCEPT_EDITS), Permit)


def test_auto_mode_without_a_classifier_denies(place: Place) -> None:
    verdict = asyncio.run(place.session(mode="auto").classify(place.bash("make")))
    assert verdict == Refuse("Classifier unavailable", By.CLASSIFIER)


def test_auto_mode_believes_its_classifier_and_fears_its_silence(place: Place) -> None:
    async def judge(call: ToolCall) -> str | None:
        if call.input["command"] == "crash":
            raise RuntimeError("no answer")
        return "[Destructive]" if "rm" in call.input["command"] else None

    session = place.session(judge, mode="auto")
    answers = [asyncio.run(session.classify(place.bash(command))) for command in ("make", "rm x", "crash")]
    assert answers[0] == Permit("classifier")
    assert answers[1] == Refuse("[Destructive]", By.CLASSIFIER)
    assert isinstance(answers[2], Refuse)
    assert answers[2].text.startswith("Auto mode could not evaluate this action and is blocking it for safety")


# ── updates ─────────────────────────────────────────────────────────────────


def test_session_rules_are_added_replaced_and_removed(place: Place) -> None:
    session, call = place.session(), place.bash("make all")
    session.update([add(("Bash", None))])
    assert permits(session, call)
    session.update([{**add(("Read", None)), "type": "replaceRules"}])
    assert not permits(session, call)
    session.update([add(("Bash", "make *")), add(("Bash", "npm *"))])
    session.update([{**add(("Bash", "npm *")), "type": "removeRules"}])
    assert (permits(session, call), permits(session, place.bash("npm x"))) == (True, False)
    assert (session.take_notices(), (place.root / ".claude").exists()) == ([], False)


def test_directories_and_mode_are_updated(place: Place, tmp_path: Path) -> None:
    session = place.session()
    outside = tmp_path / "other"
    outside.mkdir()
    session.update([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
    assert not permits(session, place.write(str(outside / "f")))
    session.update([{"type": "addDirectories", "directories": ["../other"], "destination": "session"}])
    assert permits(session, place.write(str(outside / "f")))
    session.update([{"type": "removeDirectories", "directories": ["../other"], "destination": "session"}])
    assert not permits(session, place.write(str(outside / "f")))
    session.add_directory(str(outside))
    assert session.workspace.added == (str(outside),)


WRONG: list[Any] = [
    "text",
    {},
    {"type": "addRules", "destination": "session"},
    {"type": "nothing", "destination": "session"},
    {**add(("Bash", None)), "destination": "cliArg"},
    {**add(("Bash", None)), "behavior": "maybe"},
    {**add(("Bash", None)), "rules": [{"toolName": 1}]},
    {**add(("Bash", None)), "rules": [{"toolName": "Bash", "ruleContent": 1}]},
    {**add(("Bash", None)), "rules": ["Bash"]},
    add(("Bash(", None)),
    {"type": "setMode", "mode": "yolo", "destination": "session"},
    {"type": "addDirectories", "directories": "x", "destination": "session"},
]


@pytest.mark.parametrize("entry", WRONG)
def test_a_wrong_entry_is_reported_and_the_others_count(entry: Any) -> None:
    updates, notes = read_updates([entry, add(("Bash", None))])
    assert len(updates) == 1
    assert [note.code for note in notes] == ["invalid-permission-update"]
    assert notes[0].message.startswith("updatedPermissions[0]: ")


# ── files ───────────────────────────────────────────────────────────────────


def test_updates_are_kept_in_the_file_they_name(place: Place) -> None:
    session = place.session()
    session.update(
        [
            add(("Bash", "make *"), ("Read", None), destination="localSettings"),
            add(("Bash", "make *"), destination="localSettings"),
            add(("Bash", "rm *"), behavior="deny", destination="projectSettings"),
            {"type": "setMode", "mode": "acceptEdits", "destination": "userSettings"},
            {"type": "addDirectories", "directories": ["/d"], "destination": "localSettings"},
        ]
    )
    assert session.take_notices() == []
    assert place.settings() == {
        "permissions": {"allow": ["Bash(make *)", "Read"], "additionalDirectories": ["/d"]},
    }
    assert place.settings("settings.json") == {"permissions": {"deny": ["Bash(rm *)"]}}
    user = json.loads((place.home / ".claude" / "settings.json").read_text())
    assert user == {"permissions": {"defaultMode": "acceptEdits"}}
    session.update([{**add(("Read", None), destination="localSettings"), "type": "removeRules"}])
    session.update([{**add(("Edit", None), destination="projectSettings", behavior="deny"), "type": "replaceRules"}])
    assert place.settings()["permissions"]["allow"] == ["Bash(make *)"]
    assert place.settings("settings.json")["permissions"]["deny"] == ["Edit"]


def test_other_keys_and_the_mode_of_the_file_stay(place: Place) -> None:
    path = place.root / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"Stop": []}, "permissions": {"allow": ["Read"]}, "é": 1}')
    path.chmod(0o640)
    place.session().update([add(("Bash", None), destination="localSettings")])
    assert list(place.settings()) == ["hooks", "permissions", "é"]
    assert place.settings()["permissions"]["allow"] == ["Read", "Bash"]
    assert os.stat(path).st_mode & 0o777 == 0o640
    assert os.listdir(path.parent) == ["settings.local.json"]


@pytest.mark.parametrize("text", ["{broken", "[]", '{"permissions": []}', '{"permissions": {"allow": {}}}'])
def test_a_broken_file_is_left_alone_and_the_session_goes_on(place: Place, text: str) -> None:
    path = place.root / ".claude" / "settings.local.json"
    path.parent.mkdir()
    path.write_text(text)
    session = place.session()
    session.update([add(("Bash", None), destination="localSettings")])
    assert path.read_text() == text
    assert [note.code for note in session.take_notices()] == ["permission-not-kept"]
    assert permits(session, place.bash("make"))


def test_bypass_is_never_kept(place: Place) -> None:
    session = place.session(mode="bypassPermissions")
    session.update([{"type": "setMode", "mode": "bypassPermissions", "destination": "userSettings"}])
    assert [note.code for note in session.take_notices()] == ["permission-not-kept"]
    assert not (place.home / ".claude").exists()


def test_sessions_at_the_same_time_lose_no_update(place: Place) -> None:
    def add_ten(name: str) -> None:
        session = place.session()
        for number in range(10):
            session.update([add(("Bash", f"{name}{number} *"), destination="localSettings")])

    threads = [threading.Thread(target=add_ten, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(place.settings()["permissions"]["allow"]) == 30


@pytest.mark.req("R-007")
@pytest.mark.needs("git")
def test_a_local_file_that_is_made_is_ignored_by_git(place: Place) -> None:
    git = ["git", "-C", str(place.root)]
    subprocess.run([*git, "init", "-q"], check=True)
    place.session().update([add(("Bash", None), destination="localSettings")])
    ignored = subprocess.run([*git, "check-ignore", ".claude/settings.local.json"], capture_output=True, text=True)
    assert ignored.stdout.strip() == ".claude/settings.local.json"
    exclude = place.root / ".git" / "info" / "exclude"
    before = exclude.read_text()
    ensure_ignored(str(place.root / ".claude" / "settings.local.json"))
    assert exclude.read_text() == before
    status = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True)
    assert status.stdout == ""


# ── suggestions ─────────────────────────────────────────────────────────────


def test_suggestions_would_have_spared_the_question(place: Place, tmp_path: Path) -> None:
    commands = [place.bash(text) for text in ("make all && npm test", "touch a b", "echo hi > out.txt", "ls && make")]
    for call in (*commands, place.write("f"), place.write(str(tmp_path / "f"))):
        session = place.session()
        verdict = session.decide(call, NO_OPINION)
        assert isinstance(verdict, AskUser)
        assert verdict.suggestions == suggestions(call, place.workspace)
        session.update([{**entry, "destination": "session"} for entry in verdict.suggestions])
        assert session.take_notices() == []
        assert permits(session, call)


def test_a_command_that_only_changes_files_is_covered_by_the_mode_that_accepts_edits(place: Place) -> None:
    folder, mode = suggestions(place.bash("touch a b"), place.workspace)
    assert (folder["directories"], mode["mode"]) == ([str(place.root)], "acceptEdits")


def test_suggestions_for_reading_fetching_and_tools_of_servers(place: Place) -> None:
    read = ToolCall.of(TOOLS["Read"], {"file_path": "/etc/hosts"}, str(place.root))
    fetch = ToolCall.of(TOOLS["WebFetch"], {"url": "https://docs.example.com/x", "prompt": ""}, str(place.root))
    server = ToolCall(tool="mcp__s__t", input={}, effect=Effect.OTHER, cwd=str(place.root))
    for call, rule in (
        (read, {"toolName": "Read", "ruleContent": "//etc/**"}),
        (fetch, {"toolName": "WebFetch", "ruleContent": "domain:docs.example.com"}),
        (server, {"toolName": "mcp__s__t"}),
    ):
        (suggestion,) = suggestions(call, place.workspace)
        assert suggestion["rules"] == [rule]
        session = place.session()
        session.update([{**suggestion, "destination": "session"}])
        assert permits(session, call)


HERE, MODE = "directories: .", "mode: acceptEdits"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo a > x.txt", [HERE]),
        ("echo a > x.txt; echo b", [HERE]),
        ("npm test > out.txt", [HERE]),
        ("echo a > sub/x.txt", ["directories: sub"]),
        ("echo a > ../x.txt", ["directories: .."]),
        ("touch a.txt; echo b", [HERE, MODE]),
        ("mkdir d", [HERE, MODE]),
        ("cp a sub/b", [HERE, MODE]),
        ("echo a | tee b.txt", [HERE, MODE]),
        ("sed -i s/a/b/ x.txt", [HERE, MODE]),
        ("cd sub && touch a", [MODE]),
        ("mkdir -p d/e && touch d/e/f", ["mkdir -p d/e", "touch d/e/f"]),
        ("npm test", ["npm test *"]),
        ("ls; npm run build && git push", ["npm run *", "git push *"]),
        ("cat a > b; npm test", ["cat a *", "npm test *"]),
        ("cd sub && npm test | head -5", ["npm test *"]),
        ("curl http://x.y", ["curl http://x.y"]),
        ("FOO=1 npm test", ["FOO=1 npm test"]),
        ("timeout 5 npm test", ["timeout 5 npm test"]),
        ("make", ["make"]),
        ("echo $(npm test)", []),
        ("echo a > $X", []),
        ("echo 'unclosed", []),
        ("a1; a2; a3; a4; a5; a6", []),
    ],
)
def test_what_hooks_read_is_suggested_as_claude_code_does(place: Place, command: str, expected: list[str]) -> None:
    (place.root / "sub").mkdir()
    said: list[str] = []
    for one in hook_suggestions(place.bash(command), place.workspace):
        said += [f"directories: {os.path.relpath(path, place.root)}" for path in one.get("directories", ())]
        said += [f"mode: {one['mode']}"] if "mode" in one else []
        said += [found["ruleContent"] for found in one.get("rules", ())]
    assert said == expected


def test_hooks_read_the_suggestions_about_other_tools_that_a_person_reads(place: Place) -> None:
    call = place.write("f")
    assert hook_suggestions(call, place.workspace) == suggestions(call, place.workspace) != ()


@pytest.mark.parametrize("command", ["echo 'unclosed", "a; b; c; d; e; f", ""])
def test_no_rule_is_suggested_for_what_no_rule_could_cover(place: Place, command: str) -> None:
    assert suggestions(place.bash(command), place.workspace) == ()


def test_nothing_is_suggested_for_a_sensitive_file(place: Place) -> None:
    assert suggestions(place.write(".git/config"), place.workspace) == ()


def test_updates_change_the_settings_that_trust_binds_as_they_change_the_files() -> None:
    entry = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls *"}], "behavior": "allow"}
    kept = {**entry, "destination": "localSettings"}
    expected = {"project": {"env": {"A": "1"}}, "local": {"permissions": {"allow": ["Bash(ls *)"]}}}
    assert with_updates('{"project": {"env": {"A": "1"}}}', [read_update(kept)]) == expected
    assert with_updates(json.dumps(expected), [read_update(kept)]) == expected
    removed = with_updates(json.dumps(expected), [read_update({**kept, "type": "removeRules"})])
    assert removed["local"] == {"permissions": {"allow": []}}
    assert with_updates("{}", [read_update({**entry, "destination": "session"})]) == {}
    assert with_updates("{}", [read_update({**entry, "destination": "userSettings"})]) == {}
