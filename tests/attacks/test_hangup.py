"""`hookwright chat` ends when its terminal goes away: SessionEnd runs, and no process is left."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from processes import gone
from tui.chats import Chat, bash, text

AREA = "processes: terminals, workers, streams"


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    made = Chat(tmp_path)
    made.hook("SessionEnd", "true")
    return made


def _ends(chat: Chat, pid: int, seconds: float = 8.0) -> bool:
    """Wait for SessionEnd, then for the end of the process, which must follow within two seconds."""
    deadline = time.monotonic() + 20
    while "SessionEnd" not in chat.trace.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "SessionEnd" in chat.trace.read_text()
    return gone(pid, seconds)


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "at work"])
def test_a_closed_terminal_ends_the_chat(busy: bool, chat: Chat) -> None:
    chat.settings({"permissions": {"allow": ["Bash"]}})
    chat.script([bash("sleep 60")], [text("done")])
    terminal = chat.open()
    try:
        terminal.wait("1 hook active")
        if busy:
            terminal.say("go")
            terminal.wait("sleep 60")
        terminal.close_window()
        assert _ends(chat, terminal.process.pid)
        assert terminal.process.wait(5) == 129
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


def test_a_hang_up_with_the_terminal_still_there_ends_the_chat(chat: Chat) -> None:
    import signal

    chat.script([text("done")])
    with chat.open() as terminal:
        terminal.wait("1 hook active")
        terminal.process.send_signal(signal.SIGHUP)
        assert terminal.ended() == 129
    assert "SessionEnd" in chat.trace.read_text()


def test_a_plain_chat_ends_with_its_terminal(chat: Chat) -> None:
    chat.script([text("done")])
    terminal = chat.open("--plain")
    try:
        terminal.wait("1 hook")
        terminal.close_window()
        assert _ends(chat, terminal.process.pid)
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_killed_tmux_ends_the_chat(chat: Chat, tmp_path: Path) -> None:
    path = chat.script([text("done")])
    socket = str(tmp_path / "tmux")
    command = f"{sys.executable} -m hookwright.cli chat --script {path}"
    env = {**chat.env, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    tmux = ["tmux", "-S", socket]
    subprocess.run(
        [*tmux, "new-session", "-d", "-x", "100", "-y", "30", command], cwd=chat.project, env=env, check=True
    )
    listed = subprocess.run([*tmux, "list-panes", "-F", "#{pane_pid}"], capture_output=True, text=True, check=True)
    pid = int(listed.stdout)
    for _ in range(200):
        shown = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout
        if "1 hook active" in shown:
            break
        time.sleep(0.1)
    subprocess.run([*tmux, "kill-server"], check=True)
    assert _ends(chat, pid)
