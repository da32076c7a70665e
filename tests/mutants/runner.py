"""Run tests on mutants: pytest and the package are imported once, and every mutant lives in a fork of that process.

A fork starts with modules imported and tests collected, so a mutant costs a few milliseconds and the tests that run its
lines. Its time limit is processor time, which does not depend on what else the machine does; a second limit, on the
clock, ends what waits for ever.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import os
import resource
import select
import signal
import tempfile
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence

import coverage
import msgspec
import pytest
from _pytest.runner import runtestprotocol

from mutants.mutant import ROOT, SOURCE, Mutant
from mutants.swap import clear_caches, put_constants, put_function

#: Processor seconds for a mutant in addition to what its tests take, times this factor.
_SPARE = 3
_FACTOR = 4
#: Seconds by the clock, per processor second, after which what uses no processor time is ended.
_CLOCK = 20


class End(enum.Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"


class Fate(msgspec.Struct, frozen=True):
    """The end of a mutant, and the test that noticed it."""

    end: End
    killer: str = ""
    #: Whether an expectation of the test failed, and not the code by an exception that any test would meet.
    asserted: bool = False


class Reach(msgspec.Struct):
    """What a test takes and what it runs, on the unchanged source."""

    seconds: float
    #: The lines it runs, by module.
    lines: dict[str, set[int]] = msgspec.field(default_factory=dict)


def collected(files: Iterable[str], job: Callable[[Sequence[pytest.Item]], None]) -> None:
    """Collect test files and hand the tests to a job, inside pytest."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        options = ["-q", "-s", "-n0", "-p", "no:cacheprovider", "-o", "timeout=0", f"--basetemp={scratch}/t"]
        arguments = [*options, f"--rootdir={ROOT}", *(str(ROOT / "tests" / file) for file in files)]
        status = pytest.main(arguments, plugins=[_Loop(job)])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"pytest ended with {status!r}")


class _Loop:
    """A pytest plugin that replaces the run of the tests by a job."""

    def __init__(self, job: Callable[[Sequence[pytest.Item]], None]) -> None:
        self._job = job

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        factory = getattr(session.config, "_tmp_path_factory", None)
        if factory is not None:
            factory.getbasetemp()  # once, and not once per mutant
        self._job(session.items)
        return True

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave property tests out: they take long, and an expectation written out must notice a mutant."""
        items[:] = [item for item in items if not getattr(getattr(item, "obj", None), "is_hypothesis_test", False)]


# ── one process ─────────────────────────────────────────────────────────────


def in_fork(work: Callable[[int], None], processor_seconds: float) -> tuple[int, bytes]:
    """Run work in a fork with a file descriptor for its answer; return its wait status and the answer."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _as_child(work, writing, processor_seconds)
    os.close(writing)
    os.set_blocking(reading, False)
    answer = _answer(reading, pid, _CLOCK * processor_seconds)
    os.close(reading)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what its tests left running; the fork itself has ended or hangs
    _, status = os.waitpid(pid, 0)
    return status, answer


def _as_child(work: Callable[[int], None], writing: int, processor_seconds: float) -> None:
    try:
        os.setpgid(0, 0)
        limit = max(1, int(processor_seconds) + 1)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        work(writing)
        os._exit(0)
    except BaseException as error:  # whatever a mutant raises is its end, and must not reach the parent's loop
        with contextlib.suppress(OSError):
            os.write(writing, f"!{type(error).__name__}: {error}".encode()[:2000])
        os._exit(3)


def _answer(reading: int, pid: int, seconds: float) -> bytes:
    """Read what a fork writes until it ends, or until the clock runs out."""
    ended, poll, chunks = os.pidfd_open(pid), select.poll(), bytearray()
    poll.register(reading, select.POLLIN)
    poll.register(ended, select.POLLIN)
    end = time.monotonic() + seconds
    try:
        while ready := poll.poll(max(0.0, end - time.monotonic()) * 1000):
            while chunk := _read(reading):
                chunks += chunk
            if any(number == ended for number, _ in ready):
                break
            if any(event & select.POLLHUP and not event & select.POLLIN for _, event in ready):
                poll.unregister(reading)
        return bytes(chunks)
    finally:
        os.close(ended)


def _read(reading: int) -> bytes:
    try:
        return os.read(reading, 65536)
    except BlockingIOError:
        return b""


# ── tests on the unchanged source ───────────────────────────────────────────


def reach(items: Sequence[pytest.Item], files: Iterable[str]) -> dict[str, Reach]:
    """Run all tests once, unchanged, and return what each takes and runs; raise if one fails."""
    paths = {str(SOURCE / file): file for file in files}

    def work(writing: int) -> None:
        watch = coverage.Coverage(data_file=None, include=list(paths), config_file=False, messages=False)
        watch.start()
        found = {item.nodeid: Reach(seconds) for item, seconds in _timed(items, watch, list(paths.values()))}
        watch.stop()
        data = watch.get_data()
        for path, file in paths.items():
            for line, contexts in data.contexts_by_lineno(path).items():
                for context in contexts:
                    if context in found:
                        found[context].lines.setdefault(file, set()).add(line)
        with open(writing, "wb") as out:
            out.write(msgspec.json.encode(found))

    status, answer = in_fork(work, 600)
    if status != 0:
        raise SystemExit(f"the tests must pass before anything is changed: {answer.decode()[:500]}")
    return msgspec.json.decode(answer, type=dict[str, Reach])


def _timed(
    items: Sequence[pytest.Item], watch: coverage.Coverage, files: Sequence[str]
) -> Iterator[tuple[pytest.Item, float]]:
    for index, item in enumerate(items):
        for file in files:
            clear_caches(module_of(file))
        watch.switch_context(item.nodeid)
        before = time.process_time()
        if _fails(item, items[index + 1] if index + 1 < len(items) else None):
            raise AssertionError(f"{item.nodeid} fails")
        yield item, time.process_time() - before


def _fails(item: pytest.Item, following: pytest.Item | None) -> list[pytest.TestReport]:
    return [report for report in runtestprotocol(item, log=False, nextitem=following) if report.failed]


def is_expectation(report: pytest.TestReport) -> bool:
    """Return whether a test failed at an expectation written in a test, and not by an exception of the code."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.when != "call" or crash is None:
        return False
    written = (ROOT / "tests") in (ROOT / crash.path).parents
    return written and crash.message.startswith(("assert", "AssertionError", "Failed: "))


# ── tests on a mutant ───────────────────────────────────────────────────────


def module_of(file: str) -> types.ModuleType:
    """Import a module by its path below `src`."""
    return importlib.import_module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))


def fate(change: Callable[[], None], items: Sequence[pytest.Item], seconds: float) -> Fate:
    """Make a change in a fork and run tests until one fails."""

    def work(writing: int) -> None:
        change()
        os.write(writing, b"+")
        for index, item in enumerate(items):
            if failed := _fails(item, items[index + 1] if index + 1 < len(items) else None):
                os.write(writing, b"=" * any(map(is_expectation, failed)) + item.nodeid.encode())
                os._exit(1)

    status, answer = in_fork(work, _SPARE + _FACTOR * seconds)
    if answer.startswith(b"!NotApplied"):
        raise SystemExit(f"a change could not be made: {answer.decode()}")
    if not answer.startswith(b"+"):
        return Fate(End.KILLED, f"import: {answer.decode()}")  # a constant that cannot be evaluated
    if os.WIFSIGNALED(status):
        ended = os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
        return Fate(End.TIMEOUT) if ended else Fate(End.KILLED, f"signal {os.WTERMSIG(status)}")
    killer = answer[1:].decode()
    return Fate(End.KILLED, killer.removeprefix("="), killer.startswith("=")) if killer else Fate(End.SURVIVED)


def apply(mutant: Mutant) -> None:
    """Change the imported module as a mutant says."""
    put = put_constants if mutant.constant else put_function
    put(module_of(mutant.file), mutant.apply(), mutant.name)
