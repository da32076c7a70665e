"""A Python hook does the same in a fork of a held interpreter as after a cold start."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from hookwright.protocol.replies import Exited, TimedOut
from processes import alive, gone, written
from support import event
from warmth import PYTHON, Bench, facts, on, same

SCRIPTS = {
    "reads stdin": "import json, sys; print(json.load(sys.stdin)['hook_event_name'])",
    "reads binary stdin": "import sys; data = sys.stdin.buffer.read(); print(len(data), data[-2:])",
    "reads /dev/stdin": "print(open('/dev/stdin').read())",
    "does not read stdin": "print('ok')",
    "falls off its end": "x = 1",
    "exits 2": "import sys; print('no', file=sys.stderr); sys.exit(2)",
    "exits with text": "import sys; sys.exit('a text')",
    "exits with a large number": "import sys; sys.exit(300)",
    "exits with an object": "import sys; sys.exit([1, 2])",
    "raises SystemExit in finally": "try:\n    1 / 0\nfinally:\n    raise SystemExit(7)",
    "exits from a function in a thread pool": (
        "import concurrent.futures as c\nwith c.ThreadPoolExecutor() as p: print(p.submit(lambda: 5).result())"
    ),
    "raises": "def f():\n    raise ValueError('bad \\xe9')\nf()",
    "raises from another": "try:\n    {}['x']\nexcept KeyError as e:\n    raise RuntimeError('y') from e",
    "raises an exception with a note": "e = ValueError('x'); e.add_note('more'); raise e",
    "has a syntax error": "def f(:\n",
    "has a null byte": "print(1)\0\n",
    "is interrupted": "raise KeyboardInterrupt",
    "exits at once": "import os, sys; sys.stdout.write('lost'); os._exit(3)",
    "dies by SIGKILL": "import os; os.kill(os.getpid(), 9)",
    "dies by SIGTERM": "import os, signal; print('x', flush=True); os.kill(0, signal.SIGTERM)",
    "aborts": "import os; os.abort()",
    "sees its arguments": "import sys; print(sys.argv, sys.orig_argv[1:], sys.flags, sys.executable)",
    "sees its names": "print(__name__, __file__, __package__, __spec__, __builtins__, __doc__, sorted(globals()))",
    "sees its path": "import sys; print(sys.path, sys.meta_path, sys.path_hooks, sys.prefix, sys.base_prefix)",
    "sees its stack": "import sys, traceback; traceback.print_stack(); print(sys._getframe().f_back)",
    "sees its streams": (
        "import sys\nfor s in (sys.stdin, sys.stdout, sys.stderr, sys.__stdout__):"
        " print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.isatty(), s.buffer.raw.seekable())"
    ),
    "sees no other descriptor": "import os; print(sorted(os.listdir('/proc/self/fd')))",
    "opens the same descriptors": "print(open('/dev/null').fileno(), open('/dev/null').fileno())",
    "sees its directory": "import os; print(os.getcwd())",
    "sees its environment": "import os\nfor n in sorted(os.environ): print(n, os.environ[n])",
    "passes its environment on": "import subprocess; print(subprocess.run(['env'], capture_output=True).stdout)",
    "changes its environment": "import os; os.environ['X'] = 'y'; os.system('echo $X $HOME')",
    "leads its session": "import os; print(os.getpid() == os.getsid(0) == os.getpgrp())",
    "sees its signals": "import signal; print([(s, signal.getsignal(s)) for s in sorted(signal.valid_signals())])",
    "sees no blocked signal": "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
    "sees its limits": "import resource as r; print(r.getrlimit(r.RLIMIT_NOFILE), r.getrlimit(r.RLIMIT_STACK))",
    "sees its umask": "import os; print(oct(os.umask(0)))",
    "writes files": "open('out/a', 'w').write('x'); import os; os.mkdir('out/b') if 0 else None",
    "leaves files open": "f = open('out/log', 'a'); f.write('kept without a close')",
    "leaves files open in a cycle": "class A: pass\na = A(); a.a = a; a.f = open('out/log', 'a'); a.f.write('kept')",
    "prints without a newline": "print('no newline', end='')",
    "prints bytes": "import sys; sys.stdout.buffer.write(bytes(range(256)))",
    "prints what is not UTF-8": "import os; os.write(1, b'\\xff\\xfe'); os.write(2, b'\\x80')",
    "prints surrogates": "import os; print(os.fsdecode(b'\\xff'))",
    "prints much": "print('x' * 3_000_000)",
    "prints in turn": "import sys\nfor i in range(50): print(i); print(-i, file=sys.stderr)",
    "prints to a closed stream": "import sys; sys.stdout.close(); print('x')",
    "closes its streams": "import os; os.close(1); os.close(2)",
    "starts processes": (
        "import subprocess; subprocess.run(['sh', '-c', 'echo a; echo b >&2; exit 3']).check_returncode()"
    ),
    "forks": "import os\nif os.fork() == 0: print('child')\nelse: os.wait(); print('parent')",
    "uses multiprocessing": (
        "import multiprocessing as m\ndef f(q): q.put(m.current_process().name)\n"
        "if __name__ == '__main__':\n"
        "    for kind in ('fork', 'spawn'):\n"
        "        c = m.get_context(kind); q = c.Queue(); p = c.Process(target=f, args=(q,)); p.start()\n"
        "        print(q.get(), m.current_process().name); p.join()"
    ),
    "runs threads": "import threading; t = threading.Thread(target=lambda: print('thread')); t.start(); print('main')",
    "leaves a thread running": (
        "import threading, time; threading.Thread(target=lambda: (time.sleep(.05), print('late'))).start()"
    ),
    "leaves a daemon thread": (
        "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    ),
    "uses asyncio": "import asyncio\nasync def f(): await asyncio.sleep(0); print('ran')\nasyncio.run(f())",
    "registers at exit": "import atexit; atexit.register(print, 'one'); atexit.register(print, 'two'); print('main')",
    "raises at exit": "import atexit\n@atexit.register\ndef f(): 1 / 0",
    "has finalisers": "class A:\n    def __del__(self): print('gone')\na = A(); b = A(); b.b = b",
    "has finalisers in a module": (
        "import sys, types\nm = types.ModuleType('m'); sys.modules['m'] = m\n"
        "exec(\"class A:\\n    def __del__(self): print('gone', sys is not None)\\nimport sys; a = A()\", m.__dict__)"
    ),
    "writes at exit through the library": (
        "import logging, tempfile\nlogging.basicConfig(filename='out/log', format='%(message)s')\n"
        "logging.warning('kept')\nd = tempfile.TemporaryDirectory(dir='out')"
    ),
    "logs": "import logging; logging.warning('x'); logging.getLogger('a').info('not shown')",
    "warns": "import warnings; warnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)",
    "replaces its hooks": "import sys; sys.excepthook = lambda *a: print('hooked', a[0]); 1 / 0",
    "asks for a traceback": "import traceback\ntry: 1 / 0\nexcept Exception: print(traceback.format_exc())",
    "finds itself as main": "import sys, __main__; print(__main__ is sys.modules['__main__'], __main__.__file__)",
    "pickles": "import pickle\nclass A: pass\nprint(pickle.loads(pickle.dumps(A())).__class__)",
    "inspects itself": "import inspect\ndef f(): return 1\nprint(inspect.getsource(f), inspect.getfile(f))",
    "is not customised by us": (
        "import sys; print('sitecustomize' in sys.modules, [m for m in sys.modules if 'hookwright' in m])"
    ),
    "runs out of stack": (
        "import sys\ndef f(n): return f(n + 1)\n"
        "try: f(0)\nexcept RecursionError as e: print(e, sys.getrecursionlimit())"
    ),
}


@pytest.mark.parametrize("source", SCRIPTS.values(), ids=SCRIPTS)
def test_a_fork_does_what_a_cold_start_does(source: str, tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(source + "\n")
    same(tmp_path, lambda bench: bench.job(PYTHON, args=("hook.py", "one", "two three")))


FORMS = {
    "absolute": lambda d: f"{PYTHON} {d}/hook.py",
    "project variable": lambda _: f'{PYTHON} "$CLAUDE_PROJECT_DIR"/hook.py',
    "home": lambda _: f"{PYTHON} ~/hook.py a",
    "unbuffered": lambda _: f"{PYTHON} -u hook.py",
    "without bytecode": lambda _: f"{PYTHON} -B hook.py",
    "shebang": lambda _: "./hook.py 'x y'",
    "quoted shebang": lambda _: '"${CLAUDE_PROJECT_DIR}/hook.py"',
}
SHOW = f"#!{PYTHON}\nimport os, sys\nprint(sys.argv, __file__, sys.path[0], sys.flags, sorted(os.environ.items()))\n"


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_of_the_command_is_the_same(form: object, tmp_path: Path) -> None:
    assert callable(form)
    (tmp_path / "hook.py").write_text(SHOW)
    (tmp_path / "hook.py").chmod(0o755)
    assert same(tmp_path, lambda bench: bench.job(form(tmp_path)))[0] == 0


def test_the_exec_form_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(SHOW)
    same(tmp_path, lambda bench: bench.job(PYTHON, args=("${CLAUDE_PROJECT_DIR}/hook.py", "$x", "*")))


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "latin-1:replace"},
        {"PYTHONPATH": "{here}/lib:/nonexistent"},
        {"PYTHONPATH": ""},
        {"PYTHONPATH": "lib::"},
        {"PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "error", "PYTHONHASHSEED": "7", "PYTHONDEVMODE": "1"},
        {"PWD": "/nonexistent", "OLDPWD": "/tmp", "TZ": "Asia/Tokyo", "SHLVL": "3"},
    ],
    ids=str,
)
def test_the_environment_at_the_start_counts(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "helper.py").write_text("print('helped')\n")
    (tmp_path / "hook.py").write_text(
        "import os, sys, time\ntry: import helper\nexcept ImportError: pass\n"
        "print(sys.path, sys.flags, sys.stdout.encoding, sys.stdout.errors, hash('x') if sys.flags.hash_randomization"
        " == 0 else '', time.tzname, sys.getfilesystemencoding(), sys.warnoptions, sorted(os.environ.items()))\n"
    )
    here = {name: value.replace("{here}", str(tmp_path)) for name, value in env.items()}
    same(tmp_path, lambda bench: bench.job(f"{PYTHON} hook.py"), env=here)


# ── between events ──────────────────────────────────────────────────────────


def test_environment_and_directory_are_those_of_the_event(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("sub")
    (tmp_path / "hook.py").write_text("import os; print(os.getcwd(), sorted(os.environ.items()))\n")
    command = f"{PYTHON} {tmp_path}/hook.py"

    async def work(bench: Bench) -> None:
        await bench.ready(bench.job(command))
        for folder in ("sub", "link", "."):
            for name, more in (("PreToolUse", {"effort": {"level": "high"}}), ("SessionStart", {})):
                moment = event(name, cwd=str(tmp_path / folder), session_id=f"session-{folder}", **more)
                job = bench.job(command, moment)
                assert facts(await bench.warm(job)) == facts(await bench.cold(job))
        assert bench.served == 6

    on(tmp_path, work, {"PWD": str(tmp_path / "link")})


def test_a_script_that_was_edited_is_read_anew(tmp_path: Path) -> None:
    hook = tmp_path / "hook.py"
    hook.write_text("print('old')\n")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        assert facts(await bench.warm(job)) == (0, b"old\n", b"")
        hook.write_text("print('new')\n")
        assert facts(await bench.warm(job)) == (0, b"new\n", b"")
        await bench.workers.interpreters.settled()
        assert facts(await bench.warm(job)) == (0, b"new\n", b"")
        assert bench.served == 2

    on(tmp_path, work)


def test_a_module_that_was_edited_is_read_anew(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("WORD = 'one'\n")
    (tmp_path / "hook.py").write_text("import helper; print(helper.WORD)\n")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        for word in ("one", "three", "eleven", "seventeen"):  # Python itself tells sources apart by size and second
            helper.write_text(f"WORD = '{word}'\n")
            assert facts(await bench.warm(job)) == (0, f"{word}\n".encode(), b"")
        assert bench.served == 4

    on(tmp_path, work)


def test_a_module_that_appears_beside_the_script_shadows_the_library(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("import json; print(json.__file__)\n")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        assert b"json/__init__.py" in facts(await bench.warm(job))[1]
        (tmp_path / "json.py").write_text("")
        mine = (0, f"{tmp_path}/json.py\n".encode(), b"")
        assert facts(await bench.warm(job)) == mine
        await bench.workers.interpreters.settled()
        assert facts(await bench.warm(job)) == mine
        assert "shadows" in bench.refusals[0]

    on(tmp_path, work)


def test_settings_that_change_the_environment_start_a_new_interpreter(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("import os; print(os.environ.get('MODE'))\n")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        other = Bench(tmp_path, {"MODE": "strict"})
        other.warm = type(bench.warm)(other.cold, bench.workers)
        assert facts(await other.warm(job))[1] == b"strict\n"
        await bench.workers.interpreters.settled()
        assert facts(await other.warm(job))[1] == b"strict\n"
        assert bench.served == 1

    on(tmp_path, work)


def test_random_numbers_and_clocks_are_fresh(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import random, uuid, secrets, logging\n"
        "record = logging.LogRecord('x', 20, 'f', 1, 'm', (), None)\n"
        "print(random.random(), uuid.uuid4(), secrets.token_hex(), record.relativeCreated < 400)\n"
    )

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        first = facts(await bench.warm(job))[1].split()
        await asyncio.sleep(0.5)
        second = facts(await bench.warm(job))[1].split()
        assert not set(first[:3]) & set(second[:3])
        assert first[3] == second[3] == b"True"

    on(tmp_path, work)


# ── ends ────────────────────────────────────────────────────────────────────


@pytest.mark.req("R-186", "R-187")
def test_a_timeout_ends_the_whole_group(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import os, subprocess, time\n"
        "p = subprocess.Popen(['sh', '-c', \"trap '' TERM; sleep 60\"])\n"
        "open('pids', 'w').write(f'{os.getpid()} {p.pid}\\n'); time.sleep(60)\n"
    )

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py", limit=0.5)
        await bench.ready(job)
        (tmp_path / "pids").unlink()
        assert await bench.warm(job) == TimedOut(0.5)
        assert bench.served == 1
        for pid in written(tmp_path / "pids").split():
            assert gone(int(pid))

    on(tmp_path, work)


def test_a_timeout_ends_a_daemon_that_left_the_group(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); open('pid', 'w').write(f'{os.getpid()}\\n')\n"
        "time.sleep(60)\n"
    )

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py", limit=0.5)
        await bench.ready(job)
        (tmp_path / "pid").unlink()
        assert await bench.warm(job) == TimedOut(0.5)
        assert bench.served == 1
        assert gone(int(written(tmp_path / "pid")))

    on(tmp_path, work)


def test_a_cancelled_hook_is_ended(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("import os, time\nopen('pid', 'w').write(f'{os.getpid()}\\n'); time.sleep(60)\n")

    async def work(bench: Bench) -> None:
        await bench.ready(bench.job(f"{PYTHON} hook.py", limit=0.3))
        (tmp_path / "pid").unlink()
        task = asyncio.ensure_future(bench.warm(bench.job(f"{PYTHON} hook.py")))
        while not (tmp_path / "pid").exists():
            await asyncio.sleep(0.01)
        pid = int(written(tmp_path / "pid"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gone(pid)

    on(tmp_path, work)


def test_a_child_left_behind_does_not_make_anybody_wait(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("import subprocess; print(subprocess.Popen(['sleep', '30']).pid)\n")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        started = time.monotonic()
        status, stdout, _ = facts(await bench.warm(job))
        assert (status, bench.served) == (0, 1)
        assert time.monotonic() - started < 10
        assert alive(int(stdout))
        os.kill(int(stdout), 9)

    on(tmp_path, work)


def test_death_by_signal_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("import os; os.kill(os.getpid(), 9)\n")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        reply = await bench.warm(job)
        assert isinstance(reply, Exited)
        assert (reply.status, reply.signal, bench.served) == (137, 9, 1)

    on(tmp_path, work)


def test_many_events_at_once_each_have_a_fork(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text("import json, sys; print(json.load(sys.stdin)['session_id'])\n")

    async def work(bench: Bench) -> None:
        command = f"{PYTHON} hook.py"
        await bench.ready(bench.job(command))
        jobs = [
            bench.job(command, event("PreToolUse", cwd=str(tmp_path), session_id=f"s-{number}")) for number in range(20)
        ]
        replies = await asyncio.gather(*map(bench.warm, jobs))
        assert [facts(reply)[1] for reply in replies] == [f"s-{number}\n".encode() for number in range(20)]
        assert bench.served == 20

    on(tmp_path, work)


def test_a_large_event_arrives_whole(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())\n"
    )
    big = event("PreToolUse", cwd=str(tmp_path), tool_input={"command": "x" * 3_000_000})
    same(tmp_path, lambda bench: bench.job(f"{PYTHON} hook.py", big))
