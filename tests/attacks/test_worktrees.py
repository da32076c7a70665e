"""A repository that names programs in its own configuration starts none of them when a worktree is made of it."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookwright.agent.subagents.worktrees import create, remove
from hookwright.hookset import HookSet
from hookwright.protocol.events import Event, WorktreeCreate, WorktreeRemove
from hookwright.protocol.outcome import Outcome
from support import script

AREA = "project: files that come with a clone"

pytestmark = pytest.mark.needs("git")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository in which every file has two filters, none of them configured yet."""
    made = tmp_path / "project"
    made.mkdir()
    git(made, "init", "-q")
    (made / ".gitattributes").write_text("*.txt filter=evil\n*.odd filter=e=v.il\n*.lfs filter=own\n")
    for name in ("a.txt", "b.odd", "c.lfs"):
        (made / name).write_text("content\n")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "one")
    return made


async def nothing(event: Event) -> Outcome:
    raise AssertionError(f"no hook is configured for {event.event_name}")


async def there_and_back(repository: Path) -> Path:
    common: dict[str, Any] = {"session_id": "s", "transcript_path": "/t", "cwd": str(repository)}
    path = await create("one", WorktreeCreate(**common, name="one"), nothing, HookSet(()))
    for file in Path(path).glob("*.*"):
        file.touch()  # git compares the content again
    kept = {file.name: file.read_text() for file in Path(path).glob("?.*")}
    event = WorktreeRemove(**common, worktree_path=path)
    await remove(path, event, nothing, HookSet(()))
    assert kept.keys() == {"a.txt", "b.odd", "c.lfs"}
    assert kept["a.txt"] == kept["b.odd"] == "content\n"
    (repository / "kept").write_text(kept["c.lfs"])
    return Path(path)


EVIL = [
    ("filter.evil.smudge", "{evil}"),
    ("filter.evil.clean", "{evil}"),
    ("filter.evil.process", "{evil}"),
    ("filter.e=v.il.smudge", "{evil}"),
    ("filter.own.smudge", "{evil}"),
    ("core.fsmonitor", "{evil}"),
    ("core.hooksPath", "{folder}"),
    ("include.path", "{folder}/more"),
    ("hook.evil.command", "{evil}"),
]


@pytest.mark.parametrize(("key", "value"), EVIL, ids=[key for key, _ in EVIL])
def test_a_worktree_starts_nothing_that_the_repository_names(
    key: str, value: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository.parent
    evil = script(folder / "post-checkout", f"touch {folder}/PWNED; cat")
    (folder / "more").write_text(f'[filter "evil"]\n\tsmudge = {evil}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / "gitconfig"))
    git(repository, "config", key, value.format(evil=evil, folder=folder))
    for name in ("evil", "e=v.il"):
        git(repository, "config", f"filter.{name}.required", "true")
    git(repository, "config", "hook.evil.event", "post-checkout")
    asyncio.run(there_and_back(repository))
    assert not (folder / "PWNED").exists()


def test_filters_of_the_user_still_run(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository.parent / "gitconfig").write_text('[filter "own"]\n\tsmudge = tr a-z A-Z\n\trequired = true\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(repository.parent / "gitconfig"))
    git(repository, "config", "filter.own.smudge", "false")
    asyncio.run(there_and_back(repository))
    assert (repository / "kept").read_text() == "CONTENT\n"
