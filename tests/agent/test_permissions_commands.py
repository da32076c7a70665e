"""Commands that need no rule, and those that look as if they did not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookwright.agent.permissions import Workspace
from hookwright.agent.permissions.commands import only_moves_files, only_reads


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "project"
    (root / "a" / "b").mkdir(parents=True)
    (root / "out").symlink_to("/etc")
    (tmp_path / "session").mkdir()
    return Workspace(root=str(root), home=str(tmp_path), readable=(str(tmp_path / "session"),))


READING = [
    "ls",
    "ls -la a",
    "cat a/b/f.txt | grep -n 'x y' | wc -l",
    "git status && git diff HEAD~1 -- a",
    "cd a",
    "find . -name '*.py'",
    "head -n 5 a 2>/dev/null",
    "echo /etc/passwd",
    "pwd; which python",
    "wc -l < a/b/f",
]
NOT_READING = [
    "",
    "rm a",
    "ls > out.txt",
    "cat /etc/passwd",
    "cat ~/.ssh/id_rsa",
    "cat ../secret",
    "cat out/passwd",
    "wc -l < /etc/passwd",
    "cat $FILE",
    "cat a/*.txt",
    "cat $(ls)",
    "FOO=1 ls",
    "find . -delete",
    "find . -exec rm {} +",
    "find . -fprint x",
    "git push",
    "git -c core.pager=sh log",
    "git diff --output=x",
    "git log --output x",
    "grep x --file=/etc/passwd",
    "cd a/b && cat ../../../x",
    "ls; make",
    "cat <(rm x)",
    "ls &&",
    "$CMD",
    "sh -c ls",
    "sudo ls",
]


@pytest.mark.parametrize("command", READING)
def test_commands_that_only_read(workspace: Workspace, command: str) -> None:
    assert only_reads(command, workspace.root, workspace)


@pytest.mark.parametrize("command", NOT_READING)
def test_commands_that_do_more_or_may(workspace: Workspace, command: str) -> None:
    assert not only_reads(command, workspace.root, workspace)


def test_a_cd_upwards_is_not_followed_by_eye(workspace: Workspace) -> None:
    deeper = f"{workspace.root}/a/b"
    assert only_reads("cat ../x", deeper, workspace)
    assert not only_reads("cd ../.. && cat ../x", deeper, workspace)


def test_the_sessions_own_folder_may_be_read(workspace: Workspace) -> None:
    assert only_reads(f"tail {workspace.readable[0]}/tasks/b1.output", workspace.root, workspace)
    assert not only_moves_files(f"rm {workspace.readable[0]}/tasks/b1.output", workspace.root, workspace)


MOVING = [
    "mkdir -p x/y && touch x/y/z",
    "mv a c; cp -r c d",
    "rm -rf a/b",
    "echo hi > notes.txt",
    "ls | grep x > found.txt",
    "cat a/x >> all.txt 2>/dev/null",
]
NOT_MOVING = [
    "rm -rf .",
    "rm -rf ../project",
    "rm -rf /",
    "rm -rf $DIR",
    "rm out/passwd",
    "cp a ~/x",
    "cp -t /etc a",
    "cp --target-directory=/etc a",
    "mv a .git/hooks/pre-commit",
    "echo x > .claude/settings.json",
    "echo x > /etc/motd",
    "touch .git/x",
    "make",
    "sed -i s/a/b/ f",
]


@pytest.mark.parametrize("command", MOVING)
def test_commands_that_only_move_files_about(workspace: Workspace, command: str) -> None:
    assert only_moves_files(command, workspace.root, workspace)


@pytest.mark.parametrize("command", NOT_MOVING)
def test_commands_that_reach_further(workspace: Workspace, command: str) -> None:
    assert not only_moves_files(command, workspace.root, workspace)
