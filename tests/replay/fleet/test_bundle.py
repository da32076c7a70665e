"""A bundle is named by its content, is checked before it is unpacked, and stays in its folder."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tarfile
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hookwright.config import Places
from hookwright.errors import ConfigError
from hookwright.replay.fleet import bundle as bundles
from hookwright.replay.fleet.bundle import BrokenBundle, Bundle, Contents, pack, unpack
from hookwright.replay.fleet.contents import arrived, contents_of, travelling, unsent_files
from hookwright.replay.sides import ReplaySide
from hookwright.replay.work import ReplayPlan
from support import hooks_for, script
from support import settings as write_settings


def tree(root: Path) -> Contents:
    (root / "project" / "a").mkdir(parents=True)
    (root / "project" / "a" / "one.txt").write_text("one")
    script(root / "project" / "run.sh", "#!/bin/sh\nexit 0\n")
    (root / "project" / "link").symlink_to("a/one.txt")
    (root / "guard.py").write_text("pass")
    files = [root / "project" / "a" / "one.txt", root / "project" / "run.sh", root / "project" / "link"]
    return Contents((str(root / "project"),), tuple(map(str, (*files, root / "guard.py"))))


def test_a_bundle_gives_back_files_links_and_modes(tmp_path: Path) -> None:
    contents = tree(tmp_path / "here")
    (tmp_path / "there").mkdir()
    found = unpack(pack(contents), str(tmp_path / "there"))
    inside = Path(found.root + str(tmp_path / "here"))
    assert (inside / "project/a/one.txt").read_text() == "one"
    assert os.readlink(inside / "project/link") == "a/one.txt"
    assert os.access(inside / "project/run.sh", os.X_OK)
    assert not os.access(inside / "guard.py", os.X_OK) or os.geteuid() == 0
    assert stat.S_IMODE(os.stat(found.root).st_mode) == 0o700
    assert found.at_home() is None
    found.check()


def test_the_bytes_depend_on_content_alone(tmp_path: Path) -> None:
    contents = tree(tmp_path)
    first = pack(contents)
    os.utime(tmp_path / "guard.py", (1, 1))
    again = pack(msgspec.structs.replace(contents, paths=contents.paths[::-1]))
    assert again == first
    assert hashlib.sha256(first.data).hexdigest() == first.digest
    (tmp_path / "guard.py").write_text("other")
    assert pack(contents).digest != first.digest


def test_what_differs_on_a_machine_is_named(tmp_path: Path) -> None:
    contents = tree(tmp_path)
    found = unpack(pack(contents), str(tmp_path))
    (tmp_path / "guard.py").write_text("other")
    assert found.at_home() == str(tmp_path / "guard.py")
    Path(found.root + str(tmp_path / "guard.py")).write_text("other")
    with pytest.raises(BrokenBundle, match="changed after it was unpacked"):
        found.check()


@given(some.integers(0, 10_000), some.integers(1, 255))
@settings(max_examples=30, deadline=None)
def test_damage_is_noticed_before_anything_is_written(at: int, by: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = pack(tree(Path(folder) / "x"))
        data = bytearray(whole.data)
        data[at % len(data)] ^= by
        empty = Path(folder) / "empty"
        empty.mkdir()
        with pytest.raises(BrokenBundle, match="damaged"):
            unpack(Bundle(whole.digest, bytes(data)), str(empty))
        assert list(empty.iterdir()) == []


def _tar(*members: tuple[str, bytes, str]) -> Bundle:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for name, kind, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            tar.addfile(member, io.BytesIO(b""))
    return Bundle(hashlib.sha256(raw.getvalue()).hexdigest(), raw.getvalue())


@pytest.mark.parametrize(
    "members",
    [
        [("files/../../out", tarfile.REGTYPE, "")],
        [("/etc/out", tarfile.REGTYPE, "")],
        [("out", tarfile.REGTYPE, "")],
        [("files/a", tarfile.SYMTYPE, "/tmp"), ("files/a/out", tarfile.REGTYPE, "")],
        [("files/a", tarfile.LNKTYPE, "/etc/passwd")],
        [("files/a", tarfile.FIFOTYPE, "")],
        [("files/a", tarfile.CHRTYPE, "")],
    ],
    ids=["parent", "absolute", "beside", "through-a-link", "hard-link", "pipe", "device"],
)
def test_what_would_leave_the_folder_is_refused(members: list[tuple[str, bytes, str]], tmp_path: Path) -> None:
    with pytest.raises(BrokenBundle, match="does not belong in a bundle"):
        unpack(_tar(*members), str(tmp_path))


# ── what is sent ────────────────────────────────────────────────────────────


def _places(root: Path, **env: str) -> Places:
    home = root / "home"
    (home / ".claude").mkdir(parents=True)
    project = root / "project"
    project.mkdir()
    script(root / "elsewhere" / "guard.sh", "#!/bin/sh\n. ./helper.sh\n")
    script(home / ".claude" / "own.sh", "#!/bin/sh\nexit 0\n")
    (home / ".claude" / ".credentials.json").write_text("{}")
    (home / "private.txt").write_text("mine")
    (project / "src.py").write_text("pass")
    own = {"type": "command", "command": "~/.claude/own.sh"}
    (home / ".claude" / "settings.json").write_text(msgspec.json.encode(hooks_for("Stop", own)).decode())
    guard = {"type": "command", "command": str(root / "elsewhere" / "guard.sh")}
    write_settings(project, hooks_for("PreToolUse", guard))
    managed = {"HOOKWRIGHT_MANAGED_SETTINGS": str(home / "none")}
    return Places(project=str(project), env={**managed, **env}, home=str(home), state_dir=str(home / "state"))


def test_hooks_settings_and_project_are_sent_and_nothing_else_of_the_home_directory(tmp_path: Path) -> None:
    found = contents_of([_places(tmp_path)])
    names = {os.path.relpath(path, tmp_path) for path in found.paths}
    assert found.trees == (str(tmp_path / "project"),)
    assert {"project/src.py", "project/.claude/settings.json", "elsewhere/guard.sh"} <= names
    assert {name for name in names if name.startswith("home")} == {
        "home",
        "home/.claude/settings.json",
        "home/.claude/own.sh",
    }


def test_a_hook_that_names_a_file_that_is_not_sent_is_found(tmp_path: Path) -> None:
    places = _places(tmp_path)
    settings = msgspec.json.encode(
        hooks_for(
            "PreToolUse",
            {"type": "command", "command": "test -e ~/private.txt && exit 2"},
            {"type": "command", "command": "cat $HOME/.claude/own.sh; ls ~/.claude; cat ~/no-such-file /usr/bin/env"},
            {"type": "command", "command": "python3 -c 'from pathlib import Path; print(Path.home())'"},
        )
    ).decode()
    places = msgspec.structs.replace(places, settings=(settings,))
    found = unsent_files([places], contents_of([places]))
    assert sorted(found.values()) == [str(tmp_path / "home"), str(tmp_path / "home" / "private.txt")]


def test_a_project_that_holds_the_home_directory_is_not_sent(tmp_path: Path) -> None:
    places = Places(project=str(tmp_path), env={}, home=str(tmp_path / "home"), state_dir=str(tmp_path))
    (tmp_path / "home").mkdir()
    with pytest.raises(ConfigError, match="which is not sent to workers"):
        contents_of([places])


def test_too_much_is_refused_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "LIMIT", 4)
    with pytest.raises(ConfigError, match=r"Add large files to \.gitignore"):
        pack(tree(tmp_path))


def test_no_variable_but_those_hooks_inherit_leaves_the_machine(tmp_path: Path) -> None:
    places = _places(tmp_path, TOKEN="secret", WANTED="yes", PATH="/here", LANG="C")
    side = ReplaySide("current", places)
    plan = ReplayPlan(
        baseline=side, candidate=side, level="none", project="/", home="/", env=("WANTED",), started_by=os.getpid()
    )
    sent = travelling(plan)
    assert b"secret" not in sent.packed()
    assert sent.started_by == 0
    there = arrived(sent, "/there", "/shown")
    assert there.environment() == {"PATH": "/there", "LANG": "C", "WANTED": "yes"}
    assert there.shown == "/shown"
