"""The daemon does what the cold path does, for its caller alone, and leaves nothing."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookwright.resident.messages import DECLINED, Request, write_request
from hookwright.resident.start import is_locked, lock_path
from processes import alive, eventually, gone
from resident.installation import User, denied, install

pytestmark = [pytest.mark.needs("cc"), pytest.mark.xdist_group("resident")]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def user(programs: Path, tmp_path: Path) -> Iterator[User]:
    someone = User(programs, tmp_path)
    yield someone
    someone.close()


def test_the_daemon_answers_as_the_cold_path_with_the_environment_and_directory_of_the_caller(user: User) -> None:
    cold = user.hookwright("hook", "--from", "codex", stdin=user.fresh())
    with user.daemon() as daemon:
        fast = user.ask()
        python = user.hookwright("hook", "--from", "codex", "--fast", stdin=user.fresh())
    assert (fast.stdout, fast.stderr, fast.returncode) == (cold.stdout, cold.stderr, cold.returncode)
    assert (python.stdout, python.stderr, python.returncode) == (cold.stdout, cold.stderr, cold.returncode)
    assert denied(fast)
    _, first, second = user.runs()
    assert first == second == [str(daemon.pid), "caller", str(user.project)]
    traced = user.hookwright("trace", "--agent", "codex", "--kind", "event").stdout.splitlines()
    assert [("deny" in line, "codex" in line) for line in traced] == [(True, True)] * 3


def test_a_changed_configuration_and_a_changed_trust_are_used_at_once(user: User) -> None:
    with user.daemon():
        assert denied(user.ask())
        user.set_hooks({"type": "command", "command": "true"})
        assert user.ask().stdout == "{}\n"
        (user.project / ".claude").mkdir()
        guard = {"hooks": [{"type": "command", "command": "echo stop >&2; exit 2"}]}
        (user.project / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [guard]}}))
        untrusted = user.ask()
        assert not denied(untrusted)
        assert "not trusted" in untrusted.stderr
        assert user.hookwright("trust", "--yes").returncode == 0
        assert denied(user.ask())
        (user.home / ".claude" / "settings.json").write_text("{broken")
        assert denied(user.ask())


def test_clients_that_race_start_one_daemon_and_all_are_refused_meanwhile(user: User) -> None:
    racing = [user.start() for _ in range(6)]
    answers = [process.communicate(timeout=60) for process in racing]
    assert all("not this" in out for out, _ in answers)
    assert eventually(lambda: os.path.exists(user.socket), 30)
    assert eventually(lambda: len(daemons(user)) == 1, 30)
    (pid,) = daemons(user)
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    assert b"WHO=" not in environment
    assert b"PYTHON" not in environment
    assert denied(user.ask())
    assert user.runs()[-1][0] == str(pid)
    stopped = user.hookwright("daemon", "stop")
    assert (stopped.returncode, stopped.stdout) == (0, "the daemon has ended\n")
    assert gone(pid)
    assert sorted(os.listdir(user.runtime / "hookwright")) == [os.path.basename(lock_path(user.socket))]


def daemons(user: User) -> list[int]:
    """Find the daemons of a user by what they inherited."""
    wanted = f"XDG_RUNTIME_DIR={user.runtime}\0".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            if b"daemon" in words and wanted in Path(f"/proc/{name}/environ").read_bytes():
                found.append(int(name))
        except OSError:
            continue
    return found


def test_an_idle_daemon_ends_and_removes_its_socket(user: User) -> None:
    with user.daemon(idle=0.2) as daemon:
        assert daemon.wait(timeout=20) == 0
    assert not os.path.exists(user.socket)
    absent = user.hookwright("daemon", "status")
    assert (absent.returncode, absent.stdout) == (1, "no daemon answers: it is not running\n")


def test_a_caller_that_leaves_ends_its_hooks(user: User) -> None:
    user.set_hooks({"type": "command", "command": 'echo "$$" > "$LOG"; sleep 60 & wait'})
    with user.daemon() as daemon:
        client = user.start()
        assert eventually(lambda: user.log.exists() and user.log.read_text().strip(), 20)
        hook = int(user.log.read_text())
        client.kill()
        client.communicate()
        assert gone(hook, 10)
        assert alive(daemon.pid)


def test_a_daemon_killed_during_a_request_ends_its_hooks_and_the_call_is_refused(user: User) -> None:
    with user.daemon() as daemon:
        client = user.start(NAP="1.5")
        assert eventually(lambda: len(user.runs()) == 1, 20)
        daemon.kill()
        out, _ = client.communicate(timeout=60)
    assert "not this" in out
    assert len(user.runs()) == 2
    assert user.runs()[1][0] != str(daemon.pid)


def test_a_stopped_daemon_is_left_for_the_cold_path_and_does_not_run_the_request_later(user: User) -> None:
    with user.daemon() as daemon:
        daemon.send_signal(signal.SIGSTOP)
        assert denied(user.ask())
        status = user.hookwright("daemon", "status")
        assert status.returncode == 1
        assert "daemon stop" in status.stdout
        daemon.send_signal(signal.SIGCONT)
        assert denied(user.ask())
        assert [run[0] == str(daemon.pid) for run in user.runs()] == [False, True]
        daemon.send_signal(signal.SIGSTOP)
        assert user.hookwright("daemon", "stop").returncode == 0
        assert daemon.wait(timeout=10) is not None


def test_a_caller_with_fewer_rights_or_another_version_does_its_work_itself(user: User) -> None:
    with user.daemon() as daemon:
        # What a sandbox does first: no new privileges.
        confined = subprocess.run(
            user.argv(),
            env=user.env,
            cwd=user.project,
            input=user.fresh(),
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: ctypes.CDLL(None).prctl(38, 1, 0, 0, 0),
        )
        assert denied(confined)
        assert user.runs()[-1][0] != str(daemon.pid)
        assert denied(user.ask())
        assert user.runs()[-1][0] == str(daemon.pid)
        argv = ("hook", "--from", "codex")
        assert talk(user, write_request(Request(argv, "/", user.env, user.payload.encode(), "0.0.1"))) == DECLINED
        assert daemon.wait(timeout=10) == 0  # it may be the older one


def talk(user: User, data: bytes) -> bytes:
    """Send bytes to the daemon and return all it answers."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(user.socket)
        answer = b""
        try:
            connection.sendall(data)
            while chunk := connection.recv(1 << 16):
                answer += chunk
        except ConnectionError:
            pass
        return answer


def test_garbage_and_huge_requests_are_declined_and_the_next_one_is_answered(user: User) -> None:
    request = write_request(Request(("hook", "--from", "codex"), "/", user.env, user.payload.encode()))
    huge = request[:13] + (1 << 31).to_bytes(4, "little")
    unknown = write_request(Request(("run", "rm"), "/", {}, b""))
    usage = write_request(Request(("hook", "--from", "nobody"), "/", {}, b""))
    with user.daemon() as daemon:
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100, huge, request + b"x", unknown):
            assert talk(user, data) in (DECLINED, b"")
        assert talk(user, usage).lstrip(b".") == DECLINED
        assert denied(user.ask())
        assert user.runs()[-1][0] == str(daemon.pid)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_another_user_is_not_served(user: User) -> None:
    with user.daemon():
        user.runtime.chmod(0o711)
        (user.runtime / "hookwright").chmod(0o711)
        os.chmod(user.socket, 0o666)
        request = write_request(Request(("hook", "--from", "codex"), "/", user.env, user.payload.encode()))
        code = "import os,socket,sys; os.setuid(65534); s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        code += "try: s.sendall(sys.stdin.buffer.read())\nexcept OSError: pass\n"
        code += "try: print(s.recv(100))\nexcept OSError: print('closed')"
        argv = [sys.executable, "-I", "-c", code, user.socket]
        other = subprocess.run(argv, input=request, capture_output=True, check=False)
        assert other.stdout.strip() in (b"b'-'", b"b''", b"closed"), other
    assert user.runs() == []


def test_hooks_of_other_kinds_are_left_to_the_caller(user: User) -> None:
    user.set_hooks({"type": "http", "url": "http://127.0.0.1:1/"})
    request = write_request(Request(("hook", "--from", "codex"), "/", user.env, user.payload.encode()))
    with user.daemon():
        assert talk(user, request).lstrip(b".") == DECLINED


def test_fire_and_workers_answer_through_the_daemon(user: User) -> None:
    guard = user.home / "guard.py"
    guard.write_text(
        "import sys, os, json\nevent = json.load(sys.stdin)\n"
        "print(event['tool_name'], os.environ['WHO'], os.getcwd())\nprint('no', file=sys.stderr)\nsys.exit(2)\n"
    )
    with user.daemon():
        plain = user.hookwright("fire", "--json", stdin=user.fresh())
        fast = user.ask("fire", "--json", "--fast")
        assert (fast.returncode, fast.stderr) == (plain.returncode, plain.stderr) == (2, "")
        assert json.loads(fast.stdout)["reason"] == json.loads(plain.stdout)["reason"] != ""
        said = [user.ask("worker", "--", sys.executable, str(guard)) for _ in range(2)]
        assert eventually(lambda: served(user, guard), 30)
        said.append(user.ask("worker", "--", sys.executable, str(guard)))
    for done in said:
        assert (done.returncode, done.stdout, done.stderr) == (2, f"Bash caller {user.project}\n", "no\n")


def served(user: User, guard: Path) -> bool:
    """Return whether the daemon itself answers for a worker."""
    request = Request(("worker", "--", sys.executable, str(guard)), str(user.project), user.env, user.payload.encode())
    return b"=" in talk(user, write_request(request))


def test_a_resident_hook_keeps_its_process(user: User) -> None:
    hook = user.home / "resident.py"
    hook.write_text(
        "import os\nfrom hookwright.author import deny, hook\n\n@hook.pre_tool_use('Bash')\ndef guard(event):\n"
        "    return deny(f'{os.getpid()} {os.environ[\"WHO\"]}')\n\nhook.run()\n"
    )
    with user.daemon():
        said = [user.ask("worker", "--resident", "--", sys.executable, str(hook)) for _ in range(3)]
    reasons = {done.stdout + done.stderr for done in said}
    assert len(reasons) == 1
    assert "caller" in reasons.pop()


def test_a_second_daemon_leaves_at_once(user: User) -> None:
    with user.daemon() as first:
        assert user.hookwright("daemon", "start").returncode == 0
        status = json.loads(user.hookwright("daemon", "status", "--json").stdout)
        assert status["pid"] == first.pid
    assert not is_locked(user.socket)
