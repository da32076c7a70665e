"""Replay through the live engine: real scripts, real worker processes."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookwright.config import Places
from hookwright.config.trust import TrustPolicy
from hookwright.protocol.events import PreToolUse
from hookwright.replay.choice import Choice
from hookwright.replay.model import Bucket, Change, Code
from hookwright.replay.past import Fate, Past, Provenance, SourceLine
from hookwright.replay.run import Conditions, SampleSize, replay, sampled
from support import hooks_for, script, settings

GUARD = """#!/bin/sh
input=$(cat)
case $input in *'rm -rf'*) echo 'no rm -rf' >&2; exit 2 ;; esac
"""


class Project:
    """A project with a home of its own, and a history."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.home = root / "home"
        self.root.mkdir()
        self.home.mkdir()

    def hook(self, body: str, name: str = "guard.sh", **more: Any) -> dict[str, Any]:
        path = script(self.root / name, body)
        return {"type": "command", "command": str(path), **more}

    def conditions(self, **more: Any) -> Conditions:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "SECRET_TOKEN": "x", "KEPT": "yes"}
        places = Places(
            project=str(self.root),
            env=env,
            home=str(self.home),
            state_dir=str(self.home / "state"),
            trust=more.pop("trust", TrustPolicy.EVERYTHING),
        )
        return Conditions(places=places, jobs=more.pop("jobs", 1), **more)

    def call(self, number: int, command: str, **more: Any) -> Past:
        event = PreToolUse(
            session_id=more.pop("session", "s"),
            transcript_path=str(self.root / "s.jsonl"),
            cwd=str(self.root),
            tool_name=more.pop("tool", "Bash"),
            tool_input={"command": command},
            tool_use_id=f"t{number}",
        )
        return Past(
            event=event,
            place=SourceLine(more.pop("file", str(self.root / "s.jsonl")), number),
            time=1000.0 + number,
            fate=more.pop("fate", Fate.SUCCEEDED),
            **more,
        )


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    """A worker that all tests share; those about workers start their own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as one:
        yield one


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def json_of(*handlers: dict[str, Any], event: str = "PreToolUse", matcher: str = "Bash") -> str:
    return msgspec.json.encode(hooks_for(event, *handlers, matcher=matcher)).decode()


def buckets(changes: list[Change]) -> list[str]:
    return [change.bucket.value for change in changes]


def test_a_candidate_is_compared_with_no_hooks(project: Project, pool: Executor) -> None:
    candidate = json_of(project.hook(GUARD))
    pasts = [project.call(1, "ls"), project.call(2, "rm -rf /"), project.call(3, "x", tool="Read")]
    changes = list(replay(pasts, candidate, "none", conditions=project.conditions(), executor=pool))
    assert buckets(changes) == ["same", "stricter", "same"]
    refused = changes[1]
    assert refused.now.reasons == (f"[{project.root}/guard.sh]: no rm -rf",)
    assert refused.likely_false
    assert changes[2].now.runs == ()
    assert changes[2].after == "s:t2"


def test_a_hook_that_is_gone_makes_a_call_looser(project: Project, pool: Executor) -> None:
    settings(project.root, hooks_for("PreToolUse", project.hook(GUARD), matcher="Bash"))
    changes = list(
        replay([project.call(1, "rm -rf /")], "none", "current", conditions=project.conditions(), executor=pool)
    )
    assert buckets(changes) == ["looser"]


def test_a_file_can_be_added_to_the_current_configuration(project: Project, pool: Executor) -> None:
    settings(project.root, hooks_for("PreToolUse", project.hook(GUARD), matcher="Bash"))
    extra = project.home / "extra.json"
    body = "#!/bin/sh\ngrep -q sudo && { echo no sudo >&2; exit 2; }; exit 0\n"
    extra.write_text(json_of(project.hook(body, "sudo.sh")))
    pasts = [project.call(1, "rm -rf /"), project.call(2, "sudo ls")]
    assert buckets(list(replay(pasts, f"+{extra}", "current", conditions=project.conditions(), executor=pool))) == [
        "same",
        "stricter",
    ]
    assert buckets(list(replay(pasts, str(extra), "current", conditions=project.conditions(), executor=pool))) == [
        "looser",
        "stricter",
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("#!/bin/sh\nexit 1\n", Code.FAILED),
        ("#!/bin/sh\nsleep 30\n", Code.TIMEOUT),
        ('#!/bin/sh\n[ "$(date +%u)" = 9 ] && exit 2\nexit 0\n', Code.CLOCK),
        ('#!/bin/sh\ngrep -q \'"permission_mode": *"plan"\' && exit 2\nexit 0\n', Code.FIELD),
    ],
)
def test_a_hook_that_may_have_said_something_else_leaves_the_call_undecided(
    project: Project, pool: Executor, body: str, code: Code
) -> None:
    past = project.call(1, "ls", provenance={"permission_mode": Provenance.UNKNOWN})
    candidate = json_of(project.hook(body, timeout=0.3))
    (change,) = replay([past], candidate, "none", conditions=project.conditions(), executor=pool)
    assert change.bucket is Bucket.UNDECIDED
    assert [doubt.code for doubt in change.now.doubts] == [code]


def test_kinds_that_are_not_asked_leave_the_call_undecided_unless_another_hook_refuses(
    project: Project, pool: Executor
) -> None:
    asked = [
        {"type": "prompt", "prompt": "is this safe?"},
        {"type": "http", "url": "http://127.0.0.1:9/"},
        {"type": "mcp_tool", "server": "s", "tool": "t"},
    ]
    pasts = [project.call(1, "ls"), project.call(2, "rm -rf /")]
    candidate = json_of(project.hook(GUARD), *asked)
    changes = list(replay(pasts, candidate, "none", conditions=project.conditions(), executor=pool))
    assert buckets(changes) == ["undecided", "stricter"]
    assert {doubt.code for doubt in changes[0].now.doubts} >= {Code.MODEL, Code.HTTP, Code.MCP}


def test_untrusted_hooks_of_a_project_do_not_run_and_are_not_approved(project: Project, pool: Executor) -> None:
    ran = project.home / "ran"
    settings(project.root, hooks_for("PreToolUse", project.hook(f"#!/bin/sh\ntouch {ran}\n"), matcher="Bash"))
    conditions = project.conditions(trust=TrustPolicy.STORED)
    (change,) = replay([project.call(1, "ls")], "current", "none", conditions=conditions, executor=pool)
    assert change.bucket is Bucket.UNDECIDED
    assert [doubt.code for doubt in change.now.doubts] == [Code.UNTRUSTED]
    assert not ran.exists()


WARM = """import json, os, sys
held = "guard.py" in open(f"/proc/{os.getppid()}/cmdline").read()
sys.exit("held" if held and json.load(sys.stdin)["tool_input"]["command"] == "ask" else 0)
"""


def test_plain_python_hooks_run_in_forks_of_a_held_interpreter(project: Project, pool: Executor) -> None:
    path = script(project.root / "guard.py", WARM)
    candidate = json_of({"type": "command", "command": f"{sys.executable} {path}"})
    pasts = [project.call(number, "ask" if number == 40 else "ls") for number in range(1, 41)]
    changes = list(replay(pasts, candidate, "none", conditions=project.conditions(), executor=pool))
    assert buckets(changes)[:-1] == ["same"] * 39
    assert [doubt.code for doubt in changes[-1].now.doubts] == [Code.FAILED]
    assert "held" in changes[-1].now.doubts[0].detail


def test_hooks_inherit_an_allow_list_and_the_mark_of_a_replay(project: Project, pool: Executor) -> None:
    body = '#!/bin/sh\necho "$HOOKWRIGHT_REPLAY,${SECRET_TOKEN-gone},${KEPT-gone}" >&2; exit 2\n'
    candidate = json_of(project.hook(body))
    (change,) = replay([project.call(1, "ls")], candidate, "none", conditions=project.conditions(), executor=pool)
    assert change.now.reasons[0].endswith("1,gone,gone")
    (change,) = replay(
        [project.call(1, "ls")], candidate, "none", conditions=project.conditions(env=("KEPT",)), executor=pool
    )
    assert change.now.reasons[0].endswith("1,gone,yes")


def test_a_hook_reads_the_transcript_as_it_was_at_the_call(project: Project, pool: Executor) -> None:
    (project.root / "s.jsonl").write_text("one\ntwo\nthree\n")
    body = '#!/bin/sh\nfile=$(sed \'s/.*"transcript_path":"//; s/".*//\')\ntail -n1 "$file" >&2; exit 2\n'
    pasts = [project.call(1, "a"), project.call(2, "b"), project.call(3, "c", file="other.jsonl")]
    changes = list(replay(pasts, json_of(project.hook(body)), "none", conditions=project.conditions(), executor=pool))
    assert [change.now.reasons[0].split()[-1] for change in changes[:2]] == ["one", "two"]
    assert buckets(changes) == ["stricter", "stricter", "undecided"]
    assert [doubt.code for doubt in changes[2].now.doubts] == [Code.TRANSCRIPT]


def test_hooks_that_count_see_the_events_of_a_session_in_order_with_each_configuration_for_itself(
    project: Project, pool: Executor
) -> None:
    body = f"#!/bin/sh\necho x >> {project.home}/n\n[ $(wc -l < {project.home}/n) -le 2 ] || exit 2\n"
    pasts = [project.call(number, "ls") for number in (3, 1, 2)]
    changes = list(replay(pasts, json_of(project.hook(body)), "none", conditions=project.conditions(), executor=pool))
    assert [(change.past.place.line, change.bucket.value) for change in changes] == [
        (1, "same"),
        (2, "same"),
        (3, "stricter"),
    ]


@pytest.mark.needs("git")
def test_the_events_of_a_revision_run_its_own_scripts(project: Project, pool: Executor) -> None:
    git = f"git -C {project.root} -c user.name=a -c user.email=a@b "
    script(project.root / "guard.sh", GUARD)
    hook = {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/guard.sh'}
    settings(project.root, hooks_for("PreToolUse", hook, matcher="Bash"))
    assert os.system(f"{git} init -q && {git} add -A && {git} commit -qm one") == 0
    script(project.root / "guard.sh", "#!/bin/sh\nexit 0\n")
    changes = list(
        replay([project.call(1, "rm -rf /")], "current", "git:HEAD", conditions=project.conditions(), executor=pool)
    )
    assert buckets(changes) == ["looser"]


# ── workers ─────────────────────────────────────────────────────────────────

DEADLY = "#!/bin/sh\ngrep -q boom && kill -9 $CLAUDE_PID\nexit 0\n"


def test_a_killed_worker_loses_nothing_and_a_task_that_kills_alone_is_undecided(project: Project) -> None:
    candidate = json_of(project.hook(DEADLY), project.hook(GUARD, "rm.sh"))
    pasts = [project.call(n, "boom" if n == 3 else "rm -rf /", session=f"s{n}") for n in range(8)]
    changes = list(replay(pasts, candidate, "none", conditions=project.conditions(jobs=2)))
    assert [change.past for change in changes] == pasts
    assert buckets(changes) == ["stricter"] * 3 + ["undecided"] + ["stricter"] * 4
    assert [doubt.code for doubt in changes[3].now.doubts] == [Code.POISON]


def test_an_executor_of_the_caller_is_used_and_left_open(project: Project) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        pasts = [project.call(1, "rm -rf /")]
        found = list(
            replay(pasts, json_of(project.hook(GUARD)), "none", conditions=project.conditions(), executor=pool)
        )
        assert buckets(found) == ["stricter"]
        assert pool.submit(int, "7").result() == 7


def test_what_a_budget_leaves_out_is_undecided(project: Project) -> None:
    conditions = project.conditions(budget=0.0)
    (change,) = replay([project.call(1, "rm -rf /")], json_of(project.hook(GUARD)), "none", conditions=conditions)
    assert [doubt.code for doubt in change.now.doubts] == [Code.BUDGET]


# ── which events ────────────────────────────────────────────────────────────


def test_a_sample_depends_on_ids_and_seed_alone_and_larger_ones_contain_smaller_ones(project: Project) -> None:
    pasts = [project.call(number, "ls") for number in range(40)]
    few, more = sampled(pasts, SampleSize(5, 1)), sampled(pasts, SampleSize(0.5, 1))
    assert len(few) == 5
    assert len(more) == 20
    assert {past.call for past in few} <= {past.call for past in more}
    assert {past.call for past in sampled(pasts[::-1], SampleSize(5, 1))} == {past.call for past in few}
    assert sampled(pasts, SampleSize(5, 2)) != few


def test_a_choice_leaves_events_out_but_not_the_turns_they_begin(project: Project, pool: Executor) -> None:
    pasts = [project.call(1, "rm -rf /"), project.call(2, "rm -rf /", tool="Other"), project.call(3, "ls")]
    conditions = project.conditions(choice=Choice(tools=frozenset({"Bash"})))
    found = list(replay(pasts, json_of(project.hook(GUARD)), "none", conditions=conditions, executor=pool))
    assert [(change.past.place.line, change.after) for change in found] == [(1, None), (3, "s:t1")]
