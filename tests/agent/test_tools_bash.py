"""Bash: real commands, in a directory that moves, with variables of hooks, ended with the session."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest

from agent.benches import call, call_in, make_bench
from hookwright.agent.tools import ShellEnded, ToolResult, shells
from hookwright.agent.tools.shells import find_shell
from hookwright.protocol.diagnostics import Diagnostic, Severity
from support import open_fds


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(pid)


def test_the_response_has_the_observed_shape(tmp_path: Path) -> None:
    done = call(make_bench(tmp_path), "Bash", command="echo TOOL-OUTPUT; echo warn >&2")
    expected = {
        "stdout": "TOOL-OUTPUT\nwarn",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    assert done == ToolResult(expected, "TOOL-OUTPUT\nwarn")
    assert list(done.response) == list(expected)


@pytest.mark.parametrize(
    ("command", "text"),
    [("true", "(Bash completed with no output)"), ("mkdir a && touch a/b", "Done"), ("cd / | cat", "(Bash")],
)
def test_no_output_is_said(tmp_path: Path, command: str, text: str) -> None:
    assert str(call(make_bench(tmp_path), "Bash", command=command).text).startswith(text)


#: A failing command, and the text for hooks and the model.
FAILURES = [
    ("echo out; echo err >&2; exit 3", "Exit code 3\nout\nerr"),
    ("kill -9 $$", "Exit code 137"),
    ("nosuchprogram", "Exit code 127\n"),
    ('echo "x', "Exit code "),
]


@pytest.mark.parametrize(("command", "text"), FAILURES)
def test_a_failure_begins_with_its_exit_code(tmp_path: Path, command: str, text: str) -> None:
    done = call(make_bench(tmp_path), "Bash", command=command)
    assert done.is_error
    assert str(done.text).startswith(text)
    assert done.response == f"Error: {done.text}"


def test_the_directory_is_kept_even_when_the_command_fails(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    call(bench, "Bash", command="mkdir -p 'a b'; cd 'a b'; exit 3")
    assert bench.cwd == str(tmp_path / "project" / "a b")
    assert call(bench, "Bash", command="pwd").text == bench.cwd
    assert os.listdir(tmp_path / "session") == []


def test_a_directory_reached_through_a_link_keeps_its_name(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "project")
    bench.cwd = str(tmp_path / "link")
    call(bench, "Bash", command="true")
    assert bench.cwd == str(tmp_path / "link")


def test_a_subagent_moves_alone(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    call(bench.for_agent(), "Bash", command="cd /")
    assert bench.cwd == str(tmp_path / "project")


def test_a_directory_that_vanished_is_said_and_left(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    call(bench, "Bash", command="mkdir gone; cd gone")
    shutil.rmtree(tmp_path / "project" / "gone")
    done = call(bench, "Bash", command="pwd")
    assert done.is_error
    assert "no longer exists" in str(done.text)
    assert call(bench, "Bash", command="pwd").text == str(tmp_path / "project")


def test_model_text_is_never_spliced_into_our_own_script(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    done = call(bench, "Bash", command="printf '%s' \"it's $# '$(echo x)' `echo y`\"\n# '; exit 9 #")
    assert done.text == "it's 0 'x' y"


def test_bash_is_used_where_there_is_one(tmp_path: Path) -> None:
    assert call(make_bench(tmp_path), "Bash", command="[[ a == a ]] && echo bash").text == "bash"
    assert find_shell({"PATH": str(tmp_path)}) == "/bin/sh"


def test_the_plain_shell_does_as_well(tmp_path: Path) -> None:
    for name in ("mkdir", "echo"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    bench = make_bench(tmp_path, PATH=str(tmp_path))
    done = call(bench, "Bash", command="mkdir sub && cd sub && echo ok")
    assert (done.text, bench.cwd) == ("ok", str(tmp_path / "project" / "sub"))


def test_long_output_is_cut_in_the_middle(tmp_path: Path) -> None:
    done = call(make_bench(tmp_path), "Bash", command="echo HEAD; seq 100000; echo TAIL")
    text = str(done.text)
    assert text.startswith("HEAD\n")
    assert text.endswith("\nTAIL")
    assert "characters truncated" in text
    assert len(done.response["stdout"]) < 31_000


def test_a_command_over_its_time_is_ended_with_all_its_children(tmp_path: Path) -> None:
    done = call(
        make_bench(tmp_path), "Bash", command="sleep 0; echo early; sleep 60 & echo $! > pid; wait", timeout=300
    )
    assert done.text == "Exit code 143\nCommand timed out after 0.3s\nearly"
    assert gone(int((tmp_path / "project" / "pid").read_text()))


def test_a_command_over_its_time_moves_to_the_background(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    ended: list[ShellEnded] = []
    bench.shells.on_end = ended.append
    go = tmp_path / "project" / "go"

    async def whole() -> ToolResult:
        command = "mkdir d; cd d; echo early; until [ -e ../go ]; do sleep 0.02; done; echo late >&2; exit 3"
        done = await call_in(bench, "Bash", command=command, timeout=300)
        (task,) = bench.shells.running()
        assert Path(task.output).read_text() == "early\n"
        go.touch()
        while bench.shells.running():
            await asyncio.sleep(0.02)
        await bench.shells.aclose()
        return done

    done = asyncio.run(whole())
    (end,) = ended
    head = (
        f"early\nCommand did not complete within its 0.3s timeout and was moved to the background (ID: {end.task.id})."
    )
    assert str(done.text).startswith(f"{head} Output is being written to: {end.task.output}. You will be notified")
    about = {key: done.response[key] for key in ("stdout", "backgroundTaskId", "timedOutAfterMs")}
    assert about == {"stdout": "early", "backgroundTaskId": end.task.id, "timedOutAfterMs": 300}
    assert (end.status, end.killed, Path(end.task.output).read_text()) == (3, False, "early\nlate\n")
    assert bench.cwd == str(tmp_path / "project")
    assert not list((tmp_path / "session").glob("cwd-*"))


def test_a_moved_command_ends_with_its_session(tmp_path: Path) -> None:
    done = call(make_bench(tmp_path), "Bash", command="echo $$ > pid; while :; do sleep 1; done", timeout=300)
    assert not done.is_error
    assert gone(int((tmp_path / "project" / "pid").read_text()))


def test_a_cancelled_call_ends_its_command(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    pid = tmp_path / "project" / "pid"

    async def stop() -> None:
        task = asyncio.ensure_future(call_in(bench, "Bash", command="echo $$ > pid.new; mv pid.new pid; sleep 60"))
        while not pid.exists():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stop())
    assert gone(int(pid.read_text()))


def test_what_a_command_leaves_running_ends_with_the_session(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)

    async def session() -> int:
        done = await call_in(bench, "Bash", command="sleep 60 >/dev/null 2>&1 & echo $!")
        pid = int(str(done.text))
        assert alive(pid)
        await bench.shells.aclose()
        return pid

    assert gone(asyncio.run(session()))


# ── background ──────────────────────────────────────────────────────────────


def test_a_background_command_reports_its_end_and_keeps_its_output(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    heard: list[ShellEnded] = []
    bench.shells.on_end = heard.append

    async def session() -> ToolResult:
        done = await call_in(
            bench, "Bash", command="cd /; echo out; echo err >&2; exit 4", run_in_background=True, description="d"
        )
        while not heard:
            await asyncio.sleep(0.01)
        return done

    done = asyncio.run(session())
    assert list(done.response) == [
        *("stdout", "stderr", "interrupted", "isImage", "noOutputExpected"),
        "backgroundTaskId",
    ]
    task = heard[0].task
    assert (task.id, task.description, heard[0].status, heard[0].killed) == (
        done.response["backgroundTaskId"],
        "d",
        4,
        False,
    )
    assert Path(task.output).read_text() == "out\nerr\n"
    assert os.stat(task.output).st_mode & 0o777 == 0o600
    assert task.output in str(done.text)
    assert bench.cwd == str(tmp_path / "project")


def test_background_commands_are_listed_and_end_with_the_session(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)
    heard: list[ShellEnded] = []
    bench.shells.on_end = heard.append
    pid = tmp_path / "project" / "pid"

    async def session() -> None:
        done = await call_in(
            bench, "Bash", command="echo $$ > pid.new; mv pid.new pid; sleep 60", run_in_background=True
        )
        while not pid.exists():
            await asyncio.sleep(0.01)
        assert [task.id for task in bench.shells.running()] == [done.response["backgroundTaskId"]]
        assert not await bench.shells.kill("b00000000")
        await bench.shells.aclose()

    asyncio.run(session())
    assert gone(int(pid.read_text()))
    assert [(ended.status, ended.killed) for ended in heard] == [(143, True)]
    assert bench.shells.running() == ()


# ── env files ───────────────────────────────────────────────────────────────


def env_file(folder: Path, name: str, text: str) -> tuple[str, str]:
    path = folder / f"{name}.sh"
    path.write_text(text)
    return name, str(path)


@pytest.mark.req("R-310", "R-311")
def test_exports_assignments_and_path_edits_hold_in_every_command(tmp_path: Path) -> None:
    files = [env_file(tmp_path, "h0", 'export FOO=file\nBAR="no export"\nexport PATH="$PATH:/added"\n')]
    bench = make_bench(tmp_path, files)
    for _ in range(2):
        done = call(bench, "Bash", command='echo "$FOO $BAR ${PATH##*:}"; env | grep -c ^BAR=; true')
        assert done.text == "file no export /added\n0"


@pytest.mark.req("R-309")
def test_the_later_hook_wins(tmp_path: Path) -> None:
    files = [env_file(tmp_path, "h0", "export X=first\n"), env_file(tmp_path, "h1", "export X=second\n")]
    assert call(make_bench(tmp_path, files), "Bash", command="echo $X").text == "second"


#: What is wrong with a file, what is said of it, and whether it still counts.
BROKEN = [
    ('export A=1\nexport FOO="unterminated\n', ":2, written by the hook `h0`: unexpected EOF", False),
    ("export A=1\nif then\n", ":2, written by the hook `h0`: syntax error", False),
    ("export A=1\n\nexit 3\n", ":3, written by the hook `h0`: it ends the shell", False),
    ("export A=1\nexec true\n", ":2, written by the hook `h0`: it ends the shell", False),
    ("export A=1\nset -n\n", ":2, written by the hook `h0`: it ends the shell", False),
    ("export A=1\nnosuchprogram\n", ":2, written by the hook `h0`: nosuchprogram: command not found", True),
    ("export A=1\nset -eu; cd /; echo noise; exec 3>&1\n", "", True),
]


@pytest.mark.req("R-313")
@pytest.mark.parametrize(("text", "said", "counts"), BROKEN)
def test_a_broken_file_is_reported_by_hook_and_line_and_breaks_nothing(
    tmp_path: Path, text: str, said: str, counts: bool
) -> None:
    notes: list[Diagnostic] = []
    files = [env_file(tmp_path, "h0", text), env_file(tmp_path, "h1", "export B=2\n")]
    bench = make_bench(tmp_path, files, notes)
    for _ in range(2):
        done = call(bench, "Bash", command='echo "A=$A B=$B"; false; echo "$UNSET$PWD"')
        assert done.text == f"A={'1' if counts else ''} B=2\n{tmp_path}/project"
    assert len(notes) == (1 if said else 0)
    assert said == "" or f"h0.sh{said}" in notes[0].message
    assert all(note.code == "env-file" for note in notes)
    assert all((note.severity is Severity.WARNING) == counts for note in notes)


def test_a_corrected_file_counts_again_and_a_missing_one_is_nothing(tmp_path: Path) -> None:
    notes: list[Diagnostic] = []
    files = [env_file(tmp_path, "h0", "export X='\n"), ("h1", str(tmp_path / "absent.sh"))]
    bench = make_bench(tmp_path, files, notes)
    assert call(bench, "Bash", command="echo [$X]").text == "[]"
    env_file(tmp_path, "h0", "export X=right\n")
    assert call(bench, "Bash", command="echo [$X]").text == "[right]"
    assert len(notes) == 1


def test_a_file_that_waits_for_input_does_not_hold_up_commands(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, [env_file(tmp_path, "h0", "read line\nexport A=1\n")])
    assert call(bench, "Bash", command="echo $A").text == "1"


# ── what goes wrong ─────────────────────────────────────────────────────────


@pytest.mark.parametrize("background", [False, True])
def test_a_command_that_cannot_be_started_is_a_failure_and_leaves_nothing(tmp_path: Path, background: bool) -> None:
    done = call(make_bench(tmp_path), "Bash", command="true " + "x" * 3_000_000, run_in_background=background)
    assert done.is_error
    assert "too long" in str(done.text)
    assert [name for _, _, names in os.walk(tmp_path / "session") for name in names] == []


def test_what_ignores_the_polite_signal_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells, "_GRACE", 0.2)
    bench = make_bench(tmp_path)

    async def session() -> int:
        stubborn = "trap '' TERM; echo ready > ready; while :; do sleep 0.05; done"
        done = await call_in(bench, "Bash", command=f'sh -c "{stubborn}" >/dev/null 2>&1 & echo $!')
        while not (tmp_path / "project" / "ready").exists():
            await asyncio.sleep(0.01)
        await bench.shells.aclose()
        return int(str(done.text))

    assert gone(asyncio.run(session()))


def test_a_background_command_that_floods_the_disk_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shells, "OUTPUT_LIMIT", 1000)
    monkeypatch.setattr(shells, "_LOOK", 0.05)
    bench = make_bench(tmp_path)
    heard: list[ShellEnded] = []
    bench.shells.on_end = heard.append

    async def session() -> None:
        await call_in(bench, "Bash", command="seq 1000; sleep 60", run_in_background=True)
        while not heard:
            await asyncio.sleep(0.01)

    asyncio.run(session())
    assert heard[0].killed


def test_a_session_leaves_no_descriptor_and_no_task(tmp_path: Path) -> None:
    bench = make_bench(tmp_path)

    async def session() -> tuple[int, int]:
        await call_in(bench, "Bash", command="true")
        before = open_fds()
        for _ in range(20):
            await call_in(bench, "Bash", command="echo x; exit 1")
        await call_in(bench, "Bash", command="true", run_in_background=True)
        await bench.shells.aclose()
        return open_fds() - before, len(asyncio.all_tasks())

    assert asyncio.run(session()) == (0, 1)
