"""Scratch copies of real projects: what they contain, and that git works in them without touching the original."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hookwright.errors import ConfigError
from hookwright.projects.scratch import Mirror


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e", *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def repository(project: Path) -> Path:
    project.mkdir()
    git(project, "init", "-q", "-b", "trunk")
    (project / "a.txt").write_text("a")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "one")
    return project


def copied(project: Path, target: Path) -> Path:
    target.mkdir()
    Mirror(str(project)).copy_to(str(target))
    return target


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.needs("git")
def test_the_copy_is_an_independent_repository_without_ignored_files(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    (project / ".gitignore").write_text("big/\n.claude/settings.local.json\n")
    (project / "big").mkdir()
    (project / "big" / "model.bin").write_text("x")
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.local.json").write_text("{}")
    copy = copied(project, tmp_path / "copy")
    assert names(copy) == [".claude", ".git", ".gitignore", "a.txt"]
    assert names(copy / ".claude") == ["settings.local.json"]
    assert git(copy, "log", "--format=%s %D") == "one HEAD -> trunk\n"
    git(copy, "commit", "-q", "--allow-empty", "-m", "two")
    assert git(project, "log", "--format=%s") == "one\n"


@pytest.mark.needs("git")
def test_the_copy_of_a_linked_worktree_is_on_its_branch_with_its_index(tmp_path: Path) -> None:
    project = repository(tmp_path / "project")
    worktree = tmp_path / "worktree"
    git(project, "worktree", "add", "-q", "-b", "side", str(worktree))
    (worktree / "b.txt").write_text("b")
    git(worktree, "add", "b.txt")
    copy = copied(worktree, tmp_path / "copy")
    assert git(copy, "rev-parse", "--abbrev-ref", "HEAD") == "side\n"
    assert git(copy, "status", "--porcelain") == "A  b.txt\n"
    git(copy, "commit", "-q", "-m", "two")
    assert git(worktree, "log", "--format=%s") == "one\n"
    assert git(worktree, "status", "--porcelain") == "A  b.txt\n"


def test_without_git_generated_folders_are_not_copied(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in ("src", "node_modules", ".venv", "__pycache__"):
        (project / name).mkdir(parents=True)
        (project / name / "file").write_text("x")
    assert names(copied(project, tmp_path / "copy")) == ["src"]


def test_links_are_copied_as_links(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("a")
    (project / "link").symlink_to("a.txt")
    (project / "away").symlink_to(tmp_path)
    copy = copied(project, tmp_path / "copy")
    assert (copy / "link").is_symlink()
    assert (copy / "away").readlink() == tmp_path


def test_a_project_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookwright.projects.scratch.MAX_FILES", 2)
    for name in "abc":
        (tmp_path / name).write_text(name)
    with pytest.raises(ConfigError, match="too large for a scratch copy"):
        Mirror(str(tmp_path)).copy_to(str(tmp_path / "copy"))
