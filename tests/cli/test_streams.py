"""The law of cli/streams.py over real pipes: a command keeps its exit status, whatever becomes of its output."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import HOOKWRIGHT, Shell
from support import hooks_for, settings

#: What may become of a command's output, as a shell writes it; every one also prints the status of the command.
FATES = {
    "left alone": "{} > all.txt; echo $?",
    "reader leaves": "{} | true; echo ${{PIPESTATUS[0]}}",
    "reader takes a line": "{} | head -1 > /dev/null; echo ${{PIPESTATUS[0]}}",
    "disk full": "{} > /dev/full; echo $?",
    "stdout closed": "{} >&-; echo $?",
    "stderr closed": "{} > all.txt 2>&-; echo $?",
    "stderr full": "{} > all.txt 2> /dev/full; echo $?",
    "both closed": "{{ status=$({} >&- 2>&-; echo $? >&3); }} 3>&1",
    "all closed": "{{ status=$({} <&- >&- 2>&-; echo $? >&3); }} 3>&1",
    "stderr and stdout leave": "{} 2>&1 | true; echo ${{PIPESTATUS[0]}}",
}
FATES_OF = {name: shell for name, shell in FATES.items() if name != "left alone"}
DENIED = ("fire", "PreToolUse", "--tool", "Bash")
#: Command → the status that it has when all of its output is read.
COMMANDS = {
    DENIED: 2,
    (*DENIED, "--json"): 2,
    (*DENIED, "--as-model"): 2,
    ("fire", "PreToolUse", "--tool", "Write"): 0,
    ("check", "--user"): 1,
    ("check", "--user", "--json"): 1,
    ("list",): 0,
    ("list", "--json"): 0,
    ("trust", "--show"): 2,
    ("explain", "PreToolUse", "--tool", "Bash"): 0,
    ("fire", "--help"): 0,
    ("--help",): 0,
    ("--version",): 0,
    ("nope",): 2,
    (): 2,
    ("fire", "Nope"): 2,
    ("fire", "--nope"): 2,
}


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Make a project whose output is longer than a pipe holds, with a guard that refuses Bash."""
    made = Shell(tmp_path_factory.mktemp("streams"))
    long = f"python3 -c \"print('no ' * 40000)\" >&2; exit 2 # {'x' * 100_000}"
    settings(made.home, hooks_for("PreToolUse", {"type": "command", "command": long}, matcher="Bash"))
    settings(made.project, hooks_for("Stop", {"type": "command", "command": "true", "timeout": 600_000}))
    return made


def status(shell: Shell, args: tuple[str, ...], fate: str) -> tuple[int, str]:
    """Run a command with one fate of its output; return its status and what is on stderr."""
    line = FATES[fate].format(shlex.join([*HOOKWRIGHT, *args]))
    done = subprocess.run(
        ["bash", "-c", line], cwd=shell.project, env=shell.env, capture_output=True, text=True, check=True, timeout=60
    )
    return int(done.stdout), done.stderr


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_a_status_survives_every_fate_of_the_output(shell: Shell, args: tuple[str, ...]) -> None:
    assert status(shell, args, "left alone")[0] == COMMANDS[args]
    for fate in FATES_OF:
        seen, stderr = status(shell, args, fate)
        assert (fate, seen) == (fate, COMMANDS[args])
        assert "Traceback" not in stderr
        assert "Exception ignored" not in stderr


def test_a_full_disk_is_reported_and_a_reader_who_left_is_not(shell: Shell) -> None:
    assert "hookwright: stdout is incomplete: No space left on device" in status(shell, ("list",), "disk full")[1]
    assert "incomplete" not in status(shell, ("list",), "reader leaves")[1]


def journal(shell: Shell) -> Path:
    """Write records for `trace`."""
    file = shell.home / ".local" / "state" / "hookwright" / "journal.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps({"kind": "event", "event": "Stop", "t": 1}) + "\n" for _ in range(3)))
    return file


def test_a_command_without_an_end_stops_with_its_reader_and_its_status_is_unknown(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    file = journal(shell)
    with shell.start("trace", "-f", "--all") as running:
        assert running.stdout is not None
        assert "Stop" in running.stdout.readline()
        running.stdout.close()
        with file.open("a") as more:
            more.write(json.dumps({"kind": "event", "event": "Stop", "t": 2}) + "\n")
        assert running.wait(timeout=20) == 141


def test_a_reader_that_does_not_block_gets_everything(shell: Shell) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = subprocess.Popen(
        [*HOOKWRIGHT, "list", "--json"], cwd=shell.project, env=shell.env, stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as output:
        listed = json.load(output)
    assert process.communicate(timeout=20)[1].count(b"Traceback") == 0
    assert (process.returncode, len(listed["hooks"])) == (0, 2)


def test_a_closed_stream_lends_its_number_to_no_file(tmp_path: Path) -> None:
    code = (
        "import os, sys; from hookwright.cli.streams import install; install()\n"
        "opened = open(sys.argv[1], 'w'); print('lost')\n"
        "os.write(opened.fileno(), str(opened.fileno()).encode())"
    )
    file = tmp_path / "journal"
    line = shlex.join([sys.executable, "-c", code, str(file)])
    subprocess.run(["bash", "-c", f"{line} <&- >&- 2>&-"], check=True, timeout=20)
    assert int(file.read_text()) > 2
