import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookwright.config import Changed, Loaded, New, Places, Review, Trusted, TrustPolicy, TrustStore, accept, review
from hookwright.config.frontmatter import component_groups
from hookwright.config.scripts import MAX_FILES
from hookwright.errors import TrustError
from hookwright.protocol.outcome import Outcome, SkipReason
from hookwright.protocol.samples import sample
from hookwright.session import open_session
from worlds import World, hook, labels, runnable

SCRIPT = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'
STORED = TrustPolicy.STORED


def stored(world: World, **more: Any) -> Loaded:
    return world.load(trust=STORED, **more)


def store(world: World) -> TrustStore:
    return TrustStore(str(world.root / "state" / "trust.json"))


def look(world: World, **more: Any) -> Review:
    return review(stored(world, **more), str(world.project))


def trust_all(world: World) -> Review:
    shown = look(world)
    accept(store(world), shown.project, shown.pending)
    return shown


def lay_out(world: World, command: str = SCRIPT) -> Path:
    script = world.write(world.project / ".claude" / "hooks" / "guard.sh", "#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    world.write("project", hook(command))
    return script


def fire(world: World, name: str = "PreToolUse", trust: TrustPolicy | None = None, **env: str) -> Outcome:
    """Fire one event as a headless run would."""

    async def run() -> Outcome:
        surroundings = {"PATH": os.environ["PATH"], "HOME": str(world.home), **world.env, **env}
        places = Places(project=str(world.project), env=surroundings, home=str(world.home), trust=trust)
        async with open_session(places) as session:
            return await session.fire(sample(name, cwd=str(world.project)))

    return asyncio.run(run())


# ── the decision ────────────────────────────────────────────────────────────


@pytest.mark.req("R-366")
@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_fresh_clone_runs_nothing_and_says_so(world: World, scope: str) -> None:
    world.write(scope, hook("touch ran.txt"))
    outcome = fire(world)
    assert not (world.project / "ran.txt").exists()
    assert [(skip.reason, skip.handler.label) for skip in outcome.skips] == [(SkipReason.UNTRUSTED, "touch ran.txt")]
    loaded = stored(world)
    assert labels(loaded) == ["touch ran.txt"]
    (report,) = loaded.diagnostics
    assert report.code == "untrusted"
    assert "`touch ran.txt` does not run" in report.message
    assert "hookwright trust" in report.message
    assert report.source is not None
    assert report.source.line == 6


@pytest.mark.req("R-366")
@pytest.mark.parametrize("way", ["stored", "policy", "environment"])
def test_trust_makes_it_run(world: World, way: str) -> None:
    world.write("project", hook("touch ran.txt"))
    if way == "stored":
        trust_all(world)
    env = {"HOOKWRIGHT_TRUST": "1"} if way == "environment" else {}
    fire(world, trust=TrustPolicy.EVERYTHING if way == "policy" else None, **env)
    assert (world.project / "ran.txt").exists()


@pytest.mark.parametrize("value", ["0", "", "true", "yes", "2"])
def test_only_one_counts_as_trust_in_the_environment(value: str) -> None:
    assert TrustPolicy.from_env({"HOOKWRIGHT_TRUST": value}) is STORED


def test_the_review_names_the_file_that_declares_the_settings(world: World) -> None:
    world.write("project", {"hooks": {}})
    world.write("local", {"permissions": {"allow": ["Bash(ls *)"]}})
    item = review(world.load()).items[0]
    assert [Path(source.path).name for source in item.item.sources] == ["settings.local.json"]
    assert dict(item.whole())["entry"] == '{\n "permissions": {\n  "allow": [\n   "Bash(ls *)"\n  ]\n }\n}'
    accept(world.load().gate.store, world.load().project_dir, [item])
    world.write("project", {"model": "haiku"})
    both = review(world.load()).items[0]
    assert [Path(source.path).name for source in both.item.sources] == ["settings.json", "settings.local.json"]
    assert isinstance(both.state, Changed), "whichever file declares keys, they are one item"


def test_the_project_cannot_set_the_variable_that_trusts_it(world: World) -> None:
    world.write("project", {"env": {"HOOKWRIGHT_TRUST": "1"}, **hook("touch ran.txt")})
    fire(world)
    assert not (world.project / "ran.txt").exists()


def test_nothing_trusts_nothing_whatever_is_stored(world: World) -> None:
    lay_out(world)
    trust_all(world)
    assert runnable(stored(world)) == [SCRIPT]
    assert runnable(world.load(trust=TrustPolicy.NOTHING)) == []


def test_user_and_managed_hooks_need_no_trust(world: World) -> None:
    world.write("user", hook("user"))
    world.write("managed", hook("managed"))
    assert runnable(stored(world)) == ["managed", "user"]
    assert not (world.root / "state").exists()


# ── what trust is bound to ──────────────────────────────────────────────────


def edit_script(world: World) -> None:
    world.write(world.project / ".claude" / "hooks" / "guard.sh", "#!/bin/sh\nexit 1\n")


def edit_entry(**more: Any) -> Callable[[World], None]:
    def edit(world: World) -> None:
        world.write("project", hook(SCRIPT, **more))

    return edit


def widen_matcher(world: World) -> None:
    value = hook(SCRIPT)
    value["hooks"]["PreToolUse"][0]["matcher"] = "*"
    world.write("project", value)


def move_event(world: World) -> None:
    world.write("project", hook(SCRIPT, "PostToolUse"))


def swap_for_link(world: World) -> None:
    script = world.project / ".claude" / "hooks" / "guard.sh"
    other = world.write("elsewhere/guard.sh", script.read_text())
    script.unlink()
    script.symlink_to(other)


def remove_script(world: World) -> None:
    (world.project / ".claude" / "hooks" / "guard.sh").unlink()


def edit_sourced(world: World) -> None:
    world.write(world.project / ".claude" / "hooks" / "lib.sh", "exit 1\n")


@pytest.mark.req("R-367")
@pytest.mark.parametrize(
    "change",
    [
        edit_script,
        edit_entry(timeout=1),
        edit_entry(**{"if": "Bash(git *)"}),
        edit_entry(onFailure="block"),
        edit_entry(**{"async": True}),
        widen_matcher,
        swap_for_link,
        remove_script,
        edit_sourced,
    ],
    ids=["script", "timeout", "if", "onFailure", "async", "matcher", "link", "removed", "sourced"],
)
def test_a_change_after_trust_keeps_the_hook_from_running(world: World, change: Callable[[World], None]) -> None:
    script = lay_out(world)
    script.write_text('#!/bin/sh\n. "$(dirname "$0")/lib.sh"\n')
    world.write(world.project / ".claude" / "hooks" / "lib.sh", "exit 0\n")
    trust_all(world)
    assert runnable(stored(world)) == [SCRIPT]
    change(world)
    loaded = stored(world)
    assert runnable(loaded) == []
    assert [report.code for report in loaded.diagnostics] == ["changed-since-trusted"]
    trust_all(world)
    assert runnable(stored(world)) == [SCRIPT]


def test_another_event_is_a_new_hook(world: World) -> None:
    lay_out(world)
    trust_all(world)
    move_event(world)
    loaded = stored(world)
    assert runnable(loaded) == []
    assert [report.code for report in loaded.diagnostics] == ["untrusted"]


def test_a_script_that_appears_after_trust_is_a_change(world: World) -> None:
    world.write("project", hook("sh .claude/hooks/later.sh"))
    trust_all(world)
    assert runnable(stored(world)) == ["sh .claude/hooks/later.sh"]
    world.write(world.project / ".claude" / "hooks" / "later.sh", "touch ran.txt")
    assert runnable(stored(world)) == []


def test_a_module_put_beside_a_trusted_script_is_a_change(world: World) -> None:
    world.write(world.project / "guard.py", "import json\n")
    world.write("project", hook("python3 guard.py"))
    trust_all(world)
    world.write(world.project / "json.py", "import os\n")
    assert runnable(stored(world)) == []


def test_what_is_not_bound_may_change(world: World) -> None:
    lay_out(world)
    world.write("user", {"model": "a"})
    trust_all(world)
    world.write(world.project / "README.md", "changed")
    world.write("user", {"model": "b"})
    value = world.places["project"].read_text()
    world.write("project", "\n\n" + value)
    assert runnable(stored(world)) == [SCRIPT]


def test_trust_follows_content_not_position(world: World) -> None:
    world.write("project", {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "a"}]}]}})
    trust_all(world)
    entries = [{"type": "command", "command": name} for name in ("new", "a")]
    world.write("project", {"hooks": {"PreToolUse": [{"hooks": entries}]}})
    shown = look(world)
    assert [(item.item.label, type(item.state)) for item in shown.items] == [("new", New), ("a", Trusted)]
    accept(store(world), shown.project, shown.pending)
    assert runnable(stored(world)) == ["new", "a"]


def test_going_back_to_an_earlier_version_is_a_change(world: World) -> None:
    script = lay_out(world)
    weak, strong = "#!/bin/sh\nexit 0\n", "#!/bin/sh\nexit 2\n"
    script.write_text(weak)
    trust_all(world)
    script.write_text(strong)
    trust_all(world)
    script.write_text(weak)
    assert runnable(stored(world)) == []


def test_a_new_version_supersedes_the_old_one_from_any_directory(world: World) -> None:
    (world.project / ".git").mkdir()
    sub = world.project / "sub"
    sub.mkdir()
    world.write("project", hook("guard --strict"))
    trust_all(world)
    world.write("project", hook("guard --stricter"))
    shown = review(stored(world, start=sub), str(sub))
    assert isinstance(shown.items[0].state, Changed)
    accept(store(world), shown.project, shown.pending)
    world.write("project", hook("guard --strict"))
    assert runnable(stored(world)) == []


def test_two_hooks_are_trusted_one_by_one(world: World) -> None:
    world.write("project", {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": n} for n in ("a", "b")]}]}})
    shown = look(world)
    accept(store(world), shown.project, [item for item in shown.pending if item.item.label == "b"])
    assert runnable(stored(world)) == ["b"]


def test_trust_is_kept_by_the_real_path_of_the_project(world: World) -> None:
    lay_out(world)
    trust_all(world)
    link = world.root / "link"
    link.symlink_to(world.project)
    assert runnable(stored(world, start=link)) == [SCRIPT]
    copy = world.root / "copy"
    subprocess.run(["cp", "-r", str(world.project), str(copy)], check=True)
    assert runnable(stored(world, start=copy)) == []


# ── settings of the project ─────────────────────────────────────────────────


def test_settings_are_one_item_and_come_first(world: World) -> None:
    world.write("project", {"env": {"A_MODE": "1"}, "permissions": {"allow": ["Bash"]}, **hook("x")})
    world.write("local", {"model": "m"})
    shown = trust_all(world)
    assert [item.item.label for item in shown.items] == ["env, permissions, model", "x"]
    assert '"allow"' in shown.items[0].item.entry
    assert stored(world).settings.env == {"A_MODE": "1"}


def test_changed_settings_lose_their_effect_and_hooks_keep_theirs(world: World) -> None:
    world.write("project", {"env": {"A_MODE": "1"}, **hook("x")})
    trust_all(world)
    world.write("project", {"env": {"A_MODE": "2"}, **hook("x")})
    loaded = stored(world)
    assert loaded.settings.env == {}
    assert runnable(loaded) == ["x"]
    assert [report.code for report in loaded.diagnostics] == ["setting-ignored"]
    assert isinstance(look(world).items[0].state, Changed)


def test_a_project_without_settings_has_nothing_to_trust(world: World) -> None:
    world.write("project", {"$schema": "x", "hooks": {}})
    assert look(world).items == ()
    assert stored(world).diagnostics == ()


# ── skills and agents ───────────────────────────────────────────────────────

AGENT = "---\nhooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: ./check.sh\n---\n"


@pytest.mark.req("R-366", "R-367")
def test_hooks_of_project_skills_and_agents_pass_the_same_gate(world: World) -> None:
    path = world.write(world.project / ".claude" / "agents" / "rev.md", AGENT)
    world.write(world.project / "check.sh", "exit 0\n")

    def held() -> Any:
        loaded = stored(world)
        groups = component_groups(loaded.components()[0], ".claude/agents/rev.md").groups
        before = loaded.gate.check(groups[0].handlers[0])
        assert before is not None, "a handler that nobody admitted is never trusted"
        loaded.gate.admit(groups)
        return loaded.gate.check(groups[0].handlers[0])

    assert held()[0] is SkipReason.UNTRUSTED
    trust_all(world)
    assert held() is None
    world.write(world.project / "check.sh", "exit 1\n")
    assert held()[0] is SkipReason.CHANGED
    trust_all(world)
    path.write_text(AGENT.replace("./check.sh", "./check.sh --fast"))
    assert held()[0] is SkipReason.CHANGED


def test_skills_of_the_user_need_no_trust(world: World) -> None:
    world.write(world.home / ".claude" / "agents" / "rev.md", AGENT)
    loaded = stored(world)
    groups = component_groups(loaded.components()[0]).groups
    assert loaded.gate.check(groups[0].handlers[0]) is None
    assert look(world).items == ()


# ── at fire time ────────────────────────────────────────────────────────────


@pytest.mark.req("R-367")
def test_an_edit_between_two_runs_is_noticed_before_the_second(world: World) -> None:
    script = lay_out(world)
    trust_all(world)
    loaded = stored(world)
    handler = next(iter(loaded.hooks)).handler
    assert loaded.gate.check(handler) is None
    script.write_text("#!/bin/sh\nexit 9\n")
    held = loaded.gate.check(handler)
    assert held is not None
    assert held[0] is SkipReason.CHANGED
    assert ".claude/hooks/guard.sh changed" in held[1]
    script.write_text("#!/bin/sh\nexit 0\n")
    assert loaded.gate.check(handler) is None


def test_an_edit_that_keeps_size_and_time_is_noticed(world: World) -> None:
    script = lay_out(world)
    trust_all(world)
    loaded = stored(world)
    handler = next(iter(loaded.hooks)).handler
    assert loaded.gate.check(handler) is None
    facts = script.stat()
    script.write_text("#!/bin/sh\nexit 9\n")
    os.utime(script, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert loaded.gate.check(handler) is not None


def test_only_young_or_changed_files_are_read_again(world: World) -> None:
    (world.project / "old.sh").symlink_to(os.__file__)
    world.write(world.project / "young.sh", "exit 0\n")
    entries = [{"type": "command", "command": f"sh ./{name}.sh"} for name in ("old", "young")]
    world.write("project", {"hooks": {"Stop": [{"hooks": entries}]}})
    gate = stored(world).gate
    first, second = ([item for item, _ in gate.items()] for _ in range(2))
    assert first == second
    assert first[0] is second[0]
    (world.project / "young.sh").write_text("exit 1\n")
    assert [item for item, _ in gate.items()][1] != first[1]


def test_trust_and_revocation_from_another_terminal_count_at_once(world: World) -> None:
    lay_out(world)
    loaded = stored(world)
    handler = next(iter(loaded.hooks)).handler
    assert loaded.gate.check(handler) is not None
    trust_all(world)
    assert loaded.gate.check(handler) is None
    store(world).revoke(str(world.project))
    assert loaded.gate.check(handler) is not None


def test_a_relative_script_is_looked_up_in_the_working_directory_too(world: World) -> None:
    world.write(world.project / "check.sh", "exit 0\n")
    world.write("project", hook("sh ./check.sh"))
    trust_all(world)
    loaded = stored(world)
    handler = next(iter(loaded.hooks)).handler
    (world.project / "sub").mkdir()
    assert loaded.gate.check(handler, str(world.project / "sub")) is None
    world.write(world.project / "sub" / "check.sh", "touch stolen\n")
    held = loaded.gate.check(handler, str(world.project / "sub"))
    assert held is not None
    assert "sub/check.sh, which is not trusted" in held[1]
    assert loaded.gate.check(handler, str(world.project)) is None


def test_trust_does_not_depend_on_the_start_directory(world: World) -> None:
    (world.project / ".git").mkdir()
    sub = world.project / "sub"
    sub.mkdir()
    world.write(world.project / "check.sh", "exit 0\n")
    world.write("project", hook("sh ./check.sh"))
    trust_all(world)
    assert runnable(stored(world, start=sub)) == ["sh ./check.sh"]
    world.write(sub / "check.sh", "touch stolen\n")
    assert runnable(stored(world, start=sub)) == []
    assert runnable(stored(world)) == ["sh ./check.sh"]
    shown = review(stored(world, start=sub), str(sub))
    assert [file.path for file in shown.items[0].item.files] == ["check.sh", "sub/check.sh"]
    accept(store(world), shown.project, shown.pending)
    assert runnable(stored(world, start=sub)) == ["sh ./check.sh"]


def test_a_changed_handler_object_is_not_trusted(world: World) -> None:
    lay_out(world)
    trust_all(world)
    loaded = stored(world)
    handler = next(iter(loaded.hooks)).handler
    assert loaded.gate.check(msgspec.structs.replace(handler, timeout=1.0)) is not None


@pytest.mark.parametrize("odd", ["fifo", "many", "huge"])
def test_what_cannot_be_bound_is_never_trusted(world: World, odd: str) -> None:
    command = "sh ./odd.sh"
    if odd == "fifo":
        os.mkfifo(world.project / "odd.sh")
    elif odd == "huge":
        with (world.project / "odd.sh").open("wb") as file:
            file.truncate(65 * 1024 * 1024)
    else:
        command = "for f in ./many/*.sh; do . $f; done"
        for number in range(MAX_FILES + 1):
            world.write(world.project / "many" / f"{number}.sh", "")
    world.write("project", hook(command))
    (item,) = look(world).items
    assert item.item.unbound
    with pytest.raises(TrustError, match="cannot be trusted"):
        accept(store(world), str(world.project), [item])
    assert runnable(stored(world)) == []


# ── the review ──────────────────────────────────────────────────────────────


@pytest.mark.req("R-358")
def test_a_review_shows_what_would_run_and_what_changed(world: World) -> None:
    script = lay_out(world)
    shown = look(world)
    (new,) = shown.items
    assert isinstance(new.state, New)
    assert (new.item.event, new.item.matcher, new.item.label) == ("PreToolUse", None, SCRIPT)
    assert str(new.item.source) == ".claude/settings.json:6 hooks.PreToolUse[0].hooks[0]"
    assert [(file.path, file.text) for file in new.item.files] == [(".claude/hooks/guard.sh", "#!/bin/sh\nexit 0\n")]
    assert "+exit 0" in new.diff()
    accept(store(world), shown.project, shown.items)
    assert look(world).items[0].diff() == ""
    assert look(world).pending == ()
    script.write_text("#!/bin/sh\nexit 1\n")
    (changed,) = look(world).pending
    assert isinstance(changed.state, Changed)
    assert "-exit 0\n+exit 1" in changed.diff()
    assert "guard.sh (trusted)" in changed.diff()


def test_a_review_names_trusted_hooks_that_are_gone(world: World) -> None:
    world.write("project", hook("guard"))
    trust_all(world)
    world.write("project", {})
    shown = look(world)
    assert shown.items == ()
    assert ["guard" in record.entry for record in shown.removed] == [True]


def test_large_and_binary_files_are_bound_without_a_copy(world: World) -> None:
    script = lay_out(world)
    for content in (b"#!/bin/sh\n" + b"#" * 70_000, b"\x7fELF\xff\xfe"):
        script.write_bytes(content)
        (item,) = trust_all(world).items
        assert item.item.files[0].text is None
        assert runnable(stored(world)) == [SCRIPT]
        script.write_bytes(content + b"x")
        (item,) = look(world).pending
        assert "guard.sh" in item.diff()
        script.write_bytes(content)


# ── the store ───────────────────────────────────────────────────────────────


def test_the_store_is_private(world: World) -> None:
    lay_out(world)
    trust_all(world)
    path = Path(store(world).path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["trust.json"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"version": 1, "projects": []}',
        '{"version": 2}',
        '{"version": 1, "projects": {"/x": [{}]}}',
        "\0",
    ],
)
def test_a_damaged_store_trusts_nothing_and_is_not_overwritten(world: World, content: str) -> None:
    lay_out(world)
    trust_all(world)
    path = Path(store(world).path)
    path.write_text(content)
    loaded = stored(world)
    assert runnable(loaded) == []
    assert [report.code for report in loaded.diagnostics] == ["trust-store"]
    with pytest.raises(TrustError):
        accept(store(world), str(world.project), look(world).items)
    with pytest.raises(TrustError):
        store(world).revoke(str(world.project))
    assert path.read_text() == content


def test_a_store_that_others_may_write_proves_nothing(world: World) -> None:
    lay_out(world)
    trust_all(world)
    os.chmod(store(world).path, 0o666)
    loaded = stored(world)
    assert runnable(loaded) == []
    assert "others may write it" in loaded.diagnostics[0].message


@pytest.mark.parametrize("odd", ["folder-is-a-file", "store-is-a-fifo"])
def test_a_store_that_cannot_be_used_is_an_error_and_trusts_nothing(world: World, odd: str) -> None:
    lay_out(world)
    if odd == "folder-is-a-file":
        world.write("state", "")
    else:
        (world.root / "state").mkdir()
        os.mkfifo(store(world).path)
    assert runnable(stored(world)) == []
    with pytest.raises(TrustError, match=r"trust\.json"):
        accept(store(world), str(world.project), look(world).items)


def test_revoking_forgets_one_project(world: World) -> None:
    lay_out(world)
    trust_all(world)
    other = world.root / "other"
    world.write(other / ".claude" / "settings.json", hook("other"))
    shown = review(stored(world, start=other), str(other))
    accept(store(world), shown.project, shown.items)
    assert set(store(world).projects()) == {str(world.project), str(other)}
    store(world).revoke(str(world.project))
    assert runnable(stored(world)) == []
    assert runnable(stored(world, start=other)) == ["other"]


WRITER = """
import sys
from hookwright.config import Record, TrustStore
store = TrustStore(sys.argv[1])
for number in range(10):
    store.record(sys.argv[2], [Record(f"{sys.argv[3]}-{number}", f"e{sys.argv[3]}{number}", "")])
"""


def test_writers_at_the_same_time_lose_nothing(world: World) -> None:
    path = store(world).path
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, path, str(world.project), str(number)]) for number in range(4)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    digests = {record.digest for record in store(world).decisions(str(world.project))}
    assert digests == {f"{writer}-{number}" for writer in range(4) for number in range(10)}


def test_a_writer_that_dies_leaves_the_old_store(world: World) -> None:
    lay_out(world)
    trust_all(world)
    before = Path(store(world).path).read_bytes()
    script = WRITER.replace("store = ", "import os\nos.replace = lambda *a: os._exit(7)\nstore = ")
    done = subprocess.run([sys.executable, "-c", script, store(world).path, str(world.project), "x"], check=False)
    assert done.returncode == 7
    assert Path(store(world).path).read_bytes() == before
    trust_all(world)
    assert runnable(stored(world)) == [SCRIPT]


# ── known attacks ───────────────────────────────────────────────────────────


def test_a_repository_cannot_borrow_the_trust_of_another_by_its_git_files(world: World) -> None:
    lay_out(world)
    (world.project / ".git").mkdir()
    trust_all(world)
    evil = world.root / "evil"
    world.write(evil / ".claude" / "settings.json", world.places["project"].read_text())
    world.write(evil / ".git" / "commondir", str(world.project / ".git"))
    assert runnable(stored(world, start=evil)) == []


def test_bypass_mode_in_a_project_file_does_not_skip_trust(world: World) -> None:
    theirs = {"permissions": {"defaultMode": "bypassPermissions"}}
    world.write("project", {**theirs, **hook("touch ran.txt", "SessionStart")})
    outcome = fire(world, "SessionStart")
    assert [skip.reason for skip in outcome.skips] == [SkipReason.UNTRUSTED]
    assert stored(world).settings.permissions.default_mode is None


def test_settings_that_appear_later_are_not_trusted(world: World) -> None:
    trust_all(world)
    world.write("project", hook("touch ran.txt", "SessionStart"))
    assert runnable(stored(world)) == []


def test_linked_settings_are_still_the_projects(world: World) -> None:
    elsewhere = world.write("elsewhere.json", hook("x"))
    world.places["project"].symlink_to(elsewhere)
    assert runnable(stored(world)) == []
