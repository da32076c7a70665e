"""Workers, working directories and recordings that go wrong cost no guard and leave nothing running."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookwright import Options, Places, open_session
from hookwright.protocol.outcome import Deny, Outcome
from processes import alive, eventually
from support import event, hooks_for, settings

AREA = "processes: terminals, workers, streams"

_NO_NAMESPACES = (
    shutil.which("unshare") is None
    or subprocess.run(
        ["unshare", "-m", "mount", "-o", "remount,ro,bind", "/proc"], capture_output=True, check=False
    ).returncode
)

WARM = """
import asyncio, sys
sys.path[:0] = [{tests!r}]
from pathlib import Path
from attacks.test_processes import warm_guard
print(asyncio.run(warm_guard(Path({folder!r}))))
"""


async def warm_guard(folder: Path) -> str:
    """Fire at a warm Python guard until a fork could have served it; return how many events it refused."""
    (folder / "guard.py").write_text("import sys; sys.stdin.read(); sys.stderr.write('no'); sys.exit(2)\n")
    handler = {"type": "command", "command": sys.executable, "args": [str(folder / "guard.py")]}
    settings(folder / "home", hooks_for("PreToolUse", handler))
    env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home")}
    places = Places(project=str(folder), env=env)
    outcomes: list[Outcome] = []
    async with open_session(places, options=Options(warm=True)) as session:
        for _ in range(12):
            outcomes.append(await session.fire(event("PreToolUse", cwd=str(folder))))
            await asyncio.sleep(0.1)
    return f"{sum(isinstance(one.decision, Deny) for one in outcomes)} of {len(outcomes)}"


@pytest.mark.skipif(bool(_NO_NAMESPACES), reason="this machine makes no mount namespaces")
def test_a_warm_guard_refuses_where_proc_is_read_only(tmp_path: Path) -> None:
    code = WARM.format(tests=str(Path(__file__).parents[1]), folder=str(tmp_path))
    inside = 'mount -o remount,ro,bind /proc && exec "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", inside, "sh", sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip() == "12 of 12", done.stderr


def test_a_warm_guard_refuses_here(tmp_path: Path) -> None:
    assert asyncio.run(warm_guard(tmp_path)) == "12 of 12"


def test_a_warm_script_that_exits_86_is_started_the_ordinary_way(tmp_path: Path) -> None:
    (tmp_path / "guard.py").write_text("import sys; sys.stdin.read(); sys.exit(86)\n")
    handler = {"type": "command", "command": sys.executable, "args": [str(tmp_path / "guard.py")], "onFailure": "block"}
    settings(tmp_path / "home", hooks_for("PreToolUse", handler))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}

    async def fire() -> list[Outcome]:
        async with open_session(Places(project=str(tmp_path), env=env), options=Options(warm=True)) as session:
            return [await _later(session, tmp_path) for _ in range(8)]

    assert all(isinstance(outcome.decision, Deny) for outcome in asyncio.run(fire()))


async def _later(session: Any, folder: Path) -> Outcome:
    await asyncio.sleep(0.1)
    outcome: Outcome = await session.fire(event("PreToolUse", cwd=str(folder)))
    return outcome


# ── residents ───────────────────────────────────────────────────────────────

RESIDENT = """
import os, sys, time
from hookwright.author import hook

if os.fork() == 0:
    os.setsid()
    with open(sys.argv[1], "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
    os._exit(0)

@hook.pre_tool_use("Bash")
def guard(event):
    return None

hook.run()
"""


def test_a_child_of_a_resident_worker_does_not_outlive_the_session(tmp_path: Path) -> None:
    pidfile = tmp_path / "pid"
    (tmp_path / "guard.py").write_text(RESIDENT)
    command = {"type": "command", "command": sys.executable, "args": [str(tmp_path / "guard.py"), str(pidfile)]}
    settings(tmp_path / "home", hooks_for("PreToolUse", {**command, "worker": "resident"}))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}

    async def fire() -> None:
        async with open_session(Places(project=str(tmp_path), env=env)) as session:
            for _ in range(3):
                await session.fire(event("PreToolUse", cwd=str(tmp_path)))
                await asyncio.sleep(0.2)

    asyncio.run(fire())
    assert pidfile.exists()
    pid = int(pidfile.read_text())
    assert eventually(lambda: not alive(pid), 5)


POISONED = """
import json, os, sys
if "HOOKWRIGHT_WORKER" not in os.environ:
    sys.exit(2)
print(json.dumps({"worker": 1}), flush=True)
for number, line in enumerate(sys.stdin):
    spoilt = number > 0 or os.path.exists(sys.argv[1])
    if number > 0:
        open(sys.argv[1], "a").close() if sys.argv[2] == "for-ever" else None
    print(json.dumps({"id": json.loads(line)["id"], "exit": 1 if spoilt else 2}), flush=True)
"""


@pytest.mark.parametrize("kind", ["once", "for-ever"])
def test_a_worker_that_only_fails_is_not_kept(kind: str, tmp_path: Path) -> None:
    (tmp_path / "guard.py").write_text(POISONED)
    args = [str(tmp_path / "guard.py"), str(tmp_path / "spoilt"), kind]
    command = {"type": "command", "command": sys.executable, "args": args, "worker": "resident"}
    settings(tmp_path / "home", hooks_for("PreToolUse", command))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}

    async def fire() -> list[Outcome]:
        async with open_session(Places(project=str(tmp_path), env=env)) as session:
            return [await session.fire(event("PreToolUse", cwd=str(tmp_path))) for _ in range(9)]

    outcomes = asyncio.run(fire())
    refused = [isinstance(one.decision, Deny) for one in outcomes]
    if kind == "once":  # a new worker refuses again
        assert refused == [True, False, False, False, True, False, False, False, True]
    else:  # a new worker fails as well; then there is a process per event
        assert refused == [True, *[False] * 6, True, True]
        assert any("failed 3 times in a row" in note.message for note in outcomes[7].diagnostics)


# ── the command line where things are missing ───────────────────────────────


def cli(folder: Path, words: list[str], given: dict[str, Any], **more: Any) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), **more.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "hookwright.cli", *words],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=env,
        **more,
    )


def denied(folder: Path) -> dict[str, Any]:
    settings(folder / "home", hooks_for("PreToolUse", {"type": "command", "command": "echo no >&2; exit 2"}))
    given = {"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": str(folder)}
    call = {"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "t"}
    return {**given, "permission_mode": "default", **call}


def test_a_full_recording_costs_no_refusal_and_is_no_traceback(tmp_path: Path) -> None:
    done = cli(tmp_path, ["fire"], denied(tmp_path), cwd=tmp_path, env={"HOOKWRIGHT_RECORD": "/dev/full"})
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "/dev/full" in done.stdout + done.stderr


@pytest.mark.parametrize("words", [["fire"], ["list"], ["check"], ["doctor"], ["explain", "PreToolUse"]], ids=str)
def test_a_deleted_directory_is_no_traceback(words: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    given = denied(tmp_path)
    shell = 'rmdir "$0"; exec "$@"'
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    done = subprocess.run(
        ["sh", "-c", shell, str(folder), sys.executable, "-m", "hookwright.cli", *words],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=env,
        cwd=folder,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode != 0 or words != ["fire"]


@pytest.mark.parametrize("stream", [">&-", "2>&-", ">/dev/full", "2>/dev/full", ">&- 2>&-"])
def test_a_refusal_keeps_its_status_without_its_streams(stream: str, tmp_path: Path) -> None:
    given = tmp_path / "event.json"
    given.write_text(json.dumps(denied(tmp_path)))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    command = f"{sys.executable} -m hookwright.cli fire <{given} {stream}"
    assert subprocess.run(["sh", "-c", command], env=env, cwd=tmp_path, check=False, timeout=60).returncode == 2
