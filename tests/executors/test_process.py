"""Starting processes, what goes in and what comes out; real scripts throughout."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
from pathlib import Path

import pytest

from hookwright.processes import spawn as _spawn
from hookwright.processes.process import (
    Captured,
    CapturedOutput,
    Command,
    Exit,
    ExitCode,
    Expired,
    Limits,
    NotStarted,
    Process,
    Signalled,
    Unknown,
    run,
    start,
)
from processes import alive, gone, python, sh, written


@pytest.fixture(params=["as it comes", "with Popen", "without pidfd"])
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take each road that some system takes."""
    if request.param == "with Popen":
        monkeypatch.setattr(_spawn, "_DIRECT", False)
    if request.param == "without pidfd":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


def ended(command: Command, timeout: float | None = 30, limits: Limits | None = None) -> Exit:
    """Run a command that ends by itself."""
    result = asyncio.run(run(command, timeout, limits or Limits()))
    assert isinstance(result, Exit), result
    return result


MB = 1024 * 1024


@pytest.mark.parametrize(
    ("script", "stdin", "code", "stdout", "stderr"),
    [
        pytest.param("true", b"", 0, b"", b"", id="nothing"),
        pytest.param("exit 3", b"", 3, b"", b"", id="code"),
        pytest.param("exit 255", b"", 255, b"", b"", id="highest code"),
        pytest.param("echo out; echo err >&2; exit 2", b"", 2, b"out\n", b"err\n", id="both streams"),
        pytest.param("cat", b'{"a":1}\n', 0, b'{"a":1}\n', b"", id="one line in and out"),
        pytest.param("cat", b"\x00\xff\xfe\r\n\n", 0, b"\x00\xff\xfe\r\n\n", b"", id="bytes stay bytes"),
        pytest.param("cat", b"x" * 65536, 0, b"x" * 65536, b"", id="a whole pipe"),
        pytest.param("cat", b"x" * 65537, 0, b"x" * 65537, b"", id="more than a pipe"),
        pytest.param("wc -c | tr -d ' '", b"x" * 5 * MB, 0, b"5242880\n", b"", id="more than any pipe"),
        pytest.param("exec <&-; sleep 0.1; echo on", b"x" * 5 * MB, 0, b"on\n", b"", id="closes stdin at once"),
        pytest.param("head -c 3", b"x" * 5 * MB, 0, b"xxx", b"", id="stops reading"),
        pytest.param("sleep 0.1; echo late", b"", 0, b"late\n", b"", id="prints late"),
        pytest.param("exec >&- 2>&-; sleep 0.05; exit 4", b"", 4, b"", b"", id="closes its outputs"),
        pytest.param('rmdir "$PWD"; exit 5', b"", 5, b"", b"", id="deletes its directory"),
    ],
)
def test_process_gets_its_bytes_and_gives_its_own(
    script: str, stdin: bytes, code: int, stdout: bytes, stderr: bytes, platform: None, tmp_path: Path
) -> None:
    result = ended(sh(script, stdin=stdin, cwd=tmp_path))
    assert result.status == ExitCode(code)
    assert result.output.stdout == Captured(stdout, len(stdout))
    assert result.output.stderr == Captured(stderr, len(stderr))


@pytest.mark.req("R-099")
@pytest.mark.parametrize("size", [1024, 300_000, 3 * MB])
def test_stdin_opens_by_path(size: int) -> None:
    assert ended(sh("wc -c </dev/stdin | tr -d ' '", stdin=b"x" * size)).output.stdout.data == b"%d\n" % size


@pytest.mark.req("R-100")
@pytest.mark.parametrize("size", [300_000, 5 * MB])
def test_process_that_never_reads_is_no_failure(size: int, platform: None) -> None:
    assert ended(sh("true", stdin=b"x" * size)).status == ExitCode(0)


@pytest.mark.req("R-100")
def test_unread_stdin_does_not_kill_a_host_that_restored_sigpipe() -> None:
    said = python(
        "import asyncio, os, signal\n"
        "from hookwright.processes.process import Command, run\n"
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "for script in ('true', 'exec <&-; sleep 0.1', 'head -c 1'):\n"
        "    command = Command(argv=('/bin/sh', '-c', script), cwd='/', env=os.environ, stdin=b'x' * 5_000_000)\n"
        "    print(asyncio.run(run(command)).status)\n"
    )
    assert said == "ExitCode(code=0)\n" * 3


@pytest.mark.req("R-108")
def test_process_leads_its_own_session_without_terminal(platform: None) -> None:
    async def main() -> None:
        process = start(sh("(: </dev/tty) 2>/dev/null || echo none; sleep 60"), 60)
        assert isinstance(process, Process)
        assert await process.first_line() == b"none"
        assert process.pid != os.getpid()
        assert (os.getpgid(process.pid), os.getsid(process.pid)) == (process.pid, process.pid)
        await process.kill()

    asyncio.run(main())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="lists descriptors in /proc")
def test_process_inherits_no_descriptor(platform: None) -> None:
    ours = os.open("/", os.O_RDONLY)
    os.set_inheritable(ours, True)
    try:
        listed = ended(sh("ls /proc/self/fd")).output.stdout.data.split()
    finally:
        os.close(ours)
    assert listed == [b"0", b"1", b"2", b"3"]  # the last is the directory that ls reads


@pytest.mark.req("R-110")
def test_both_streams_are_complete_and_apart(platform: None) -> None:
    script = "head -c 1048576 /dev/zero | tr '\\0' o & head -c 1048576 /dev/zero | tr '\\0' e >&2; wait"
    output = ended(sh(script)).output
    assert output.stdout == Captured(b"o" * MB, MB)
    assert output.stderr == Captured(b"e" * MB, MB)
    assert not output.stdout.truncated


def test_head_is_kept_and_the_rest_counted() -> None:
    script = "head -c 300000 /dev/zero | tr '\\0' o; head -c 200000 /dev/zero | tr '\\0' e >&2"
    output = ended(sh(script), limits=Limits(stdout=70_000, stderr=10)).output
    assert output.stdout == Captured(b"o" * 70_000, 300_000)
    assert output.stderr == Captured(b"e" * 10, 200_000)
    assert output.stdout.truncated
    assert output.merged() == b"o" * 70_000 + b"e" * 10


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak of memory in /proc")
def test_flood_of_output_costs_little_memory() -> None:
    grown_kb = python(
        "import asyncio, os, re\n"
        "from hookwright.processes.process import Command, run\n"
        "def peak(): return int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
        "async def print_(count, kept):\n"
        "    command = Command(argv=('head', '-c', str(count), '/dev/zero'), cwd='/', env=os.environ)\n"
        "    stdout = (await run(command)).output.stdout\n"
        "    assert (len(stdout.data), stdout.total) == (kept, count)\n"
        "asyncio.run(print_(10, 10))\n"
        "before = peak()\n"
        "asyncio.run(print_(64 << 20, 8 << 20))\n"
        "print(peak() - before)\n"
    )
    assert int(grown_kb) < 16 * 1024


def test_merged_output_keeps_the_order_of_arrival() -> None:
    output = ended(sh("echo a; sleep 0.1; echo b >&2; sleep 0.1; echo c")).output
    assert output.merged() == b"a\nb\nc\n"


def test_merged_output_is_whole_beyond_the_recorded_reads() -> None:
    output = CapturedOutput(Captured(b"abcd", 4), Captured(b"xyz", 9), ((1, 1), (2, 2), (1, 1)))
    assert output.merged() == b"axybcdz"


@pytest.mark.req("R-112")
def test_result_is_raw() -> None:
    result = ended(sh(r"""printf '{"continue": false'; printf '\377' >&2; exit 7"""))
    assert result.status == ExitCode(7)
    assert result.output.stdout.data == b'{"continue": false'
    assert result.output.stderr.data == b"\xff"
    assert result.seconds > 0


@pytest.mark.parametrize("name", ["HUP", "INT", "QUIT", "ABRT", "KILL", "SEGV", "PIPE", "ALRM", "TERM", "USR1"])
def test_signal_is_told_apart_from_a_code(name: str) -> None:
    result = ended(sh(f"ulimit -c 0; kill -{name} $$"))
    assert result.status == Signalled(getattr(signal, f"SIG{name}"))


def test_environment_and_directory_are_those_given(tmp_path: Path, platform: None) -> None:
    env = {"PATH": os.environ["PATH"], "GREETING": "grüß dich", "EMPTY": "", "BYTES": os.fsdecode(b"\xff")}
    for changed in ({}, {"GREETING": "changed"}, {"MORE": "y" * 50_000}):
        wanted = env | changed
        output = ended(Command(argv=("env", "-0"), cwd=str(tmp_path), env=wanted)).output
        assert set(output.stdout.data.split(b"\0")) == {os.fsencode(f"{k}={v}") for k, v in wanted.items()} | {b""}
    assert ended(sh("pwd -P", cwd=tmp_path)).output.stdout.data == os.fsencode(os.path.realpath(tmp_path)) + b"\n"


def test_a_missing_program_is_missing_although_a_folder_of_the_path_may_not_be_read(tmp_path: Path) -> None:
    loop, tools = tmp_path / "loop", tmp_path / "tools"
    tools.mkdir()
    (tools / "plain").write_text("#!/bin/sh\n")
    locked = tmp_path / "locked"
    locked.mkdir()
    locked.chmod(0)
    loop.write_text("")  # a file instead of a folder, for a user who may read everything
    env = {"PATH": f"{locked}:{loop}:{tools}"}
    problem = PermissionError(errno.EACCES, "Permission denied", "no-such-program")
    missing = _spawn.explain(Command(argv=("no-such-program",), cwd="/", env=env), problem)
    assert missing == NotStarted("program", "'no-such-program' was not found in PATH", errno.ENOENT)
    there = _spawn.explain(Command(argv=("plain",), cwd="/", env=env), problem)
    assert there == NotStarted("program", f"'plain' is not executable; run: chmod +x {tools}/plain", errno.EACCES)


@pytest.mark.req("R-113")
@pytest.mark.parametrize(
    ("program", "cwd", "expected"),
    [
        ("no-such-program", "/", NotStarted("program", "'no-such-program' was not found in PATH", errno.ENOENT)),
        ("/no/such", "/", NotStarted("program", "'/no/such' does not exist", errno.ENOENT)),
        ("./plain", ".", NotStarted("program", "'./plain' is not executable; run: chmod +x ./plain", errno.EACCES)),
        (
            "./headless",
            ".",
            NotStarted(
                "program", "'./headless' is not a program; a script needs a first line such as #!/bin/sh", errno.ENOEXEC
            ),
        ),
        (
            "./windows",
            ".",
            NotStarted(
                "program", r"'./windows' starts with '#!/bin/sh\r', and no such interpreter exists", errno.ENOENT
            ),
        ),
        ("/usr", "/usr", NotStarted("program", "'/usr' is a directory", errno.EACCES)),
        (
            "/bin/sh",
            "/no/such",
            NotStarted("cwd", "working directory '/no/such': No such file or directory", errno.ENOENT),
        ),
        ("/bin/sh", "plain", NotStarted("cwd", "working directory 'plain': Not a directory", errno.ENOTDIR)),
    ],
)
def test_failed_start_says_what_is_wrong(
    program: str, cwd: str, expected: NotStarted, platform: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    for name, text in (("headless", "echo x\n"), ("windows", "#!/bin/sh\r\necho x\r\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    assert asyncio.run(run(Command(argv=(program,), cwd=cwd, env=os.environ))) == expected


@pytest.mark.req("R-113")
@pytest.mark.parametrize(
    ("command", "blame", "fragment"),
    [
        (Command(argv=("/bin/sh", "-c", "x" * 3 * MB), cwd="/", env={}), "program", "too long"),
        (Command(argv=("/bin/sh", "a\0b"), cwd="/", env={}), "program", "null byte"),
        (Command(argv=("/bin/sh",), cwd="/", env={"A": "b\0"}), "program", "null byte"),
        (Command(argv=("/bin/sh",), cwd="/", env={"A=B": "c"}), "program", "environment variable name"),
        (Command(argv=("/bin/sh", "\ud800"), cwd="/", env={}), "program", "surrogates"),
    ],
)
def test_impossible_command_is_a_failed_start(command: Command, blame: str, fragment: str, platform: None) -> None:
    result = asyncio.run(run(command))
    assert isinstance(result, NotStarted)
    assert result.blame == blame
    assert fragment in result.message


@pytest.mark.req("R-113")
def test_exhausted_descriptors_are_the_systems_fault_and_leak_none() -> None:
    said = python(
        "import asyncio, os, resource\n"
        "from hookwright.processes.process import Command, run\n"
        "command = Command(argv=('/bin/true',), cwd='/', env={})\n"
        "soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "async def main():\n"
        "    await run(command)\n"
        "    before = len(os.listdir('/dev/fd'))\n"
        "    for room in range(10):\n"
        "        resource.setrlimit(resource.RLIMIT_NOFILE, (before - 1 + room, hard))\n"
        "        result = await run(command, 20)\n"
        "        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))\n"
        "        print(room, getattr(result, 'blame', 'ran'), getattr(result, 'message', ''))\n"
        "        assert len(os.listdir('/dev/fd')) == before\n"
        "asyncio.run(main())\n"
    ).splitlines()
    failed = "system no process can be started: Too many open files; close files or raise the limit (ulimit -n)"
    assert said[:7] == [f"{room} {failed}" for room in range(7)]  # three pipes, and one that tells of a failed exec
    assert said[7:] == ["7 ran ", "8 ran ", "9 ran "]


def test_status_is_unknown_when_the_host_reaps_its_children_itself() -> None:
    said = python(
        "import asyncio, os, signal\n"
        "from hookwright.processes.process import Command, run\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for argv in (('/bin/sh', '-c', 'echo hi; exit 3'), ('/no/such',)):\n"
        "    result = asyncio.run(run(Command(argv=argv, cwd='/', env={}), 20))\n"
        "    print(getattr(result, 'status', None), getattr(result, 'message', None))\n"
    )
    assert said == f"{Unknown()} None\nNone '/no/such' does not exist\n"


def test_host_without_standard_streams_can_run_processes(tmp_path: Path) -> None:
    result = tmp_path / "result"
    python(
        "import asyncio, os, sys\n"
        "from hookwright.processes.process import Command, run\n"
        "os.closerange(0, 3)\n"
        "command = Command(argv=('/bin/sh', '-c', 'cat; echo err >&2'), cwd='/', env=os.environ, stdin=b'in')\n"
        "result = asyncio.run(run(command, 20))\n"
        "text = repr((result.status.code, result.output.stdout.data, result.output.stderr.data))\n"
        "open(sys.argv[1], 'w').write(text)\n"
        "os._exit(0)\n",
        str(result),
    )
    assert result.read_text() == "(0, b'in', b'err\\n')"


@pytest.mark.req("R-117")
def test_background_child_does_not_delay_the_result_and_lives_on(tmp_path: Path, platform: None) -> None:
    pidfile = tmp_path / "pid"
    result = ended(sh(f"sleep 60 & echo $! >{pidfile}; echo done"), limits=Limits(drain=0.1))
    child = int(written(pidfile))
    try:
        assert result.status == ExitCode(0)
        assert result.output.stdout.data == b"done\n"
        assert result.seconds < 10
        assert alive(child)
    finally:
        os.kill(child, signal.SIGKILL)
    assert gone(child)


def test_last_words_of_a_background_child_count_within_the_grace() -> None:
    result = ended(sh("(sleep 0.1; echo late) & echo early"), limits=Limits(drain=20))
    assert result.output.stdout.data == b"early\nlate\n"


def test_exit_within_the_limit_counts_though_the_grace_ends_after_it() -> None:
    result = asyncio.run(run(sh("(sleep 5) & echo done"), 0.3, Limits(drain=0.6)))
    assert isinstance(result, Exit)
    assert result.status == ExitCode(0)


def test_many_run_at_once() -> None:
    async def main() -> list[Exit | Expired | NotStarted]:
        return await asyncio.gather(*(run(sh(f"cat; exit {n}", stdin=b"%d" % n), 60) for n in range(64)))

    results = asyncio.run(main())
    assert [(r.status, r.output.stdout.data) for r in results if isinstance(r, Exit)] == [
        (ExitCode(n), b"%d" % n) for n in range(64)
    ]


def test_loops_in_several_threads_do_not_disturb_each_other(platform: None) -> None:
    failures: list[object] = []

    def loop(number: int) -> None:
        async def main() -> list[Exit | Expired | NotStarted]:
            return await asyncio.gather(*(run(sh(f"echo {number}; exit {n}"), 60) for n in range(8)))

        wanted = [(ExitCode(n), b"%d\n" % number) for n in range(8)]
        got = [(r.status, r.output.stdout.data) if isinstance(r, Exit) else r for r in asyncio.run(main())]
        if got != wanted:
            failures.append(got)

    threads = [threading.Thread(target=loop, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_asyncio_child_watching_of_the_host_goes_on_beside_ours() -> None:
    async def main() -> None:
        theirs = await asyncio.create_subprocess_exec("/bin/sh", "-c", "sleep 0.05; exit 6")
        ours = await run(sh("exit 7"), 30)
        assert isinstance(ours, Exit)
        assert (ours.status, await theirs.wait()) == (ExitCode(7), 6)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("script", "line"),
    [
        pytest.param("echo '{\"async\": true}'; sleep 60", b'{"async": true}', id="while it runs"),
        pytest.param("printf '\\n\\n  first\\nsecond\\n'; sleep 60", b"first", id="blank lines are skipped"),
        pytest.param("printf fir; sleep 0.1; printf 'st\\n'; sleep 60", b"first", id="in two pieces"),
        pytest.param("echo first; echo second", b"first", id="it has ended"),
        pytest.param("printf 'no newline'", b"no newline", id="without newline at the end"),
        pytest.param("echo err >&2", None, id="nothing on stdout"),
        pytest.param("head -c 70000 /dev/zero; sleep 60", None, id="too long for a line"),
    ],
)
def test_first_line_comes_before_the_end(script: str, line: bytes | None, platform: None) -> None:
    async def main() -> bytes | None:
        process = start(sh(script), 60)
        assert isinstance(process, Process)
        first = await process.first_line()
        await process.kill()
        return first

    assert asyncio.run(main()) == line


def test_process_can_be_handed_over_with_its_output_flowing(tmp_path: Path) -> None:
    async def main() -> Exit | Expired:
        process = start(sh(f"echo go; while [ ! -e {tmp_path}/on ]; do sleep 0.02; done; head -c 300000 /dev/zero"), 60)
        assert isinstance(process, Process)
        assert await process.first_line() == b"go"
        owner = asyncio.create_task(process.wait())
        (tmp_path / "on").touch()
        return await owner

    result = asyncio.run(main())
    assert isinstance(result, Exit)
    assert result.output.stdout.total == 300_003
