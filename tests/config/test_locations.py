import asyncio
import os
from pathlib import Path

import pytest

from hookwright.config import Places, accept, review
from hookwright.config.load import FileStatus
from hookwright.config.locations import Surroundings, anchor, locate, managed_files
from hookwright.errors import ConfigError
from hookwright.protocol.samples import sample
from hookwright.protocol.sources import Scope
from hookwright.session import open_session
from worlds import World, hook, labels


def around(env: dict[str, str] | None = None, home: str = "/nowhere", platform: str = "linux") -> Surroundings:
    return Surroundings(env or {}, home, "/", platform)


@pytest.mark.req("R-004")
def test_user_scope_is_read_from_home_for_every_project(world: World) -> None:
    world.write("user", hook("user"))
    other = world.root / "other"
    other.mkdir()
    assert labels(world.load()) == labels(world.load(other)) == ["user"]


@pytest.mark.req("R-004")
def test_claude_config_dir_moves_the_user_scope(world: World) -> None:
    world.write("user", hook("home"))
    world.write("moved/settings.json", hook("moved"))
    assert labels(world.load(env={"CLAUDE_CONFIG_DIR": str(world.root / "moved")})) == ["moved"]


@pytest.mark.req("R-005", "R-006")
def test_project_and_local_files_run_side_by_side(world: World) -> None:
    world.write("project", hook("project"))
    world.write("local", hook("local"))
    assert labels(world.load()) == ["project", "local"]


@pytest.mark.req("R-005")
@pytest.mark.parametrize(
    ("git", "settings_in", "start", "found_in"),
    [
        (".", ".", "a/b", "."),
        (".", "a", "a/b", "a"),
        (".", "a/b", "a/b", "a/b"),
        ("a", ".", "a/b", None),
        (None, ".", "a/b", None),
        (None, "a/b", "a/b", "a/b"),
        (".", None, "a/b", None),
    ],
    ids=["root", "between", "start", "above-the-root", "no-repository", "no-repository-start", "no-settings"],
)
def test_project_settings_are_searched_up_to_the_repository_root(
    world: World, git: str | None, settings_in: str | None, start: str, found_in: str | None
) -> None:
    top = world.root / "search"
    (top / "a" / "b").mkdir(parents=True)
    if git is not None:
        (top / git / ".git").mkdir()
    if settings_in is not None:
        world.write(Path("search") / settings_in / ".claude" / "settings.json", hook("found"))
    loaded = world.load(top / start)
    assert labels(loaded) == (["found"] if found_in else [])
    assert Path(loaded.project_dir) == ((top / found_in) if found_in else (top / start)).resolve()


@pytest.mark.req("R-006")
def test_a_local_file_alone_marks_the_project(world: World) -> None:
    (world.project / ".git").mkdir()
    (world.project / "sub").mkdir()
    world.write("local", hook("local"))
    loaded = world.load(world.project / "sub")
    assert labels(loaded) == ["local"]
    assert loaded.project_dir == str(world.project)


def test_a_git_file_marks_the_root_of_a_worktree(world: World) -> None:
    (world.project / ".git").mkdir()
    world.write("project", hook("main checkout"))
    tree = world.project / "trees" / "one"
    tree.mkdir(parents=True)
    (tree / ".git").write_text("gitdir: elsewhere\n")
    assert labels(world.load(tree)) == []


def test_home_is_user_scope_and_never_a_project(world: World) -> None:
    world.write("user", hook("user"))
    world.write(world.home / ".claude" / "settings.local.json", hook("local"))
    (world.home / ".git").mkdir()
    (world.home / "work").mkdir()
    for start in (world.home, world.home / "work"):
        loaded = world.load(start)
        assert labels(loaded) == ["user"]
        assert loaded.project_dir == str(start)


def test_a_start_directory_behind_a_link_is_taken_by_its_real_path(world: World) -> None:
    world.write("project", hook("project"))
    link = world.root / "link"
    link.symlink_to(world.project)
    loaded = world.load(link)
    assert labels(loaded) == ["project"]
    assert loaded.project_dir == str(world.project)


@pytest.mark.req("R-008")
def test_managed_folder_is_read_in_alphabetical_order(world: World) -> None:
    world.write("managed", hook("main"))
    for name in ("20-b.json", "10-a.json", ".hidden.json", "notes.txt", "30-c.json.bak"):
        world.write(world.managed / "managed-settings.d" / name, hook(name))
    assert labels(world.load()) == ["main", "10-a.json", "20-b.json"]


@pytest.mark.req("R-008")
def test_managed_variable_may_name_one_file(world: World) -> None:
    path = world.write("one.json", hook("one"))
    world.write("managed", hook("main"))
    loaded = world.load(env={"HOOKWRIGHT_MANAGED_SETTINGS": str(path)})
    assert labels(loaded) == ["one"]
    assert loaded.files[0].path == str(path)


@pytest.mark.req("R-008")
@pytest.mark.parametrize(
    ("platform", "path"),
    [
        ("linux", "/etc/claude-code/managed-settings.json"),
        ("darwin", "/Library/Application Support/ClaudeCode/managed-settings.json"),
    ],
)
def test_managed_paths_of_the_platforms(platform: str, path: str) -> None:
    assert managed_files(around(platform=platform))[0] == path


def test_managed_path_of_windows() -> None:
    assert managed_files(around(platform="win32"))[0].startswith("C:\\Program Files\\ClaudeCode")


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (None, ["managed", "user", "project", "local", "flag"]),
        (["user"], ["managed", "user", "flag"]),
        (["project", "local"], ["managed", "project", "local", "flag"]),
        ([], ["managed", "flag"]),
    ],
)
def test_sources_choose_among_the_three_ordinary_scopes(
    world: World, sources: list[str] | None, expected: list[str]
) -> None:
    for scope in ("managed", "user", "project", "local"):
        world.write(scope, hook(scope))
    flag = world.write("flag.json", hook("flag"))
    assert labels(world.load(settings=[str(flag)], sources=sources)) == expected


def test_an_unknown_source_is_refused(world: World) -> None:
    with pytest.raises(ConfigError, match=r"'global' is not a settings source\. Use user, project, local"):
        world.load(sources=["global"])


def test_settings_may_be_given_as_json_or_file(world: World) -> None:
    world.write("project/extra.json", hook("from file"))
    loaded = world.load(
        settings=["extra.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "inline"}]}]}}']
    )
    assert labels(loaded) == ["from file", "inline"]
    assert [str(entry.handler.source) for entry in loaded.hooks] == [
        "extra.json:6 hooks.PreToolUse[0].hooks[0]",
        "--settings:1 hooks.Stop[0].hooks[0]",
    ]


@pytest.mark.parametrize(
    ("value", "says"),
    [("missing.json", "--settings missing.json: no such file"), ('{"a": }', "--settings: not valid JSON: `}` found")],
)
def test_settings_that_cannot_be_had_are_an_error(world: World, value: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        world.load(settings=[value])


def test_a_start_that_is_no_directory_is_an_error(world: World) -> None:
    with pytest.raises(ConfigError, match="is not a directory"):
        world.load(world.root / "nowhere", cwd=str(world.root))


def test_files_tell_what_was_looked_for(world: World) -> None:
    world.write("user", "{ broken")
    world.write("project", {})
    loaded = world.load()
    assert [(file.scope, file.status) for file in loaded.files] == [
        (Scope.MANAGED, FileStatus.ABSENT),
        (Scope.USER, FileStatus.BROKEN),
        (Scope.PROJECT, FileStatus.READ),
        (Scope.LOCAL, FileStatus.ABSENT),
    ]
    assert all(os.path.isabs(file.path) for file in loaded.files)


def test_rules_of_a_file_start_from_the_directory_it_belongs_to(world: World) -> None:
    (world.project / ".git").mkdir()
    (world.project / "sub").mkdir()
    world.write("project", {})
    flag = world.write("flags/flag.json", {})
    where = Surroundings(world.env, str(world.home), str(world.project / "sub"))
    places = locate(".", where, settings=[str(flag), "{}"])
    assert {(file.scope, file.inline): anchor(file, places) for file in places.files} == {
        (Scope.MANAGED, None): str(world.managed),
        (Scope.USER, None): str(world.home / ".claude"),
        (Scope.PROJECT, None): str(world.project),
        (Scope.LOCAL, None): str(world.project / "sub"),
        (Scope.FLAG, None): str(world.root / "flags"),
        (Scope.FLAG, "{}"): str(world.project / "sub"),
    }


@pytest.mark.parametrize(
    ("env", "path"),
    [
        ({"HOOKWRIGHT_STATE_DIR": "/s"}, "/s"),
        ({"XDG_STATE_HOME": "/x"}, "/x/hookwright"),
        ({"XDG_STATE_HOME": "relative"}, "/h/.local/state/hookwright"),
        ({}, "/h/.local/state/hookwright"),
    ],
)
def test_state_directory(env: dict[str, str], path: str) -> None:
    assert around(env, home="/h").state_dir == path


@pytest.mark.parametrize("named", ["home", "state", "moved"])
def test_everything_kept_for_a_home_is_kept_under_that_home(world: World, named: str) -> None:
    """Law: trust store, journal, env files and settings of a `Places` have the same home, whatever $HOME is."""
    elsewhere = world.root / "elsewhere"
    elsewhere.mkdir()
    env = {"HOME": str(elsewhere), "PATH": os.environ["PATH"], "HOOKWRIGHT_MANAGED_SETTINGS": str(world.managed)}
    if named == "state":
        env["HOOKWRIGHT_STATE_DIR"] = "kept"
    if named == "moved":
        env["CLAUDE_CONFIG_DIR"] = "moved"
    world.write(
        "moved/settings.json" if named == "moved" else "user",
        hook('echo "export A=1" > "$CLAUDE_ENV_FILE"', "SessionStart"),
    )
    world.write("project", hook("true", "Stop"))
    places = Places(project=str(world.project), env=env, home=str(world.home), cwd=str(world.root))
    loaded = places.load()
    found = review(loaded)
    accept(loaded.gate.store, found.project, found.items)

    async def start() -> list[tuple[str, str]]:
        async with open_session(places, journal=True) as session:
            await session.fire(sample("SessionStart", cwd=str(world.project)))
            return session.env_files()

    written = [path for _, path in asyncio.run(start())]
    state = world.root / "kept" if named == "state" else world.home / ".local" / "state" / "hookwright"
    config = world.root / "moved" if named == "moved" else world.home / ".claude"
    assert sorted(path.name for path in state.iterdir()) == ["journal.jsonl", "trust.json"]
    assert [Path(path).is_relative_to(config) for path in written] == [True]
    assert list(elsewhere.iterdir()) == []
