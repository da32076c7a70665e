"""The options of `hookwright replay` that say what hooks see, in which order, whom they ask, and what is counted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookwright.errors import ConfigError
from hookwright.replay.labels import Label, Labels, read_labels
from hookwright.replay.model import Bucket, Code
from hookwright.replay.past import Fate
from hookwright.replay.past_files import State
from hookwright.replay.run import replay
from replay.isolated import needs_isolation, working_level
from replay.test_run import Project, buckets, json_of, pool, project
from support import script

__all__ = ["pool", "project"]

READS = """#!/bin/sh
cat > /dev/null
[ "$(cat rule.txt)" = strict ] && exit 2
exit 0
"""


def git(project: Project, *words: str, at: int = 0) -> None:
    env = {**os.environ, "GIT_COMMITTER_DATE": f"@{at} +0000", "GIT_AUTHOR_DATE": f"@{at} +0000"}
    who = ("-c", "user.name=me", "-c", "user.email=me@example.com")
    subprocess.run(["git", "-C", str(project.root), *who, *words], env=env, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@needs_isolation
def test_files_as_of_the_commit_before_the_event(project: Project) -> None:
    hook = script(project.home / "reads.sh", READS)
    rule = project.root / "rule.txt"
    git(project, "init", "-q")
    for at, text in ((1002, "strict"), (1004, "lax")):
        rule.write_text(text)
        git(project, "add", "rule.txt")
        git(project, "commit", "-qm", text, at=at)
    rule.write_text("strict")  # today
    candidate = json_of({"type": "command", "command": str(hook)})
    pasts = [project.call(number, f"ls {number}") for number in (1, 2, 3, 5)]
    conditions = project.conditions(isolation=working_level() or "", state=State.COMMIT)
    changes = list(replay(pasts, candidate, "none", conditions=conditions))
    assert buckets(changes) == ["undecided", "stricter", "stricter", "same"]
    assert [doubt.code for doubt in changes[0].now.doubts] == [Code.FILES]
    assert rule.read_text() == "strict"
    assert subprocess.run(["git", "-C", str(project.root), "status", "--porcelain"], capture_output=True).stdout


def test_commits_need_a_repository(project: Project) -> None:
    conditions = project.conditions(state=State.COMMIT)
    with pytest.raises(ConfigError, match="--state commit: git says"):
        list(replay([project.call(1, "ls")], "current", "none", conditions=conditions))


def test_no_files_at_all(project: Project, pool: Executor) -> None:
    (project.root / "rule.txt").write_text("strict")
    candidate = json_of(project.hook(READS))
    for state, bucket in ((State.OVERLAY, "stricter"), (State.NONE, "same")):
        conditions = project.conditions(state=state)
        assert buckets(
            list(replay([project.call(1, "ls")], candidate, "none", conditions=conditions, executor=pool))
        ) == [bucket]


@needs_isolation
def test_in_the_order_of_sessions_every_event_is_asked(project: Project) -> None:
    candidate = json_of(project.hook("#!/bin/sh\ncat > /dev/null\n"))
    pasts = [project.call(number, "ls") for number in range(4)]
    for in_order, reused in ((False, 3), (True, 0)):
        conditions = project.conditions(isolation=working_level() or "", in_order=in_order)
        changes = list(replay(pasts, candidate, "none", conditions=conditions))
        assert sum(run.reused for change in changes for run in change.now.runs) == reused


def test_prompt_hooks_ask_a_script(project: Project, pool: Executor, tmp_path: Path) -> None:
    answers = [[{"text": '{"ok": false, "reason": "not that"}'}], [{"text": '{"ok": true}'}]]
    path = tmp_path / "script.json"
    routes = [{"name": "judge", "match": "Is this fine", "turns": answers}]
    path.write_text(json.dumps({"turns": [], "routes": routes}))
    candidate = json_of({"type": "prompt", "prompt": "Is this fine? $ARGUMENTS"})
    pasts = [project.call(number, "ls", session=name) for name in ("a", "b") for number in (1, 2)]
    pasts = [msgspec.structs.replace(past, event=_renamed(past.event, at)) for at, past in enumerate(pasts)]
    never = list(replay(pasts, candidate, "none", conditions=project.conditions(), executor=pool))
    assert all(Code.MODEL in {doubt.code for doubt in change.now.doubts} for change in never)
    conditions = project.conditions(script=str(path))
    asked = list(replay(pasts, candidate, "none", conditions=conditions, executor=pool))
    assert buckets(asked) == ["stricter", "same"] * 2  # every session plays the script from its start


def _renamed(event: Any, number: int) -> Any:
    return msgspec.structs.replace(event, tool_use_id=f"call{number}")


def test_labels_are_counted_instead_of_fates(project: Project, pool: Executor) -> None:
    candidate = json_of(project.hook("#!/bin/sh\ngrep -q 'rm -rf' && exit 2\nexit 0\n"))
    commands = ["rm -rf a", "rm -rf b", "rm -rf c", "ls"]
    pasts = [project.call(number, command) for number, command in enumerate(commands)]
    pasts[1] = msgspec.structs.replace(pasts[1], fate=Fate.FAILED)
    labels = Labels({"s:t0": Label.BAD, "s:t1": Label.OK, "s:t3": Label.BAD})
    conditions = project.conditions(labels=labels)
    changes = list(replay(pasts, candidate, "none", conditions=conditions, executor=pool))
    assert [change.bucket for change in changes] == [Bucket.STRICTER] * 3 + [Bucket.SAME]
    assert [change.likely_false for change in changes] == [False, True, True, False]
    assert [change.agrees for change in changes] == [True, False, False, False]
    assert [change.missed for change in changes] == [False, False, False, True]


@pytest.mark.parametrize(
    "text", ['{"s:t1": "ok", "s:t2": "bad"}', '{"call": "s:t1", "label": "ok"}\n\n{"call": "s:t2", "label": "bad"}\n']
)
def test_the_two_forms_of_labels(tmp_path: Path, text: str) -> None:
    path = tmp_path / "labels"
    path.write_text(text)
    assert read_labels(str(path)).known == {"s:t1": Label.OK, "s:t2": Label.BAD}


@pytest.mark.parametrize(
    "text", ['{"s:t1": "fine"}', '{"call": 1, "label": "ok"}\n{}', "[1]", '{"call": "x"}\n{"call"']
)
def test_labels_that_cannot_be_read_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "labels"
    path.write_text(text)
    with pytest.raises(ConfigError, match="--labels"):
        read_labels(str(path))


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """`hookwright replay --watch` on the history of the examples."""
    history = str(Path(__file__).parent.parent.parent / "examples" / "history")
    hook = script(tmp_path / "guard.sh", "#!/bin/sh\nexit 0\n")
    settings = tmp_path / "c.json"
    settings.write_text(json_of({"type": "command", "command": str(hook)}))
    command = [sys.executable, "-m", "hookwright.cli", "replay", history, "--candidate", str(settings), "--watch"]
    command += ["--baseline", "none", "--trust", "--json"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path}
    with subprocess.Popen(command, **pipes, text=True, start_new_session=True) as running:
        yield running, hook
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)


@needs_isolation
def test_watch_replays_again_when_a_script_changes(watching: tuple[subprocess.Popen[str], Path]) -> None:
    running, hook = watching
    assert running.stdout is not None
    assert running.stderr is not None
    first = json.loads(running.stdout.readline())
    assert first["now_refused"]["events"] == 0
    while "watching" not in running.stderr.readline():
        pass
    time.sleep(0.05)
    script(hook, "#!/bin/sh\ngrep -q 'rm -rf' && exit 2\nexit 0\n")
    second = json.loads(running.stdout.readline())
    assert second["now_refused"]["events"] > 0
    while "watching" not in running.stderr.readline():
        pass
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode in (0, 130), err  # 130: the file was written in two steps, and is replayed once more
    assert "Traceback" not in err
