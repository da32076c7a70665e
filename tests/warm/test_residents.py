"""Workers that stay: the protocol, from both sides, and everything that can go wrong between them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookwright.protocol.job import Job
from hookwright.protocol.replies import Exited, Failed, Failure, TimedOut
from hookwright.protocol.sources import Scope, Source
from hookwright.warm import resident, residents
from processes import gone, written
from support import event, open_fds, script
from warmth import PYTHON, Bench, facts, on

HOOK = """
import os, sys, time
from hookwright.author import context, deny, hook, message

@hook.pre_tool_use("Bash")
def guard(event):
    command = event.tool_input["command"]
    if command.startswith("exec:"):
        exec(command[5:])
    if "rm" in command:
        return deny("no " + command)

@hook.session_start()
def start(event):
    return context(os.getcwd() + " " + os.environ.get("CLAUDE_ENV_FILE", "none")[-4:]) + message(str(os.getpid()))

hook.run()
"""


def hooked(folder: Path, source: str = HOOK) -> str:
    (folder / "hook.py").write_text(source)
    return f"{PYTHON} {folder}/hook.py"


def run(folder: Path, work: Callable[[Bench, Callable[..., Job]], Awaitable[None]], source: str = HOOK) -> None:
    command = hooked(folder, source)

    async def main(bench: Bench) -> None:
        def job(text: str = "ls", **more: Any) -> Job:
            moment = more.pop("moment", None) or event("PreToolUse", cwd=str(folder), tool_input={"command": text})
            return bench.job(command, moment, worker="resident", **more)

        await work(bench, job)

    on(folder, main)


async def pid_of(bench: Bench, job: Callable[..., Job]) -> int:
    return int(facts(await bench.warm(job("exec:sys.exit(str(os.getpid()))")))[2])


def test_a_worker_answers_as_a_process_would(tmp_path: Path) -> None:
    commands = [
        "ls",
        "rm -rf /",
        "exec:print('said'); print('more', file=sys.stderr)",
        "exec:import subprocess; subprocess.run(['echo', 'from a process'])",
        "exec:sys.exit(2)",
        "exec:sys.exit('text')",
        "exec:1 / 0",
        "exec:print(input())",
        "exec:print(open('/dev/stdin').read())",
        "rm \u00e9 \U0001f600",
    ]

    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        for command in commands:
            cold, warm = await bench.cold(job(command)), await bench.warm(job(command))
            if "input" in command or "stdin" in command:  # both read an end: the event is not theirs to read
                assert isinstance(warm, Exited)
                assert warm.status == 1 if "input" in command else warm.status == 0
                continue
            assert isinstance(warm, Exited)
            assert isinstance(cold, Exited)
            assert (warm.status, warm.stdout) == (cold.status, cold.stdout)
            assert warm.stderr.splitlines()[-1:] == cold.stderr.splitlines()[-1:]
        assert await pid_of(bench, job) == await pid_of(bench, job)

    run(tmp_path, work)


def test_directory_and_environment_are_those_of_the_event(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()

    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        seen = []
        for name, folder in (("SessionStart", "sub"), ("PreToolUse", "."), ("SessionStart", ".")):
            moment = event(name, cwd=str(tmp_path / folder))
            answer = facts(await bench.warm(job(moment=moment)))[1]
            if answer:
                seen.append(json.loads(answer)["hookSpecificOutput"]["additionalContext"])
        assert seen == [f"{tmp_path}/sub 0.sh", f"{tmp_path} 0.sh"]
        left = facts(await bench.warm(job("exec:sys.exit(str(os.environ.get('CLAUDE_ENV_FILE')))")))[2]
        assert left == b"None\n"

    run(tmp_path, work)


def test_a_command_that_depends_on_the_directory_has_a_worker_for_each(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "hook.py").write_text(
            f"from hookwright.author import message, run\nrun(lambda e: message('{folder}'))\n"
        )

    async def work(bench: Bench) -> None:
        for folder in ("one", "two", "one"):
            moment = event("PreToolUse", cwd=str(tmp_path / folder))
            assert (
                folder.encode() in facts(await bench.warm(bench.job(f"{PYTHON} hook.py", moment, worker="resident")))[1]
            )

    on(tmp_path, work)


def test_the_worker_is_no_worker_for_what_it_starts(tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        assert facts(await bench.warm(job("exec:sys.exit(str(os.environ.get('HOOKWRIGHT_WORKER')))")))[2] == b"None\n"

    run(tmp_path, work)


@pytest.mark.req("R-186")
def test_a_time_limit_ends_the_worker_and_the_next_event_has_a_new_one(tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        first = await pid_of(bench, job)
        child = "import subprocess; p = subprocess.Popen(['sleep', '60']); open('pid', 'w').write(f'{p.pid}\\n')"
        slow = f"exec:{child}; p.wait()"
        assert await bench.warm(job(slow, limit=0.5)) == TimedOut(0.5)
        assert gone(first)
        assert gone(int(written(tmp_path / "pid")))
        assert await pid_of(bench, job) != first

    run(tmp_path, work)


def test_a_waiter_that_is_cancelled_ends_the_worker(tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        first = await pid_of(bench, job)
        task = asyncio.ensure_future(bench.warm(job("exec:time.sleep(60)")))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gone(first)
        assert await pid_of(bench, job) != first

    run(tmp_path, work)


@pytest.mark.parametrize(
    ("death", "status"),
    [("os._exit(3)", 3), ("os.kill(os.getpid(), 9)", 137), ("os.abort()", 134)],
)
def test_a_worker_that_dies_is_the_reply(death: str, status: int, tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        first = await pid_of(bench, job)
        reply = await bench.warm(job(f"exec:os.write(2, b'last words'); {death}"))
        assert isinstance(reply, Exited)
        assert reply.status == status
        assert reply.stderr.startswith(b"last words")  # some shells say what killed it
        assert await pid_of(bench, job) != first

    run(tmp_path, work)


def test_a_worker_that_dies_between_events_is_replaced(tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        first = await pid_of(bench, job)
        os.kill(first, signal.SIGKILL)
        await asyncio.sleep(0.1)
        assert await pid_of(bench, job) != first

    run(tmp_path, work)


def test_events_at_once_have_a_worker_each(tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        jobs = [job(f"exec:time.sleep(0.05); sys.exit('{n} ' + str(os.getpid()))") for n in range(4)]
        said = [facts(reply)[2].split() for reply in await asyncio.gather(*map(bench.warm, jobs))]
        assert [int(words[0]) for words in said] == list(range(4))
        assert len({words[1] for words in said}) == 4
        await asyncio.sleep(0.7)
        left = [int(words[1]) for words in said if Path(f"/proc/{int(words[1])}").exists()]
        assert len(left) == residents._IDLE

    run(tmp_path, work)


def test_nothing_is_shared_between_trust_domains(tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        pids = set()
        for source in (Source(Scope.USER), Source(Scope.PROJECT, from_project=True), Source(Scope.MANAGED)):
            wanted = job("exec:sys.exit(str(os.getpid()))", source=source)
            pids.add(facts(await bench.warm(wanted))[2])
        assert len(pids) == 3

    run(tmp_path, work)


def test_a_hook_that_was_edited_is_started_anew(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("WORD = 'one'\n")
    source = "import helper\nfrom hookwright.author import context, hook, run\nrun(lambda e: context(helper.WORD))\n"

    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        assert b'"one"' in facts(await bench.warm(job()))[1]
        (tmp_path / "helper.py").write_text("WORD = 'three'\n")
        assert b'"three"' in facts(await bench.warm(job()))[1]
        (tmp_path / "hook.py").write_text(source.replace("helper.WORD", "'own'"))
        assert b'"own"' in facts(await bench.warm(job()))[1]

    run(tmp_path, work, source)


def test_a_change_of_the_lasting_environment_starts_anew(tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        wanted = job("exec:sys.exit(str(os.environ.get('MODE')))")
        assert facts(await bench.warm(wanted))[2] == b"None\n"
        other = Bench(tmp_path, {"MODE": "strict"})
        other.warm = type(bench.warm)(other.cold, bench.workers)
        assert facts(await other.warm(wanted))[2] == b"strict\n"

    run(tmp_path, work)


@pytest.mark.parametrize(("limit", "value"), [("_EVENTS", 3), ("_AGE", 0.0), ("_MEMORY", 1)])
def test_workers_are_bounded(limit: str, value: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residents, limit, value)
    monkeypatch.setattr(residents, "_LOOK", 2)

    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        pids = [await pid_of(bench, job) for _ in range(6)]
        assert 2 <= len(set(pids)) <= 6

    run(tmp_path, work)


def test_a_large_event_and_a_large_answer_arrive_whole(tmp_path: Path) -> None:
    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        big = "rm " + "x" * 3_000_000
        answer = json.loads(facts(await bench.warm(job(big)))[1])
        assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "no " + big

    run(tmp_path, work)


def test_the_end_of_the_session_ends_them(tmp_path: Path) -> None:
    pids: list[int] = []
    before = open_fds()

    async def work(bench: Bench, job: Callable[..., Job]) -> None:
        pids.append(await pid_of(bench, job))

    run(tmp_path, work)
    assert gone(pids[0])
    assert open_fds() == before


# ── other languages, and hooks that speak something else ────────────────────

SHELL = """#!/bin/sh
echo '{"worker": 1}'
n=0
while read -r line; do
  n=$((n + 1))
  echo "saw $n" >&2
  echo "{\\"id\\": $n, \\"exit\\": 2, \\"stderr\\": \\"refused\\"}"
done
"""


def test_any_language_can_speak_the_protocol(tmp_path: Path) -> None:
    script(tmp_path / "worker.sh", SHELL)

    async def work(bench: Bench) -> None:
        for number in (1, 2, 3):
            reply = await bench.warm(bench.job("./worker.sh", worker="resident"))
            assert facts(reply) == (2, b"", f"saw {number}\nrefused".encode())

    on(tmp_path, work)


@pytest.mark.parametrize(
    "answer",
    ["not json", '{"id": 7}', '{"id": "1"}', "[]", '{"id": 1}\n{"id": 2}', '{"id": 1, "exit": "2"}'],
)
def test_what_is_no_answer_is_a_failure_and_ends_the_worker(answer: str, tmp_path: Path) -> None:
    script(tmp_path / "worker.sh", f"#!/bin/sh\necho '{{\"worker\": 1}}'\nread -r line\necho '{answer}'\nsleep 60\n")

    async def work(bench: Bench) -> None:
        reply = await bench.warm(bench.job("./worker.sh", worker="resident"))
        if answer.startswith('{"id": 1}'):  # the first line is good; the second is nobody's, and its worker is not kept
            assert isinstance(reply, Exited)
        else:
            assert isinstance(reply, Failed)
            assert reply.why is Failure.ANSWER
        (place,) = bench.workers.residents._places.values()
        assert not [worker for worker in place.idle if worker.usable()]

    on(tmp_path, work)


def test_an_answer_without_an_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "_LONGEST", 100_000)
    script(tmp_path / "worker.sh", "#!/bin/sh\necho '{\"worker\": 1}'\nread -r line\nexec cat /dev/zero\n")

    async def work(bench: Bench) -> None:
        started = time.monotonic()
        reply = await bench.warm(bench.job("./worker.sh", worker="resident", limit=20.0))
        assert isinstance(reply, Failed)
        assert time.monotonic() - started < 10

    on(tmp_path, work)


@pytest.mark.parametrize(
    ("body", "said"),
    [("echo '{}'", "{}"), ("cat > /dev/null; echo late", ""), ("exit 3", ""), ("echo '{\"worker\": 2}'", "2")],
)
def test_a_hook_that_is_no_worker_is_started_the_ordinary_way(body: str, said: str, tmp_path: Path) -> None:
    script(tmp_path / "plain.sh", f"#!/bin/sh\n{body}\n")

    async def work(bench: Bench) -> None:
        job = bench.job("./plain.sh", worker="resident", limit=1.0)
        first, second = await bench.warm(job), await bench.warm(job)
        assert facts(first) == facts(second) == facts(await bench.cold(job))
        assert isinstance(first, Exited)
        assert "does not speak the worker protocol" in first.notes[0]
        assert said in first.notes[0]
        assert isinstance(second, Exited)
        assert not second.notes

    on(tmp_path, work)


def test_a_program_that_is_missing_is_a_launch_failure(tmp_path: Path) -> None:
    async def work(bench: Bench) -> None:
        reply = await bench.warm(bench.job("no-such-program", args=(), worker="resident"))
        assert isinstance(reply, Failed)
        assert reply.why is Failure.LAUNCH

    on(tmp_path, work)
