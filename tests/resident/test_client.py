"""Whatever is at the other end of the socket, the C client prints a whole answer or takes the cold path."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookwright.resident.messages import Reply, write_reply
from resident.installation import User, compile_client, denied

pytestmark = [pytest.mark.needs("cc"), pytest.mark.xdist_group("resident")]

#: An answer with which Codex runs the call.
ALLOWED = write_reply(Reply(0, b"{}\n"))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client beside a program that stands for the cold path: it shows what it was given, and refuses."""
    folder = tmp_path_factory.mktemp("bin")
    compile_client(folder / "hookwright-client")
    program = folder / "hookwright"
    program.write_text('#!/bin/sh\n[ "$1" = daemon ] && exit\necho "cold $*" >&2; cat >&2; exit 2\n')
    program.chmod(0o755)
    return folder


@pytest.fixture
def user(programs: Path, tmp_path: Path) -> Iterator[User]:
    someone = User(programs, tmp_path)
    folder = Path(someone.socket).parent
    folder.mkdir(mode=0o700)
    yield someone
    someone.close()


def went_cold(user: User, done: subprocess.CompletedProcess[str]) -> bool:
    """Return whether the cold path got the same arguments and the same input."""
    return (done.returncode, done.stdout, done.stderr) == (2, "", f"cold hook --from codex\n{user.payload}")


@contextlib.contextmanager
def daemon(path: str, *answers: bytes, hold: bool = False) -> Iterator[None]:
    """Serve one caller: read its request, send pieces one after the other, and close."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    os.chmod(path, 0o600)
    listener.listen(4)
    listener.settimeout(20)
    over = threading.Event()

    def serve() -> None:
        with contextlib.suppress(OSError):
            caller, _ = listener.accept()
            with caller:
                caller.settimeout(20)
                caller.recv(1 << 20)
                for answer in answers:
                    caller.sendall(answer)
                    time.sleep(0.02)
                if hold:
                    over.wait(20)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        over.set()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        listener.close()
        thread.join()


def test_a_whole_answer_is_printed_as_it_is(user: User) -> None:
    with daemon(user.socket, b"...", b".", write_reply(Reply(7, b"out\0\xff", b"err\n"))[:9], b""):
        assert went_cold(user, user.ask())
    os.unlink(user.socket)
    whole = write_reply(Reply(7, b"out\n", b"err\n"))
    with daemon(user.socket, b"..", whole[:5], whole[5:]):
        done = user.ask()
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")


NOT_ANSWERS = {
    "closed": (),
    "declined": (b"-",),
    "alive and closed": (b"...",),
    "cut in its head": (ALLOWED[:6],),
    "cut in its text": (ALLOWED[:-2],),
    "without its end": (ALLOWED[:-1],),
    "another end": (ALLOWED[:-1] + b"x",),
    "more than one": (ALLOWED + ALLOWED,),
    "declined after an answer": (ALLOWED + b"-",),
    "a status that is none": (b"=" + (256).to_bytes(4, "little") + ALLOWED[5:],),
    "too long": (b"=" + bytes(4) + b"\xff" * 8,),
    "HTTP": (b"HTTP/1.1 200 OK\r\n\r\n{}",),
    "JSON": (b"{}\n",),
}


@pytest.mark.parametrize("answers", NOT_ANSWERS.values(), ids=NOT_ANSWERS)
def test_anything_else_is_not_an_answer(user: User, answers: tuple[bytes, ...]) -> None:
    with daemon(user.socket, *answers):
        assert went_cold(user, user.ask())


@pytest.mark.parametrize(("answers", "limit"), [((), 2), ((b"..",), 5)], ids=["silent", "alive and then silent"])
def test_a_wedged_daemon_is_left_within_a_bound(user: User, answers: tuple[bytes, ...], limit: float) -> None:
    with daemon(user.socket, *answers, hold=True):
        began = time.monotonic()
        assert went_cold(user, user.ask())
        assert limit - 0.1 < time.monotonic() - began < limit + 5


def test_a_full_queue_is_left_at_once(user: User) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(user.socket)
    os.chmod(user.socket, 0o600)
    listener.listen(0)
    waiting = []
    with contextlib.suppress(BlockingIOError):
        for _ in range(10):
            waiting.append(socket.socket(socket.AF_UNIX))
            waiting[-1].setblocking(False)
            waiting[-1].connect(user.socket)
    assert went_cold(user, user.ask())
    for each in (listener, *waiting):
        each.close()


@pytest.mark.parametrize("place", ["folder open to others", "folder is a link", "socket open to others", "a file"])
def test_a_place_that_is_not_private_is_not_used(user: User, place: str) -> None:
    folder = Path(user.socket).parent
    with daemon(user.socket, ALLOWED):
        match place:
            case "folder open to others":
                folder.chmod(0o750)
            case "folder is a link":
                real = folder.rename(folder.with_name("elsewhere"))
                folder.symlink_to(real)
            case "socket open to others":
                os.chmod(user.socket, 0o660)
            case _:
                os.unlink(user.socket)
                Path(user.socket).write_bytes(ALLOWED)
        assert went_cold(user, user.ask())


#: Serves ALLOWED as another user, on a socket that belongs to this one: the credentials are those of `listen`.
FOREIGN = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o600)
if sys.argv[2] == "owner":
    os.chown(sys.argv[1], 65534, 65534)
else:
    os.setuid(65534)
listener.listen(4)
print("ready", flush=True)
caller, _ = listener.accept()
caller.recv(1 << 20)
caller.sendall(bytes.fromhex(sys.argv[3]))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
@pytest.mark.parametrize("what", ["owner", "process"])
def test_a_socket_of_another_user_is_not_used(user: User, what: str) -> None:
    argv = [sys.executable, "-I", "-c", FOREIGN, user.socket, what, ALLOWED.hex()]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as foreign:
        assert foreign.stdout is not None
        assert foreign.stdout.readline() == b"ready\n"
        try:
            assert went_cold(user, user.ask())
        finally:
            foreign.kill()


def test_without_a_cold_path_an_event_is_refused_with_the_way_out(user: User, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    alone.mkdir()
    compile_client(alone / "hookwright-client")
    nobody = User(alone, tmp_path / "nobody")
    nobody.programs = alone
    lost = nobody.ask(PATH="/nowhere")
    assert lost.returncode == 2
    assert denied(lost)
    assert "hookwright export --to codex --remove" in lost.stderr
    for active, status in ((True, 1), (False, 2)):  # an agent that was sent back to work once may stop
        stop = json.dumps({"hook_event_name": "Stop", "stop_hook_active": active})
        assert nobody.ask(stdin=stop, PATH="/nowhere").returncode == status
    nobody.close()


def test_a_large_input_reaches_the_cold_path_whole(user: User) -> None:
    large = json.dumps({"text": "x" * (17 << 20)})
    with daemon(user.socket, ALLOWED):
        done = user.ask(stdin=large)
    assert (done.returncode, len(done.stderr)) == (2, len(large) + len("cold hook --from codex\n"))


def test_another_command_is_the_ordinary_program(user: User) -> None:
    assert user.ask("list", "--json").stderr.startswith("cold list --json\n")
    assert user.ask("fire", "--fast", "Stop").stderr.startswith("cold fire Stop\n")
    done = user.ask("worker", "--resident", "--", "cat")
    assert (done.returncode, done.stdout) == (0, user.payload)
    assert user.ask("worker", "--", "/no/such/program").returncode == 127
