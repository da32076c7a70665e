"""Trust is bound to content: no race, link, name or nesting leads round it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookwright.agent.permissions.workspace import Workspace
from hookwright.config.review import accept, review
from support import script
from worlds import World, hook, runnable


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    (made.project / ".git").mkdir()
    return made


def trust(world: World, start: Path | None = None) -> None:
    loaded = world.load(start, trust=None)
    accept(loaded.gate.store, loaded.project_dir, review(loaded).pending)


def active(world: World, start: Path | None = None) -> list[str]:
    return runnable(world.load(start, trust=None))


# ── races ───────────────────────────────────────────────────────────────────


def test_what_is_swapped_between_review_and_yes_is_not_trusted(world: World) -> None:
    path = script(world.project / "hook.sh", "echo reviewed")
    world.write("project", hook("./hook.sh"))
    loaded = world.load(trust=None)
    shown = review(loaded)
    assert "echo reviewed" in shown.pending[0].diff()
    path.write_text("#!/bin/sh\necho swapped\n")
    accept(loaded.gate.store, loaded.project_dir, shown.pending)
    assert active(world) == []
    path.write_text("#!/bin/sh\necho reviewed\n")
    assert active(world) == ["./hook.sh"]


def test_a_settings_file_that_is_swapped_between_review_and_yes_is_not_trusted(world: World) -> None:
    world.write("project", hook("true"))
    loaded = world.load(trust=None)
    shown = review(loaded)
    world.write("project", hook("touch pwned"))
    accept(loaded.gate.store, loaded.project_dir, shown.pending)
    assert active(world) == []


def test_a_swap_back_and_forth_between_two_looks_is_noticed_or_harmless(world: World) -> None:
    """The look compares more than times, which the owner of a file can set back."""
    path = script(world.project / "hook.sh", "echo good")
    world.write("project", hook("./hook.sh"))
    trust(world)
    loaded = world.load(trust=None)
    (handler,) = (entry.handler for entry in loaded.hooks)
    assert loaded.gate.check(handler) is None
    facts = path.stat()
    for _ in range(20):
        path.write_text("#!/bin/sh\necho evil\n")
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        assert loaded.gate.check(handler) is not None
        path.write_text("#!/bin/sh\necho good\n")
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        assert loaded.gate.check(handler) is None


# ── links and names ─────────────────────────────────────────────────────────


def _retarget(world: World) -> None:
    link = world.project / "link.sh"
    link.unlink()
    link.symlink_to("evil.sh")


def _swap_folder(world: World) -> None:
    (world.project / "tools").rename(world.project / "old")
    (world.project / "tools").symlink_to(world.root / "elsewhere")


def _edit_through_a_hard_link(world: World) -> None:
    os.link(world.project / "good.sh", world.root / "other-name")
    (world.root / "other-name").write_text("#!/bin/sh\ntouch pwned\n")


def _edit_outside(world: World) -> None:
    (world.root / "outside.sh").write_text("#!/bin/sh\ntouch pwned\n")


def _edit_sourced(world: World) -> None:
    (world.project / "lib.sh").write_text("touch pwned\n")


def _edit_submodule(world: World) -> None:
    (world.project / "sub" / "hook.sh").write_text("#!/bin/sh\ntouch pwned\n")


@pytest.mark.req("R-367")
@pytest.mark.parametrize(
    ("command", "change"),
    [
        ("./link.sh", _retarget),
        ("./tools/hook.sh", _swap_folder),
        ("./good.sh", _edit_through_a_hard_link),
        ("../outside.sh", _edit_outside),
        ("./tools/../../outside.sh", _edit_outside),
        ("sh -c '. ./lib.sh'", _edit_sourced),
        ("./sources.sh", _edit_sourced),
        ("./sub/hook.sh", _edit_submodule),
    ],
)
def test_a_change_by_any_road_is_a_change(command: str, change: Callable[[World], None], world: World) -> None:
    for name in ("good.sh", "evil.sh", "tools/hook.sh", "sub/hook.sh"):
        script(world.project / name, "true")
    script(world.project / "sources.sh", ". ./lib.sh")
    (world.project / "lib.sh").write_text("true\n")
    (world.project / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    (world.project / "link.sh").symlink_to("good.sh")
    script(world.root / "outside.sh", "true")
    script(world.root / "elsewhere" / "hook.sh", "touch pwned")
    (world.project / "evil.sh").write_text("#!/bin/sh\ntouch pwned\n")
    world.write("project", hook(command))
    trust(world)
    assert active(world) == [command]
    change(world)
    assert active(world) == []


def test_what_stands_two_levels_down_is_bound(world: World) -> None:
    script(world.project / "hook.sh", ". ./one.sh")
    script(world.project / "one.sh", ". ./two.sh")
    deep = script(world.project / "two.sh", "true")
    world.write("project", hook("./hook.sh"))
    trust(world)
    deep.write_text("#!/bin/sh\necho changed\n")
    assert active(world) == []


@pytest.mark.parametrize(
    "name", [".claude/settings.json", ".CLAUDE/Settings.JSON", ".Claude/settings.local.json", ".GIT/config"]
)
def test_the_case_of_a_name_hides_nothing(name: str, world: World) -> None:
    """On a file system that does not tell cases apart these are the same files."""
    workspace = Workspace(root=str(world.project), home=str(world.home))
    assert workspace.sensitive(str(world.project / name))


# ── whose project ───────────────────────────────────────────────────────────


def test_a_nested_repository_has_no_part_in_the_trust_around_it(world: World) -> None:
    world.write("project", hook("true"))
    trust(world)
    nested = world.project / "vendor" / "nested"
    (nested / ".git").mkdir(parents=True)
    assert active(world, nested) == []
    world.write("project/vendor/nested/.claude/settings.json", hook("true"))
    assert active(world, nested) == []
    assert active(world) == ["true"]


def test_a_submodule_is_a_repository_of_its_own(world: World) -> None:
    world.write("project", hook("true"))
    trust(world)
    sub = world.project / "sub"
    sub.mkdir()
    (sub / ".git").write_text(f"gitdir: {world.project}/.git/modules/sub\n")
    world.write("project/sub/.claude/settings.json", hook("true"))
    assert active(world, sub) == []


def test_a_copy_of_a_trusted_project_is_not_trusted(world: World) -> None:
    world.write("project", hook("true"))
    trust(world)
    copy = world.root / "copy"
    subprocess.run(["cp", "-r", world.project, copy], check=True)
    assert active(world, copy) == []


def test_a_link_to_a_trusted_project_is_the_project(world: World) -> None:
    world.write("project", hook("true"))
    trust(world)
    (world.root / "link").symlink_to(world.project)
    assert active(world, world.root / "link") == ["true"]
    (world.root / "link").unlink()
    other = world.root / "other"
    world.write("other/.claude/settings.json", hook("true"))
    (world.root / "link").symlink_to(other)
    assert active(world, world.root / "link") == []


# ── no byte of the workspace is interpreted before trust ────────────────────


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _endless_link(path: Path) -> None:
    path.symlink_to(path.name)


def _folder(path: Path) -> None:
    path.mkdir()


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10_000_000_000)


def _deep(path: Path) -> None:
    path.write_text("[" * 500_000)


def _aliases(path: Path) -> None:
    levels = "\n".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
    path.write_text(f"---\na0: &a0 x\n{levels}\n---\n")


TRAPS = (_fifo, _device, _endless_link, _folder, _huge, _deep, _aliases)
PLACES = (
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/skills/x/SKILL.md",
    ".claude/agents/x.md",
    ".git",
    "hook.sh",
    "plugin/.claude-plugin/plugin.json",
    "plugin/hooks/hooks.json",
)


@pytest.mark.req("R-366")
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
@pytest.mark.parametrize("place", PLACES)
def test_no_trap_in_the_workspace_holds_a_load_up_or_raises(
    place: str, trap: Callable[[Path], None], world: World
) -> None:
    (world.project / ".git").rmdir()
    path = world.project / place
    path.parent.mkdir(parents=True, exist_ok=True)
    if not place.startswith(".claude/settings"):
        world.write("project", hook("./hook.sh"))
    trap(path)
    started = time.monotonic()
    loaded = world.load(trust=None, plugin_dirs=[str(world.project / "plugin")] if place.startswith("plugin") else [])
    review(loaded)
    assert runnable(loaded) == []
    assert time.monotonic() - started < 5
