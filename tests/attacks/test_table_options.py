"""Options and paths with which a program of the tables runs, writes or reads something else: the user is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookwright.agent.permissions.commands import only_moves_files, only_reads
from hookwright.agent.permissions.workspace import Workspace

AREA = "tables"
_TEXT = (Path(__file__).parents[1] / "data" / "hostile_commands.txt").read_text()
READING, MOVING = ([line for line in part.splitlines()[1:] if line] for part in _TEXT.split("# ")[1:])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A project with links that lead out of it, and to its own protected folders."""
    base = tmp_path_factory.mktemp("tables")
    root = base / "project"
    for folder in ("home/.ssh", "project/sub/deep", "project/protected", "project/.git/hooks", "project/.claude"):
        (base / folder).mkdir(parents=True)
    for file in ("home/.ssh/id_rsa", "project/.env", "project/f.txt", "project/-exec"):
        (base / file).write_text("x")
    (root / "link").symlink_to(base / "home")
    (root / "sub" / "up").symlink_to(root)
    (root / "sub" / "env").symlink_to(root / ".env")
    (root / "sub" / "deep" / "back").symlink_to("../../protected")
    return Workspace(root=str(root), home=str(base / "home"))


def test_the_lists_are_read() -> None:
    assert (len(READING) > 120, len(MOVING) > 60) == (True, True)


@pytest.mark.parametrize("command", READING)
def test_no_option_makes_a_reading_program_do_more(command: str, workspace: Workspace) -> None:
    assert not only_reads(command, workspace.root, workspace)


@pytest.mark.parametrize("command", MOVING)
def test_no_spelling_moves_what_is_protected(command: str, workspace: Workspace) -> None:
    assert not only_moves_files(command, workspace.root, workspace)
