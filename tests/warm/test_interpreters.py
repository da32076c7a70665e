"""Held interpreters: whose they are, when there are none, and that nothing of them stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from hookwright.protocol.replies import Backgrounded, Exited, Failed
from hookwright.protocol.sources import Plugin, Scope, Source
from hookwright.warm.stdlib import PRELOADED
from processes import children, eventually, gone, python, written
from support import open_fds
from warmth import PYTHON, Bench, facts, on, same

PARENT = "import os; print(os.getppid())\n"


def test_nothing_is_shared_between_trust_domains(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(PARENT)
    sources = [
        Source(Scope.MANAGED),
        Source(Scope.USER),
        Source(Scope.PROJECT, from_project=True),
        Source(Scope.LOCAL, from_project=True),
        Source(Scope.PLUGIN, plugin=Plugin("a", "/a", "/a/data")),
        Source(Scope.PLUGIN, plugin=Plugin("b", "/b", "/b/data")),
    ]

    async def work(bench: Bench) -> None:
        parents: list[bytes] = []
        for source in sources:
            job = bench.job(f"{PYTHON} hook.py", source=source)
            await bench.ready(job)
            both = {facts(await bench.warm(job))[1] for _ in range(2)}
            assert len(both) == 1
            parents += both
        assert len(set(parents)) == len(sources)
        assert bench.served == 2 * len(sources)

    on(tmp_path, work)


def test_the_end_of_the_session_ends_them(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(PARENT)
    found: list[int] = []
    before = open_fds()

    async def work(bench: Bench) -> None:
        for form in ("hook.py", f"{tmp_path}/hook.py"):
            job = bench.job(f"{PYTHON} {form}")
            await bench.ready(job)
            zygote = int(facts(await bench.warm(job))[1])
            assert eventually(lambda pid=zygote: bool(children(pid)))
            found.extend([zygote, *children(zygote)])

    on(tmp_path, work)
    assert len(found) >= 4
    assert all(map(gone, found))
    assert open_fds() == before


def test_they_end_with_a_host_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(PARENT)
    host = f"""
        import asyncio, sys
        from pathlib import Path
        sys.path[:0] = {sys.path!r}
        from warmth import *
        async def work(bench):
            job = bench.job(f"{{PYTHON}} hook.py")
            await bench.ready(job)
            print(facts(await bench.warm(job))[1].decode().strip(), flush=True)
            await asyncio.sleep(60)
        on(Path({str(tmp_path)!r}), work)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(host)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        zygote = int(process.stdout.readline())
        assert eventually(lambda: bool(children(zygote)))
        spares = children(zygote)
        process.kill()
    assert all(map(gone, [zygote, *spares]))


def test_one_that_dies_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(PARENT)

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        first = int(facts(await bench.warm(job))[1])
        os.kill(first, signal.SIGKILL)
        await asyncio.sleep(0.2)
        assert facts(await bench.warm(job))[0] == 0
        await bench.workers.interpreters.settled()
        assert int(facts(await bench.warm(job))[1]) != first
        assert bench.served == 2

    on(tmp_path, work)


def test_a_run_whose_interpreter_dies_is_a_failure_and_never_run_twice(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import os, time\nopen('runs', 'a').write(f'{os.getppid()}\\n')\nif os.path.exists('slow'): time.sleep(30)\n"
    )

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        (tmp_path / "runs").unlink()
        (tmp_path / "slow").touch()
        task = asyncio.ensure_future(bench.warm(job))
        while not (tmp_path / "runs").exists():
            await asyncio.sleep(0.01)
        os.kill(int(written(tmp_path / "runs")), signal.SIGKILL)
        assert isinstance(await task, Failed)
        assert (tmp_path / "runs").read_text().count("\n") == 1

    on(tmp_path, work)


def test_a_hook_may_go_to_the_background(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(
        "import time; print('{\"async\": true}', flush=True); time.sleep(0.2); open('done', 'a').write('x\\n')\n"
    )

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        await asyncio.sleep(0.5)
        assert isinstance(await bench.warm(job), Backgrounded)
        assert bench.served == 1
        await asyncio.sleep(0.5)
        assert (tmp_path / "done").read_text() == "x\nx\n"

    on(tmp_path, work)


# ── what is unusual about an interpreter ────────────────────────────────────

CUSTOMISED = {
    "prints": ("print('hello')", "prints before the script starts"),
    "runs threads": (
        "import threading, time; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
        "threads",
    ),
    "breaks": ("1 / 0", "ZeroDivisionError"),
    "exits": ("raise SystemExit(5)", "SystemExit"),
}


@pytest.mark.parametrize(("source", "reason"), CUSTOMISED.values(), ids=CUSTOMISED)
def test_a_site_that_does_more_is_started_the_ordinary_way(source: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(source + "\n")
    (tmp_path / "hook.py").write_text("print('ran')\n")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        await bench.ready(job)
        assert reason in bench.refusals[0]
        first, second = await bench.warm(job), await bench.warm(job)
        assert facts(first) == facts(second) == facts(await bench.cold(job))
        assert isinstance(first, Exited)
        assert reason in first.notes[0]
        assert isinstance(second, Exited)
        assert not second.notes

    on(tmp_path, work, {"PYTHONPATH": str(tmp_path / "site")})


def test_the_sites_own_customisation_counts(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys, os; sys.mark = os.environ['HOME']\n")
    (tmp_path / "hook.py").write_text("import sys; print(sys.mark, sys.modules['sitecustomize'])\n")
    env = {"PYTHONPATH": str(tmp_path / "site")}
    assert same(tmp_path, lambda bench: bench.job(f"{PYTHON} hook.py"), env)[0] == 0


def test_a_program_that_only_has_the_name_never_gets_the_script(tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to("/bin/true")
    (tmp_path / "hook.py").write_text("")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{tmp_path}/python hook.py")
        await bench.ready(job)
        assert "does not start as CPython" in bench.refusals[0]

    on(tmp_path, work)


def test_what_changes_all_the_time_is_not_held(tmp_path: Path) -> None:
    hook = tmp_path / "hook.py"
    hook.write_text("print(0)\n")

    async def work(bench: Bench) -> None:
        job = bench.job(f"{PYTHON} hook.py")
        for number in range(8):
            hook.write_text(f"print({10**number})\n")
            assert facts(await bench.warm(job))[1] == f"{10**number}\n".encode()
            await bench.workers.interpreters.settled()
        assert "change too often" in bench.refusals[0]

    on(tmp_path, work)


def test_the_installation_is_watched(tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (tmp_path / "hook.py").write_text("import sys; print(getattr(sys, 'mark', None))\n")

    async def work(bench: Bench) -> None:
        job = bench.job("venv/bin/python hook.py", args=None)
        absolute = bench.job(f"{tmp_path}/venv/bin/python hook.py")
        assert facts(await bench.warm(job))[0] == 0
        await bench.ready(absolute)
        assert facts(await bench.warm(absolute))[1] == b"None\n"
        (packages / "mark.pth").write_text("import sys; sys.mark = 'set'\n")
        assert facts(await bench.warm(absolute))[1] == b"set\n"
        await bench.workers.interpreters.settled()
        assert facts(await bench.warm(absolute))[1] == b"set\n"
        assert bench.served == 2

    on(tmp_path, work)


def test_what_is_preloaded_leaves_no_trace_of_the_moment() -> None:
    code = f"""
        import os, sys
        seen = []
        def hook(event, args):
            if event == "open":
                if isinstance(args[0], str) and not args[0].endswith((".py", ".pyc", ".so")):
                    seen.append((event, args[0]))
            elif event.startswith(("os.", "socket.", "subprocess.", "time.", "tempfile.", "shutil.", "_thread")):
                if event != "os.listdir": seen.append((event, args))
        get = type(os.environ).__getitem__
        type(os.environ).__getitem__ = lambda self, name: seen.append(name) or get(self, name)
        sys.addaudithook(hook)
        missing = []
        for name in {PRELOADED!r}:
            try: __import__(name)
            except ImportError as error: missing.append(str(error))
        type(os.environ).__getitem__ = get
        import random
        found = list(seen)
        read, write = os.pipe()
        if os.fork() == 0: os.write(write, repr(random.random()).encode()); os._exit(0)
        os.wait()
        print(found, missing, len(os.listdir("/proc/self/task")), float(os.read(read, 99)) != random.random())
    """
    assert python(textwrap.dedent(code)).strip() == "[] [] 1 True"
